import { diffArrays } from "diff";

/** One line of a text that was changed. */
export interface DifferenceLine {
  kind: "same" | "before" | "after";
  text: string;
}

/** Bounds the work: texts that differ more are shown one after the other. */
const MAX_EDITS = 400;

/** What changed between two texts, line by line. */
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
