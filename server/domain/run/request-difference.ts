import { z } from "zod";
import type { RunError } from "@/server/domain/agent/outcome";

/** One place where a request differs from a recorded one. Texts are truncated; null: no value at that place. */
const RequestChange = z.object({
  /** As in JavaScript: messages[2].content. */
  path: z.string(),
  recorded: z.string().nullable(),
  asked: z.string().nullable(),
  /** Of a long text, the first line that differs, from 1; the two texts are that line then. */
  line: z.int().optional(),
});
export type RequestChange = z.infer<typeof RequestChange>;

/** A call's request, compared to the nearest recorded request that is still unused. */
export const RequestDifference = z.object({
  kind: z.enum(["model", "tool", "run"]),
  /** Of a call of a tool. */
  tool: z.string().optional(),
  /** Its place among the recorded requests, from 0; null: none of this kind is left. */
  nearest: z.int().nullable(),
  /** The first places; `more` are not listed. */
  changes: z.array(RequestChange),
  more: z.int(),
  /** All this in a sentence. */
  sentence: z.string(),
});
export type RequestDifference = z.infer<typeof RequestDifference>;

/** What a strict replay asked that was never recorded; null where the error is another one. */
export function missOf(error: Pick<RunError, "code" | "detail"> | undefined): RequestDifference | null {
  if (error?.code !== "NOT_RECORDED") return null;
  const read = RequestDifference.safeParse(error.detail);
  return read.success ? read.data : null;
}

/** Where a request differs, as text: messages[2].content, line 4. */
export const placeOf = ({ path, line }: RequestChange): string =>
  line === undefined ? path : `${path}, line ${line}`;

/** A call's request compared to the recorded one, as lines for a terminal. */
export const differenceLines = ({ changes, more }: RequestDifference): string[] => [
  ...changes.flatMap((change) => [
    placeOf(change),
    `  recorded: ${change.recorded ?? "nothing"}`,
    `  asked:    ${change.asked ?? "nothing"}`,
  ]),
  ...(more > 0 ? [`and ${more} more`] : []),
];
