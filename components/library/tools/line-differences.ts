import { present } from "@/server/domain/base/must";

/** One line of a text that was changed. */
export interface DifferenceLine {
  kind: "same" | "before" | "after";
  text: string;
}

const MAX_LINES = 400;

/** What changed between two texts, line by line; a longest common part stays. Very long texts are shown one after the other. */
export function lineDifferences(before: string, after: string): DifferenceLine[] {
  const a = before.split("\n");
  const b = after.split("\n");
  if (a.length > MAX_LINES || b.length > MAX_LINES)
    return [
      ...a.map((text) => ({ kind: "before" as const, text })),
      ...b.map((text) => ({ kind: "after" as const, text })),
    ];
  // common[i][j]: how many lines a from i and b from j have in common at most.
  const common = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      present(common[i], "common[i]")[j] =
        a[i] === b[j]
          ? present(present(common[i + 1], "common[i + 1]")[j + 1], "common[i + 1]![j + 1]") + 1
          : Math.max(
              present(present(common[i + 1], "common[i + 1]")[j], "common[i + 1]![j]"),
              present(present(common[i], "common[i]")[j + 1], "common[i]![j + 1]"),
            );
  const lines: DifferenceLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: "same", text: present(a[i++], "a[i++]") });
      j++;
    } else if (
      j >= b.length ||
      (i < a.length &&
        present(present(common[i + 1], "common[i + 1]")[j], "common[i + 1]![j]") >=
          present(present(common[i], "common[i]")[j + 1], "common[i]![j + 1]"))
    )
      lines.push({ kind: "before", text: present(a[i++], "a[i++]") });
    else lines.push({ kind: "after", text: present(b[j++], "b[j++]") });
  }
  return lines;
}
