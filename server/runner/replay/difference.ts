import type { StepRequest } from "@/server/domain/base/durable";
import { canonicalJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import { placeOf, type RequestChange, type RequestDifference } from "@/server/domain/run/request-difference";

/** A request to a model or a tool. */
export interface AskedRequest {
  kind: StepRequest["kind"];
  asked: Json;
}

const MOST_CHANGES = 12;
const LONGEST = 240;
/** A text longer than this, or with several lines, is shown by its first line that differs. */
const LONG_TEXT = 120;

/**
 * Compares a request with the nearest unused recorded one: the one that has most in common with it, the first of
 * equals.
 */
export function differenceFrom(request: AskedRequest, recorded: readonly AskedRequest[]): RequestDifference {
  const mine = leavesOf(request.asked);
  const about = { kind: request.kind, ...toolOf(request) };
  let best: { at: number; likeness: number } | null = null;
  for (const [at, one] of recorded.entries()) {
    if (one.kind !== request.kind) continue;
    const likeness = likenessOf(mine, leavesOf(one.asked));
    if (!best || likeness > best.likeness) best = { at, likeness };
  }
  const nearest = best && recorded[best.at];
  if (!best || !nearest)
    return { ...about, nearest: null, changes: [], more: 0, sentence: noneLeft(request) };
  const changes = changesBetween(leavesOf(nearest.asked), mine);
  const shown = changes.slice(0, MOST_CHANGES);
  const sentence = describeChange(request, changes[0], changes.length);
  return { ...about, nearest: best.at, changes: shown, more: changes.length - shown.length, sentence };
}

const toolOf = ({ kind, asked }: AskedRequest): { tool?: string } => {
  if (kind !== "tool" || asked === null || typeof asked !== "object" || Array.isArray(asked)) return {};
  return typeof asked.tool === "string" ? { tool: asked.tool } : {};
};

const whatOf = (request: AskedRequest): string => {
  const { tool } = toolOf(request);
  if (request.kind === "run") return "another workflow";
  return request.kind === "model" ? "a model" : `the tool ${tool ?? "without a name"}`;
};

const noneLeft = (request: AskedRequest): string =>
  `It calls ${whatOf(request)}, but no recorded call to a ${request.kind} is left.`;

function describeChange(request: AskedRequest, first: RequestChange | undefined, count: number): string {
  const what = whatOf(request);
  if (!first) return `It calls ${what} one more time than recorded.`;
  const was = first.recorded === null ? "recorded: nothing" : `recorded: ${quoted(first.recorded)}`;
  const now = first.asked === null ? "requested: nothing" : `requested: ${quoted(first.asked)}`;
  const more = count === 1 ? "" : ` ${count - 1} more ${count === 2 ? "place differs" : "places differ"}.`;
  return `Its call to ${what} differs from the closest recorded one: at ${placeOf(first)}, ${was}; ${now}.${more}`;
}

const quoted = (text: string) => `“${cut(text, 80)}”`;

/** The values of a request that hold no others, by their paths. An empty list or object is one, too. */
function leavesOf(value: Json): Map<string, Json> {
  const leaves = new Map<string, Json>();
  const visit = (at: string, one: Json): void => {
    const parts: [string, Json | undefined][] =
      one === null || typeof one !== "object"
        ? []
        : Array.isArray(one)
          ? one.map((part, index) => [`${at}[${index}]`, part])
          : Object.keys(one)
              .sort()
              .map((key) => [at === "" ? key : `${at}.${key}`, one[key]]);
    const present = parts.filter((part): part is [string, Json] => part[1] !== undefined);
    if (present.length === 0) leaves.set(at, one);
    for (const [path, part] of present) visit(path, part);
  };
  visit("", value);
  return leaves;
}

/** How much two requests have in common, from 0 to 1. */
function likenessOf(one: ReadonlyMap<string, Json>, other: ReadonlyMap<string, Json>): number {
  let same = 0;
  for (const [path, value] of one) {
    const there = other.get(path);
    if (there === undefined) continue;
    same += isSame(value, there) ? 1 : textLikeness(value, there);
  }
  return (2 * same) / Math.max(1, one.size + other.size);
}

const isSame = (one: Json, other: Json) => one === other || canonicalJson(one) === canonicalJson(other);

/** Of two texts, the share of what they begin and end with alike; counts for less than being the same. */
function textLikeness(one: Json, other: Json): number {
  if (typeof one !== "string" || typeof other !== "string") return 0;
  const most = Math.min(one.length, other.length);
  let from = 0;
  while (from < most && one[from] === other[from]) from++;
  let to = 0;
  while (to < most - from && one[one.length - 1 - to] === other[other.length - 1 - to]) to++;
  return (0.9 * (from + to)) / Math.max(1, one.length, other.length);
}

function changesBetween(
  recorded: ReadonlyMap<string, Json>,
  asked: ReadonlyMap<string, Json>,
): RequestChange[] {
  const changes: RequestChange[] = [];
  for (const path of new Set([...asked.keys(), ...recorded.keys()])) {
    const [was, now] = [recorded.get(path), asked.get(path)];
    if (was !== undefined && now !== undefined && isSame(was, now)) continue;
    changes.push({ path, ...textsOf(was, now) });
  }
  return changes;
}

function textsOf(was: Json | undefined, now: Json | undefined): Omit<RequestChange, "path"> {
  if (typeof was === "string" && typeof now === "string" && (isLong(was) || isLong(now))) {
    const [before, after] = [was.split("\n"), now.split("\n")];
    let at = 0;
    while (before[at] === after[at]) at++;
    return { line: at + 1, ...aroundDifference(before[at], after[at]) };
  }
  return { recorded: textOf(was), asked: textOf(now) };
}

const isLong = (text: string) => text.length > LONG_TEXT || text.includes("\n");

/** Two lines, from a little before the first character that differs where they are long. */
function aroundDifference(was: string | undefined, now: string | undefined): Omit<RequestChange, "path"> {
  let from = 0;
  while (was !== undefined && now !== undefined && from < was.length && was[from] === now[from]) from++;
  const start = Math.max(was?.length ?? 0, now?.length ?? 0) > LONGEST ? Math.max(0, from - 40) : 0;
  const part = (line: string | undefined) =>
    line === undefined ? null : `${start > 0 ? "…" : ""}${cut(line.slice(start))}`;
  return { recorded: part(was), asked: part(now) };
}

const textOf = (value: Json | undefined): string | null =>
  value === undefined ? null : cut(typeof value === "string" ? value : canonicalJson(value));

const cut = (text: string, most = LONGEST) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);
