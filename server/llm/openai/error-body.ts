import { defined } from "@/server/domain/base/defined";
import { isObject } from "@/server/domain/base/guards";
import { must, present } from "@/server/domain/base/must";

/** A server's own description of its error; "" if it gives none. */
export interface ReportedError {
  code: string;
  type: string;
  /** The field of the request that it is about. */
  param: string;
  /** Its text, unchanged. */
  message: string;
  /** How long it asks to wait, in milliseconds, if the body says so. */
  retry_after_ms?: number;
}

const NOTHING: ReportedError = { code: "", type: "", param: "", message: "" };
const MAX_DEPTH = 6;
/** How many of several errors are reported. */
const MAX_REPORTED = 3;
const MAX_FALLBACK = 600;

/** The error in a body of any kind: JSON of whatever shape, a web page, plain text. */
export function readErrorText(text: string): ReportedError {
  const value = parsed(text);
  if (value === undefined) return { ...NOTHING, message: withoutMarkup(text) };
  const reported = readError(value);
  if (reported.message !== "" || isEmpty(value)) return reported;
  // An unknown format is still what the server said.
  return { ...reported, message: JSON.stringify(value).slice(0, MAX_FALLBACK) };
}

/**
 * The error in a parsed body. Services put their message under `error`, `errors`, `detail`, `message`, `msg` and
 * others, as text, as an object or as a list of these, and some wrap the message of another service. The message is ""
 * if there is none of these.
 */
export function readError(value: unknown, depth = 0): ReportedError {
  if (depth > MAX_DEPTH || value === null || value === undefined) return NOTHING;
  if (typeof value === "string") {
    const inner = /^\s*[{[]/.test(value) ? parsed(value) : undefined;
    const reported = inner === undefined ? NOTHING : readError(inner, depth + 1);
    return reported.message === "" ? { ...NOTHING, message: withoutMarkup(value) } : reported;
  }
  if (Array.isArray(value)) return several(value.map((one) => readError(one, depth + 1)));
  return isObject(value) ? readObject(value, depth) : NOTHING;
}

/** Fields with an error inside, and fields with the message of the error itself. */
const WRAPPERS = ["error", "errors", "fault", "Error"];
const MESSAGES = [
  "message",
  "msg",
  "detail",
  "Message",
  "error_message",
  "error_description",
  "faultstring",
  "reason",
  "title",
];

function readObject(body: Record<string, unknown>, depth: number): ReportedError {
  const firstIn = (keys: readonly string[]) =>
    keys.map((key) => readError(body[key], depth + 1)).find(({ message }) => message !== "") ?? NOTHING;
  const inner = firstIn(WRAPPERS);
  const own = firstIn(MESSAGES);
  const place = locationOf(body.loc);
  const status = typeof body.status === "string" ? body.status : "";
  return {
    code: inner.code || word(body.code) || word(body.error_code) || own.code,
    type: inner.type || word(body.type) || word(body.error_type) || word(body.__type) || status || own.type,
    param: inner.param || word(body.param) || place || own.param,
    message: joined(place, inner.message, own.message, behind(body, depth)),
    ...defined({ retry_after_ms: waitIn(body) ?? inner.retry_after_ms ?? own.retry_after_ms }),
  };
}

/** What a gateway reports about the service behind it, in OpenRouter's format. */
function behind(body: Record<string, unknown>, depth: number): string {
  const { metadata } = body;
  if (!isObject(metadata)) return "";
  const { raw, provider_name, reasons } = metadata;
  const inner = readError(raw, depth + 1).message;
  const why = Array.isArray(reasons) ? reasons.filter((one) => typeof one === "string").join(", ") : "";
  return joined(word(provider_name), inner, why);
}

/** How long the body asks to wait: Google's RetryInfo, or a field of that name. */
function waitIn(body: Record<string, unknown>): number | undefined {
  const ms = Number(body.retry_after_ms ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const seconds = Number(body.retry_after ?? Number.NaN);
  if (Number.isFinite(seconds) && seconds >= 0) return Math.ceil(seconds * 1000);
  const details: unknown[] = Array.isArray(body.details) ? body.details : [];
  for (const detail of details) {
    const delay = isObject(detail) ? detail.retryDelay : undefined;
    const found = typeof delay === "string" ? durationIn(delay) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const AMOUNT =
  /(\d{1,15}(?:\.\d{1,15})?)\s{0,9}(milliseconds?|ms|hours?|h|minutes?|mins?|m|seconds?|secs?|s)(?![a-z])/gi;
const WAIT =
  /\b(?:try again|retry|wait|resets?|available again)\b[^.\d]{0,40}((?:\d{1,15}(?:\.\d{1,15})?\s{0,9}(?:milliseconds?|ms|hours?|h|minutes?|mins?|m|seconds?|secs?|s)\b[\s,]{0,9}(?:and\s{1,9})?|\d{1,15}(?:\.\d{1,15})?(?:h|m|ms|s)(?=\d)){1,8})/i;

/** How long a sentence asks to wait ("Please try again in 7m12.5s"), in milliseconds. */
export function parseWait(message: string): number | undefined {
  const found = WAIT.exec(message)?.[1];
  return found === undefined ? undefined : durationIn(found);
}

/** "32.6s", "1h2m3s", "20 seconds" in milliseconds. */
function durationIn(text: string): number | undefined {
  let ms = 0;
  let isFound = false;
  // Units that run into the next number ("7m12s") have no end of a word.
  for (const [, amount, unit] of text.replace(/([a-z])(?=\d)/gi, "$1 ").matchAll(AMOUNT)) {
    const name = present(unit, "unit").toLowerCase();
    const key = name.startsWith("ms") || name.startsWith("milli") ? "ms" : name.charAt(0);
    ms += Number(amount) * must(UNITS, key);
    isFound = true;
  }
  return isFound ? Math.ceil(ms) : undefined;
}

function several(all: readonly ReportedError[]): ReportedError {
  const withMessage = all.filter(({ message }) => message !== "");
  const [first = NOTHING] = withMessage;
  return {
    ...first,
    message: withMessage
      .slice(0, MAX_REPORTED)
      .map(({ message }) => message)
      .join("; "),
  };
}

/** Joins the parts of a message, without repetitions. */
function joined(...parts: string[]): string {
  return parts.reduce((whole, part) =>
    part === "" || whole.includes(part)
      ? whole
      : whole === "" || part.includes(whole)
        ? part
        : `${whole}: ${part}`,
  );
}

/** The location in the request, in FastAPI's format. */
const locationOf = (loc: unknown): string =>
  Array.isArray(loc)
    ? loc
        .filter((part, at) => !(at === 0 && part === "body"))
        .map(String)
        .join(".")
    : "";

const word = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

/** A web page's title, or the text unchanged. */
function withoutMarkup(text: string): string {
  if (!/^\s*</.test(text)) return text.trim();
  const title =
    /<title[^<>]{0,200}>([^<]*)<\/title>/i.exec(text) ?? /<h1[^<>]{0,200}>([^<]*)<\/h1>/i.exec(text);
  return title?.[1]?.trim() ?? "";
}

function isEmpty(value: unknown): boolean {
  return typeof value !== "object" || value === null || Object.keys(value).length === 0;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
