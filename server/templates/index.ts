import { approval } from "./approval";
import { codeAndReview } from "./code-and-review";
import type { Template } from "./define";
import { parallelViews } from "./parallel-views";
import { plannedCrew } from "./planned-crew";
import { researchAndWrite } from "./research-and-write";

export type { Template } from "./define";

/** Every template, in the order in which a first visit offers them. */
export const templates: readonly Template[] = [
  approval,
  researchAndWrite,
  codeAndReview,
  parallelViews,
  plannedCrew,
];

export function findTemplate(key: string): Template | undefined {
  return templates.find((template) => template.key === key);
}
