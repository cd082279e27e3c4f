import { jsonrepair } from "jsonrepair";
import { asSchema } from "@/server/domain/base/json-schema";
import { must, present } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { ToolCall } from "@/server/domain/tool/tool";
import type { ToolOffer } from "../model";
import { MAX_GUESSED_CHARS, MAX_REPAIR_CHARS, parseJson, parseMended, scanOutsideStrings } from "./json";

/** A call that was read, or could not be: before it has an id. */
export type ReadCall = Omit<ToolCall, "id">;

export interface ReadText {
  /** The model's other text: everything before its last call, without the calls. */
  content: string;
  calls: ReadCall[];
}

/** The maximum number of calls in one message; the model gets an error for the rest. */
export const MAX_CALLS = 64;
export const TOO_MANY = `these are more than ${MAX_CALLS} calls at once; those beyond were not made. Make the rest in your next message,`;

/** How a line may begin before a marker: list signs, quotes, bold, backticks. */
const DECORATION = "[ \\t]*(?:(?:[-+>]|\\*(?=[ \\t])|\\d{1,3}[.)])[ \\t]*){0,4}[*_`\"'“]{0,4}";
const TEXT_MARKER = new RegExp(
  `^${DECORATION}TOOL_CALL(?![A-Za-z0-9_])[*_\`"'”]{0,4}[ \\t]*(:?)[*_\`]{0,4}`,
  "i",
);
const HERMES = new RegExp(`^${DECORATION}<tool_call>(?=\\s*[{[])`, "i");
const MISTRAL = new RegExp(`^${DECORATION}\\[TOOL_CALLS\\]`);
const MADE_UP_RESULT = new RegExp(`^${DECORATION}TOOL_RESULT(?![A-Za-z0-9_])`, "im");
/** Between a marker and its JSON. */
const BEFORE_JSON = /^\s*(?:`{1,3}|~~~)?(?:[\w-]+(?=\s*\n))?\s*/;
/** What closes around a call: brackets too many, quotes, bold, fences, tags. */
const AFTER_JSON =
  /^[ \t]*(?:[}\])]{1,200}[ \t]{0,200})?[*_`"'”]{0,4}(?:\s{0,200}(?:`{3}|~~~)(?![\w-]))?(?:\s{0,200}<\/tool_call>)?;?/i;

/**
 * Finds the calls in a model's text: after `TOOL_CALL` at the start of a line, in `<tool_call>` (Hermes, Qwen), after
 * `[TOOL_CALLS]` (Mistral). What can't be parsed becomes a call with an error; a mention inside a sentence isn't a
 * call. Results that the model made up, and what follows them, are dropped. `isCut`: the answer ended at the token
 * limit, so that an unfinished call is never completed by guessing.
 */
export function readTextCalls(
  text: string,
  { tools = [], isCut = false }: { tools?: readonly ToolOffer[]; isCut?: boolean } = {},
): ReadText {
  const texts: string[] = [];
  const calls: ReadCall[] = [];
  const thoughtAt = newThoughtFinder(text);
  let from = 0;
  for (let at = 0; at < text.length && calls.length <= MAX_CALLS; ) {
    const thought = thoughtAt(at);
    const found = thought ? null : callAt(text, at, tools, isCut);
    if (thought || found) {
      texts.push(text.slice(from, at));
      calls.push(...(found?.calls ?? []));
      at = from = present(thought ?? found ?? undefined, "the end of a thought or a call").end;
      // What follows on the same line may be a call too.
      if (thought || /^[ \t]*(?:<tool_call>|\[TOOL_CALLS\])/.test(text.slice(at, at + 40))) continue;
    } else if (calls.length > 0 && MADE_UP_RESULT.test(lineAt(text, at))) break;
    const next = text.indexOf("\n", at);
    if (next < 0) break;
    at = next + 1;
  }
  if (calls.length === 0) return { content: text, calls };
  const content = texts
    .map(withoutOpenFence)
    .join("")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  if (calls.length <= MAX_CALLS) return { content, calls };
  return { content, calls: [...calls.slice(0, MAX_CALLS), invalidCall(TOO_MANY, text.slice(from))] };
}

const lineAt = (text: string, at: number) => {
  const end = text.indexOf("\n", at);
  return text.slice(at, end < 0 ? undefined : end);
};

/**
 * Finds the thinking that begins at a place, up to its end: thoughts about calls are no calls. Where it never ends, all
 * the rest of an answer that began so is thinking. Places are asked for in their order.
 */
function newThoughtFinder(text: string): (at: number) => { end: number } | null {
  const start = text.length - text.trimStart().length;
  /** Names of tags that are not closed any further on, so that the rest of the text is searched once for each. */
  const unclosed = new Set<string>();
  return (at) => {
    const [, tag] = /^\s{0,80}<(think|thinking)>/i.exec(text.slice(at, at + 100)) ?? [];
    if (tag === undefined) return null;
    const name = tag.toLowerCase();
    const closing = new RegExp(`</${name}>`, "gi");
    closing.lastIndex = at;
    const close = unclosed.has(name) ? null : closing.exec(text);
    if (close) return { end: close.index + close[0].length };
    unclosed.add(name);
    return at <= start ? { end: text.length } : null;
  };
}

/** A fence that a call stood in is gone with the call. */
const withoutOpenFence = (text: string) => text.replace(/(?:^|\n)[ \t]*(?:```|~~~)[\w-]*[ \t]*\n?$/, "\n");

interface Marker {
  /** Where the JSON should begin. */
  json: number;
  /** A tool's name before its arguments. */
  name?: string;
  /** Written so that nothing else than a call can be meant. */
  isCertain: boolean;
}

function markerAt(text: string, at: number): Marker | null {
  // A marker and what may stand around it is short.
  const head = text.slice(at, at + 400);
  const hermes = HERMES.exec(head);
  if (hermes) return { json: skip(text, at + hermes[0].length), isCertain: true };
  const mistral = MISTRAL.exec(head);
  if (mistral) {
    const start = at + mistral[0].length;
    const named = /^\s*([\w.:/-]{1,200})\s*(?:\[ARGS\]\s*)?(?=\{)/.exec(text.slice(start, start + 260));
    return named
      ? { json: start + named[0].length, name: must(named, 1), isCertain: true }
      : { json: skip(text, start), isCertain: true };
  }
  const plain = TEXT_MARKER.exec(head);
  if (!plain) return null;
  const json = skip(text, at + plain[0].length);
  const sign = text[json];
  if (sign === "{" || sign === "[") return { json, isCertain: true };
  // "TOOL_CALL: search(...)" was meant as a call, "TOOL_CALL lines are read by ..." was not.
  const rest = lineAt(text, at + plain[0].length).trim();
  const isMeant = plain[1] === ":" && (/^[\w.:/-]+\s*[({]/.test(rest) || rest === "");
  return { json, isCertain: isMeant };
}

const skip = (text: string, at: number) => at + (BEFORE_JSON.exec(text.slice(at, at + 200))?.[0].length ?? 0);

function callAt(
  text: string,
  at: number,
  tools: readonly ToolOffer[],
  isCut: boolean,
): { calls: ReadCall[]; end: number } | null {
  const marker = markerAt(text, at);
  if (!marker) return null;
  const span = spanOf(text, marker.json);
  if (!span) {
    const isUnfinished = isCut && marker.json >= text.length;
    if (!marker.isCertain && !isUnfinished) return null;
    // A marker with nothing behind it at the very end says nothing, unless the answer was cut there.
    if (marker.json >= text.length && !isUnfinished) return null;
    const end = text.indexOf("\n", marker.json);
    const rest = text.slice(marker.json, end < 0 ? undefined : end);
    const why = isUnfinished ? TRUNCATED : "no JSON follows the marker";
    return { calls: [invalidCall(why, rest)], end: end < 0 ? text.length : end };
  }
  const name = marker.name === undefined ? {} : { name: marker.name };
  if (span.end !== null) {
    const end = span.end + (AFTER_JSON.exec(text.slice(span.end, span.end + 200))?.[0].length ?? 0);
    return { calls: readCalls(text.slice(marker.json, span.end), tools, name), end };
  }
  const limit = regionEnd(text, marker.json);
  const region = text.slice(marker.json, limit);
  if (isCut && limit === text.length) return { calls: [invalidCall(TRUNCATED, region)], end: limit };
  return { calls: readUnclosed(region, tools, name), end: limit };
}

export const TRUNCATED = "TRUNCATED, it ends in the middle";

/** Where JSON that never closes must end at the latest: at the next marker, a made-up result, or a fence. */
function regionEnd(text: string, start: number): number {
  for (let at = text.indexOf("\n", start); at >= 0; at = text.indexOf("\n", at + 1)) {
    const line = lineAt(text, at + 1);
    if (
      MADE_UP_RESULT.test(line) ||
      /^\s*(?:```|~~~|<\/tool_call>)/.test(line) ||
      markerAt(text, at + 1)?.isCertain
    )
      return at;
  }
  return text.length;
}

