import { useMemo } from "react";
import { WordPieces } from "@/components/display/word-pieces";
import type { Json } from "@/server/domain/base/values";
import { wordDifference } from "@/server/domain/text/word-diff";

const textOf = (value: Json | undefined): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2);

/** The difference of two values, word by word. */
export function WordDiff({ before, after }: { before: Json | undefined; after: Json | undefined }) {
  const pieces = useMemo(() => wordDifference(textOf(before), textOf(after)), [before, after]);
  return <WordPieces pieces={pieces} />;
}
