import { approval } from "./approval";
import { approvalByPerson } from "./approval-by-person";
import { codeAndReview } from "./code-and-review";
import { consensus } from "./consensus";
import { dataAnalysis } from "./data-analysis";
import type { Template } from "./define";
import { developmentTeam } from "./development-team";
import { parallelViews } from "./parallel-views";
import { plannedCrew } from "./planned-crew";
import { researchAndWrite } from "./research-and-write";
import { researchCrew } from "./research-crew";
import { reviewCycle } from "./review-cycle";
import { supportDesk } from "./support-desk";

export type { Template } from "./define";

/** Every template, in the order in which a first visit offers them. */
export const templates: readonly Template[] = [
  approval,
  approvalByPerson,
  researchAndWrite,
  codeAndReview,
  parallelViews,
  plannedCrew,
  researchCrew,
  dataAnalysis,
  supportDesk,
  consensus,
  reviewCycle,
  developmentTeam,
];

export function findTemplate(key: string): Template | undefined {
  return templates.find((template) => template.key === key);
}
