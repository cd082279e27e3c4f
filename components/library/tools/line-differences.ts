import { diffArrays } from "diff";

export interface DifferenceLine {
  kind: "same" | "before" | "after";
  text: string;
}

/** Bounds the work: texts with more differences are shown one after the other. */
const MAX_EDITS = 400;

/** A line diff of two texts. */
export function lineDifferences(before: string, after: string): DifferenceLine[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const parts = diffArrays(old, now, { maxEditLength: MAX_EDITS }) ?? [
    { removed: true, added: false, value: old },
    { removed: false, added: true, value: now },
  ];
  return parts.flatMap(({ removed, added, value }) =>
    value.map((text) => ({ kind: removed ? "before" : added ? "after" : "same", text }) as const),
  );
}