/** Text with more opening brackets than this is not parsed as JSON. */
const MAX_NESTED = 1000;

/** The JSON that starts here: its end, null if it never closes; undefined if none starts here. */
function spanOf(text: string, start: number): { end: number | null } | undefined {
  if (text[start] !== "{" && text[start] !== "[") return undefined;
  let depth = 0;
  let end: number | null = null;
  scanOutsideStrings(
    text,
    (sign, at) => {
      if (sign === "{" || sign === "[") depth++;
      else if ((sign === "}" || sign === "]") && --depth === 0) end = at + 1;
      return end !== null || depth > MAX_NESTED;
    },
    { from: start },
  );
  return { end };
}

/** A call without its closing brackets. An unterminated string isn't completed: the rest is unknown. */
function readUnclosed(region: string, tools: readonly ToolOffer[], name: { name?: string }): ReadCall[] {
  const body = region
    .trimEnd()
    .replace(/(?:`{1,3}|<\/tool_call>)$/i, "")
    .trimEnd();
  if (body.length > MAX_REPAIR_CHARS) return [invalidCall("it is too long", body)];
  const close = Math.max(body.lastIndexOf("}"), body.lastIndexOf("]"));
  const [line = ""] = body.split("\n", 1);
  for (const candidate of new Set([body, close > 0 ? body.slice(0, close + 1) : body, line])) {
    if (endsInString(candidate)) continue;
    const calls = readCalls(candidate, tools, name, { isUnclosed: true });
    if (calls.every(({ fault }) => fault === undefined)) return calls;
  }
  return [invalidCall(endsInString(body) ? "a string in it never ends" : "its brackets do not match", body)];
}

const endsInString = (text: string): boolean => scanOutsideStrings(text, () => undefined);

const NAMES = ["tool_name", "tool", "name", "function"] as const;
const ARGS = ["args", "arguments", "parameters", "params", "input"] as const;

export function readCalls(
  json: string,
  tools: readonly ToolOffer[],
  { name }: { name?: string },
  { isUnclosed = false } = {},
): ReadCall[] {
  const read = parseMended(json, { isCautious: isUnclosed });
  if (!read) return [invalidCall(whyNot(json), json)];
  const { value, repaired } = read;
  const found =
    name === undefined || Array.isArray(value) ? entriesOf(value) : [{ tool_name: name, args: value }];
  if (found.length === 0) return [invalidCall("it is empty", json)];
  return found.slice(0, MAX_CALLS + 1).map((entry) => {
    const call = callOf(entry, tools, json);
    return repaired && call.fault === undefined ? { ...call, repaired: true } : call;
  });
}

/** The calls in a value: one, a list of them, or either in a wrapping. */
function entriesOf(value: Json): Json[] {
  if (Array.isArray(value)) return value.flatMap(entriesOf);
  if (value === null || typeof value !== "object") return [value];
  for (const key of ["tool_calls", "tool_call"]) {
    const inner = value[key];
    if (inner !== undefined && typeof inner === "object" && NAMES.every((word) => !(word in value)))
      return entriesOf(inner);
  }
  return [value];
}

function callOf(entry: Json, tools: readonly ToolOffer[], source: string): ReadCall {
  if (entry === null || typeof entry !== "object" || Array.isArray(entry))
    return invalidCall("a call is an object with tool_name and args", source);
  const shape = entry.function;
  if (shape !== null && typeof shape === "object" && !Array.isArray(shape))
    return callOf(shape, tools, source);
  const nameKey = NAMES.find((key) => textAt(entry, key) !== "");
  if (nameKey === undefined) return invalidCall("it has no tool_name", source);
  const name = textAt(entry, nameKey);
  const { [nameKey]: _name, ...rest } = entry;
  if (rest.type === "function") delete rest.type;
  const known = Object.keys(asSchema(tools.find((tool) => tool.name === name)?.parameters.properties));
  const argsKey = ARGS.find((key) => key in rest);
  const isOwn = (key: string) => known.includes(key);
  // A tool may have a parameter that is called like the wrapping of the arguments.
  const isFlat =
    argsKey === undefined ||
    (isOwn(argsKey) &&
      (known.length === 1 || Object.keys(rest).some((key) => key !== argsKey && isOwn(key))) &&
      !isWrapping(rest[argsKey], known));
  if (isFlat) return { tool_name: name, args: rest };
  const args = asArguments(must(rest, argsKey));
  if (args) return { tool_name: name, ...args };
  // Only the first two words can mean nothing else.
  if (argsKey !== "args" && argsKey !== "arguments") return { tool_name: name, args: rest };
  return { ...invalidCall("its args are not an object", source), tool_name: name };
}

const textAt = (entry: JsonObject, key: string): string => {
  const value = entry[key];
  return typeof value === "string" ? value.trim() : "";
};

/** Whether a value holds arguments of the tool, so that its name is the wrapping's. */
const isWrapping = (value: Json | undefined, known: readonly string[]) =>
  value !== null &&
  typeof value === "object" &&
  !Array.isArray(value) &&
  Object.keys(value).length > 0 &&
  Object.keys(value).every((key) => known.includes(key));

/** Arguments as an object, also where they came as text or were left empty; undefined where they are neither. */
export function asArguments(value: Json): { args: JsonObject; repaired?: boolean } | undefined {
  if (value === null || value === "" || (Array.isArray(value) && value.length === 0)) return { args: {} };
  if (typeof value === "object" && !Array.isArray(value)) return { args: value };
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  if (text === "") return { args: {} };
  // Repairing a text that is no JSON at all would make it a string.
  if (!/^["{[n]/.test(text)) return undefined;
  const read = parseMended(text);
  // Some servers put JSON into a string twice.
  const inner = typeof read?.value === "string" ? parseMended(read.value) : read;
  if (!inner) return undefined;
  const { value: found } = inner;
  const repaired = read?.repaired || inner.repaired ? { repaired: true } : {};
  if (found === null) return { args: {}, ...repaired };
  return typeof found === "object" && !Array.isArray(found) ? { args: found, ...repaired } : undefined;
}

/** Why a text isn't JSON: the parser's message without its excerpt. */
function whyNot(text: string): string {
  if (parseJson(text) === undefined && text.length <= MAX_GUESSED_CHARS / 4)
    try {
      jsonrepair(text);
    } catch (error) {
      if (error instanceof Error) return error.message.replace(/\s+/g, " ").slice(0, 120);
    }
  return "it is not JSON";
}

const AGAIN = 'Send it again as: TOOL_CALL: {"tool_name": "...", "args": {...}}';

/** The error that a model gets for a call that can't be parsed. */
export function callErrorText(why: string, source: string, again = AGAIN): string {
  // What was cut is best recognised by its end.
  const isCut = why === TRUNCATED;
  const near = (isCut ? source.slice(-1000) : source.slice(0, 1000)).replace(/\s+/g, " ").trim();
  const excerpt = isCut ? near.slice(-40) : near.slice(0, 40);
  return `Your tool call could not be parsed: ${why} near "${excerpt}". ${again}`;
}

export const truncatedErrorText = (source: string, again?: string) => callErrorText(TRUNCATED, source, again);

/** A name that a broken call still shows, so that people see what was tried. */
const nameIn = (source: string) =>
  /["']?(?:tool_name|tool|name|function)["']?\s*:\s*["']([\w.:/-]{1,200})["']/.exec(
    source.slice(0, 10_000),
  )?.[1] ?? "";

export function invalidCall(why: string, source: string): ReadCall {
  return { tool_name: nameIn(source), args: {}, fault: callErrorText(why, source) };
}
