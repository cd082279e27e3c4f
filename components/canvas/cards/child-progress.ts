import type { ChildCounts } from "@/server/domain/run";

/** The status to show of a node: completed although items of its list failed is a warning. */
export const shownStatus = <S extends string>(status: S, children?: ChildCounts): S | "warned" =>
  status === "completed" && children?.total !== undefined && children.failed > 0 ? "warned" : status;

/** Counts as text: "3,120 of 10,000" and "12 failed". `share`: from 0 to 1; null for a single run. */
export function progressOf({ total, running, done, failed }: ChildCounts) {
  if (total === undefined)
    return {
      text: running > 0 ? "Run in progress" : failed > 0 ? "Run failed" : "Run completed",
      failed: "",
      share: null,
    };
  const over = done + failed;
  return {
    text: `${over.toLocaleString("en-US")} of ${total.toLocaleString("en-US")}`,
    failed: failed > 0 ? `${failed.toLocaleString("en-US")} failed` : "",
    share: total === 0 ? 1 : Math.min(1, over / total),
  };
}

/** The same in one line: "3,120 of 10,000, 12 failed". */
export function describeProgress(counts: ChildCounts): string {
  const { text, failed } = progressOf(counts);
  return failed ? `${text}, ${failed}` : text;
}
