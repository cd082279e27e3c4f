import { approval } from "./approval";
import { approvalByPerson } from "./approval-by-person";
import { codeAndReview } from "./code-and-review";
import type { Template } from "./define";
import { examples } from "./examples";
import { parallelViews } from "./parallel-views";
import { researchAndWrite } from "./research-and-write";
import { researchCrew } from "./research-crew";

export type { Template } from "./define";

/** Templates that need no other roles than those that are built in, and ask for nothing but text and approvals. */
export const templates: readonly Template[] = [
  approval,
  approvalByPerson,
  researchAndWrite,
  codeAndReview,
  parallelViews,
  examples.plannedCrew,
  researchCrew,
  examples.dataAnalysis,
  examples.supportDesk,
  examples.consensus,
  examples.reviewCycle,
  examples.developmentTeam,
];

/** Every template, in the order in which they are offered. */
export const gallery: readonly Template[] = [
  ...templates,
  examples.supportTriage,
  examples.contractReview,
  examples.translationReview,
  examples.invoiceCheck,
  examples.incidentReport,
  examples.releaseNotes,
  examples.weeklyBrief,
  examples.hiringScreen,
];

export function findTemplate(key: string): Template | undefined {
  return gallery.find((template) => template.key === key);
}
