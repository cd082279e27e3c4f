import { useMemo } from "react";
import type { Json } from "@/server/domain/base/values";
import { wordDifference } from "@/server/domain/text/word-diff";

const textOf = (value: Json | undefined): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2);

/** The difference of two values: deletions are struck out, insertions are highlighted. */
export function WordDiff({ before, after }: { before: Json | undefined; after: Json | undefined }) {
  const pieces = useMemo(() => wordDifference(textOf(before), textOf(after)), [before, after]);
  return (
    <p className="max-h-80 overflow-y-auto whitespace-pre-wrap rounded-lg border border-line bg-raised px-3 py-2 text-[13px] leading-5 [overflow-wrap:anywhere]">
      {pieces.map(({ kind, text }, at) => {
        const key = `${at} ${kind}`;
        if (kind === "removed")
          return (
            <del
              key={key}
              className="rounded-xs bg-failed/12 text-[color-mix(in_oklch,var(--failed)_75%,var(--ink))] decoration-1"
            >
              {text}
            </del>
          );
        if (kind === "added")
          return (
            <ins
              key={key}
              className="rounded-xs bg-completed/15 text-[color-mix(in_oklch,var(--completed)_70%,var(--ink))] no-underline [del+&]:ml-0.5"
            >
              {text}
            </ins>
          );
        return <span key={key}>{text}</span>;
      })}
    </p>
  );
}
