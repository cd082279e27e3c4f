import { useMemo } from "react";
import type { Json } from "@/server/domain/base/values";
import { wordDifference } from "@/server/domain/text/word-difference";

const textOf = (value: Json | undefined): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2);

/** Two values as one text: what only the first has is struck out, what only the second has stands out. */
export function WordDiff({ before, after }: { before: Json | undefined; after: Json | undefined }) {
  const pieces = useMemo(() => wordDifference(textOf(before), textOf(after)), [before, after]);
  return (
    <p className="max-h-80 overflow-y-auto whitespace-pre-wrap rounded-lg border border-line bg-raised px-3 py-2 text-[13px] leading-5 [overflow-wrap:anywhere]">
      {pieces.map(({ kind, text }, at) => {
        const key = `${at} ${kind}`;
        if (kind === "removed")
          return (
            <del key={key} className="bg-failed/12 text-failed">
              {text}
            </del>
          );
        if (kind === "added")
          return (
            <ins key={key} className="bg-completed/15 text-completed no-underline">
              {text}
            </ins>
          );
        return <span key={key}>{text}</span>;
      })}
    </p>
  );
}
