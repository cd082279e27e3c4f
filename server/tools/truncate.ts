import type { Json } from "@/server/domain/base/values";

/** Characters of a tool's output that a model gets to see, where its role says nothing else. */
export const MAX_OUTPUT_CHARS = 16_000;
/** Of a list that is too long, this many items stay. */
const KEPT_ITEMS = 20;
const HEAD_SHARE = 0.6;

/** A tool's output as the text that a model reads: strings as they are, everything else as JSON. */
export function textOf(output: Json | undefined): string {
  return (typeof output === "string" ? output : JSON.stringify(output ?? null)).toWellFormed();
}

/** Whether a model gets only a part of this output, so that the whole must be kept as an artifact. */
export function isTooLong(output: Json | undefined, limit = MAX_OUTPUT_CHARS): boolean {
  return textOf(output).length > limit;
}

/**
 * An output as a model gets it: whole where it fits into `limit` characters. Otherwise long lists lose their ends
 * first, then the middle of the text goes, and a notice says where the whole is: in the artifact, or nowhere.
 */
export function truncateOutput(
  output: Json | undefined,
  options: { artifact_id?: string | undefined; limit?: number },
): string {
  const { artifact_id, limit = MAX_OUTPUT_CHARS } = options;
  const whole = textOf(output);
  if (whole.length <= limit) return whole;
  const notice = (omitted: number) => noticeOf(omitted, artifact_id);
  if (typeof output !== "string") {
    const pruned = JSON.stringify(pruneLists(output ?? null)).toWellFormed();
    const ending = `\n${notice(whole.length - pruned.length)}`;
    if (pruned.length < whole.length && pruned.length + ending.length <= limit) return pruned + ending;
    return cutMiddle(pruned, limit, whole.length, notice);
  }
  return cutMiddle(whole, limit, whole.length, notice);
}

function noticeOf(omitted: number, artifactId: string | undefined): string {
  const count = String(omitted).replace(/\B(?=(?:\d{3}){1,6}$)/g, " ");
  const where = artifactId ? `full result: read_artifact("${artifactId}", offset)` : "they were not kept";
  return `[… ${count} characters omitted; ${where}]`;
}

/** Keeps both ends of a text. `total`: the length of the whole, of which the text may already be a part. */
function cutMiddle(text: string, limit: number, total: number, notice: (omitted: number) => string): string {
  // The count is not known before the cut, but never has more digits than the total.
  const room = limit - notice(total).length - 2;
  if (room < 2) return headOf(text, Math.max(0, limit));
  const head = headOf(text, Math.ceil(room * HEAD_SHARE));
  const tail = tailOf(text, room - head.length);
  return `${head}\n${notice(total - head.length - tail.length)}\n${tail}`;
}

/** At most `length` characters from the start; no character is cut in two. */
function headOf(text: string, length: number): string {
  return isInsidePair(text, length) ? text.slice(0, length - 1) : text.slice(0, length);
}

function tailOf(text: string, length: number): string {
  const from = Math.max(0, text.length - length);
  return text.slice(isInsidePair(text, from) ? from + 1 : from);
}

/** Whether this place lies between the two halves of a character outside the basic plane. */
export function isInsidePair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}

function pruneLists(value: Json): Json {
  if (Array.isArray(value)) {
    const kept = value.slice(0, KEPT_ITEMS).map(pruneLists);
    const rest = value.length - kept.length;
    return rest > 0 ? [...kept, `… ${rest} more of ${value.length}`] : kept;
  }
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, pruneLists(inner)]));
}
