import type { RunError } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { windowInRefusal } from "../limits/context-window";
import { ModelError } from "../model";
import { parseWait, type ReportedError, readError, readErrorText } from "./error-body";

/** Whom a call went to, for sentences. */
export interface Callee {
  provider: string;
  base_url: string;
  model: string;
  /** Blacked out of whatever a server says back. */
  key: string | null;
}

/** A failed answer of a server, or an error inside an answer that began well. */
export interface ServerError extends ReportedError {
  /** Undefined where the answer began well and the error names none. */
  status: number | undefined;
  headers: Headers | undefined;
}

/** A server said no. Whoever asked decides whether that ends the call or only changes how to ask. */
export class ProviderRejection extends Error {
  constructor(
    readonly refusal: ServerError,
    /** The usage that the server reported all the same, in the format of a Chat Completions chunk. */
    readonly usage?: unknown,
  ) {
    super(refusal.message);
  }
}

/** The error in an HTTP response, whatever the format of its body. */
export const refusalOf = (status: number, headers: Headers, body: string): ServerError => ({
  ...readErrorText(body),
  status,
  headers,
});

/** The error that a value inside a successful answer is. */
export function refusalInside(value: unknown): ServerError {
  const reported = readError(value);
  return { ...reported, status: statusIn(reported), headers: undefined };
}

type Class = Pick<RunError, "code" | "retryable" | "user_action"> & { message: string };

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url);
const has = (error: ReportedError, pattern: RegExp) =>
  pattern.test(`${error.code} ${error.type} ${error.message}`);

export const CONTEXT =
  /context[_ ](?:length|window|size)|maximum context|too many (?:input )?tokens|prompt is too long|input is too long|reduce the length|input token count|\binputs?\W{0,3} (?:must have less than|tokens \+)/i;
const FILTER =
  /content[_ ]?(?:filter|policy|management)|safety|moderation|responsible ai|\bflagged\b|usage polic(?:y|ies)|acceptable[- ]use/i;
const QUOTA =
  /insufficient[_ ](?:quota|balance|credits?)|exceeded your current quota|billing|out of credits|payment required|credit balance/i;
const KEY = /api[_ -]?key|invalid[_ ]?token|unauthori[sz]ed|authentication/i;
const NO_MODEL =
  /model[_ ]not[_ ]found|no such model|unknown model|(?:model|deployment)\b.{0,120}\b(?:not (?:found|exist|available|supported)|does(?: not|n't) exist|is not a valid)|not found, try pulling/is;
/** No such path, in the words of web servers. */
const NO_ROUTE =
  /not found|no (?:such )?route|cannot (?:post|get)|unknown (?:path|url|route|endpoint)|invalid (?:path|url)|no static resource|does not exist|method not allowed/i;
/** The model wrote something that the server could not read; asked again, it may write it right. */
const BAD_GENERATION =
  /tool_use_failed|json_validate_failed|failed_generation|failed to (?:call a function|generate json|validate json)|malformed_function_call/i;

/** Whether one answer of the model went wrong, which says nothing about the request. */
export const isBadGeneration = (error: ReportedError): boolean => has(error, BAD_GENERATION);

/** What a server's refusal means, and what a person can do about it. */
export function classifyServerError(error: ServerError, callee: Callee): ModelError {
  const about = classOf(error, callee);
  const context_window = about.code === "CONTEXT_OVERFLOW" ? windowInRefusal(error.message) : undefined;
  const quote = error.message.trim() === "" ? "" : ` The server says: “${scrub(error.message, callee.key)}”`;
  const wait = waitAsked(error);
  const later =
    about.retryable && wait !== undefined && wait > 60_000
      ? ` It asks to wait ${Math.ceil(wait / 60_000)} minutes.`
      : "";
  const retryable = about.retryable && error.headers?.get("x-should-retry") !== "false";
  return new ModelError(
    {
      code: about.code,
      message: about.message + later + quote,
      retryable,
      user_action: about.user_action,
      ...defined({ detail: context_window === undefined ? undefined : { context_window } }),
    },
    error.status,
    retryable ? wait : undefined,
    about.code === "TIMEOUT" ? { tries: TIMEOUT_TRIES } : {},
  );
}

function classOf(error: ServerError, callee: Callee): Class {
  const { provider, model } = callee;
  const { status } = error;
  const fail = (
    code: RunError["code"],
    message: string,
    user_action: RunError["user_action"] = "settings",
  ): Class => ({ code, message, retryable: false, user_action });
  const again = (code: RunError["code"], message: string): Class => ({
    code,
    message,
    retryable: true,
    user_action: "retry",
  });
  if (isBadGeneration(error))
    return again(
      "OUTPUT_INVALID",
      `${model} wrote something that ${provider} could not read as a call of a tool or as JSON.`,
    );
  // Some say "too many tokens" of the limit of a minute.
  if ((has(error, CONTEXT) && status !== 429) || status === 413)
    return fail(
      "CONTEXT_OVERFLOW",
      `The prompt is longer than ${model} can read. Give the node less to read, or choose a model with a larger context.`,
      "edit_graph",
    );
  // Some say of the limit of a minute what others say of an account without credit; those say how long to wait.
  const isPassing = status === 429 && waitAsked({ ...error, headers: undefined }) !== undefined;
  if (!isPassing && (status === 402 || has(error, QUOTA)))
    return fail(
      "QUOTA",
      `The account at ${provider} has no credit left. Top it up, or choose another provider.`,
    );
  if (status === 401 || (status === 400 && has(error, KEY)))
    return fail(
      "AUTH",
      callee.key === null
        ? `${provider} wants a key. Enter one in the settings.`
        : `${provider} refused the key. Check it in the settings; it may be mistyped, expired or for another service.`,
    );
  if (status === 429) return again("RATE_LIMIT", `${provider} is answering no more requests for the moment.`);
  if (has(error, FILTER) && (status === 400 || status === 403))
    return fail(
      "CONTENT_FILTER",
      `A content filter of ${provider} refused the prompt. Word the task differently.`,
      "edit_graph",
    );
  if (status === 403)
    return fail(
      "AUTH",
      `The key for ${provider} may not use ${model}. Check its rights, or choose another model.`,
    );
  const isAboutModel = has(error, NO_MODEL) || /model/i.test(error.message);
  const isNoRoute = (error.code === "" && error.type === "") || NO_ROUTE.test(error.message);
  if ((status === 405 || status === 404) && !isAboutModel && isNoRoute)
    return fail(
      "CONFIG",
      `There is no model service at ${callee.base_url}. Check the address in the settings; it often ends in /v1.`,
    );
  if ((status === 404 && isAboutModel) || has(error, NO_MODEL))
    return fail("CONFIG", `${provider} has no model called “${model}”. Choose another model.`);
  if (status === 408 || status === 504 || status === 524)
    return again("TIMEOUT", `${provider} took too long to answer.`);
  if (status === undefined || status === 409 || status >= 500)
    return again(
      "TRANSIENT",
      `${provider} has trouble answering${status === undefined ? "" : ` (${status})`}.`,
    );
  if (status >= 300 && status < 400) return redirected(callee);
  return fail("CONFIG", `${provider} did not accept the request (${status}).`);
}

/** Errors inside an answer carry no status, but often its number or name. */
function statusIn(error: ReportedError): number | undefined {
  const number = Number(error.code);
  if (Number.isInteger(number) && number >= 400 && number < 600) return number;
  if (has(error, /rate[_ ]?limit/i)) return 429;
  if (has(error, /authentication|invalid_api_key/i)) return 401;
  return has(error, /invalid_request/i) ? 400 : undefined;
}

function redirected(callee: Callee): Class {
  return {
    code: "CONFIG",
    message: `${hostOf(callee.base_url)} sends requests on to another address, and the key is not sent there. Enter the address it leads to in the settings.`,
    retryable: false,
    user_action: "settings",
  };
}
export const redirectError = (callee: Callee, status: number) => new ModelError(redirected(callee), status);

/** The wait that a server asks for, wherever it says so, in milliseconds. */
export const waitAsked = (error: Pick<ServerError, "headers" | "message" | "retry_after_ms">) =>
  retryAfter(error.headers) ?? error.retry_after_ms ?? parseWait(error.message);

/** The wait that an answer's head asks for, in milliseconds. */
export function retryAfter(headers: Headers | undefined, now = Date.now()): number | undefined {
  const ms = Number(headers?.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const text = headers?.get("retry-after");
  if (!text) return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return Math.max(0, Math.ceil(seconds * 1000));
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** What kept a request from getting an answer at all. */
export function classifyNetworkError(error: unknown, callee: Callee): ModelError {
  const codes: string[] = [];
  let reason = "";
  for (
    let cause: unknown = error, hops = 0;
    cause instanceof Error && hops < 8;
    cause = cause.cause, hops++
  ) {
    if ("code" in cause && typeof cause.code === "string") codes.push(cause.code);
    reason = cause.message || reason;
    if (cause.name === "EgressError") return fromEgress(cause, callee);
    if (cause instanceof AggregateError)
      for (const inner of cause.errors)
        if (inner instanceof Error && "code" in inner) codes.push(String(inner.code));
  }
  const where = hostOf(callee.base_url);
  const is = (pattern: RegExp) => codes.some((code) => pattern.test(code));
  const lost = (message: string, user_action: RunError["user_action"] = "settings") =>
    new ModelError({ code: "TRANSIENT", message, retryable: true, user_action });
  if (
    is(/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/) ||
    /certificate|ssl routines|wrong version number/i.test(reason)
  )
    return new ModelError({
      code: "CONFIG",
      message: `The connection to ${where} is not secure: ${tlsReason(reason)}. Check the address, and whether it is http or https.`,
      retryable: false,
      user_action: "settings",
    });
  if (/bad port/i.test(reason))
    return new ModelError({
      code: "CONFIG",
      message: `${where}: this port belongs to another kind of service. Check the address in the settings.`,
      retryable: false,
      user_action: "settings",
    });
  if (is(/ENOTFOUND|EAI_AGAIN/))
    return lost(
      `There is no server called ${where}. Check the address in the settings and the network connection.`,
    );
  if (is(/ECONNREFUSED/)) return lost(`Nothing answers at ${where}. Is the model server running?`);
  if (is(/UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT/) || /timed? ?out/i.test(reason))
    return new ModelError({
      code: "TIMEOUT",
      message: `${where} did not accept a connection in time.`,
      retryable: true,
      user_action: "retry",
    });
  if (is(/EHOSTUNREACH|ENETUNREACH|ENETDOWN/)) return lost(`${where} cannot be reached from here.`);
  return lost(`The connection to ${where} broke off before the answer was complete.`, "retry");
}

function tlsReason(reason: string): string {
  if (/self[- ]signed/i.test(reason)) return "its certificate is signed by nobody we know";
  if (/expired/i.test(reason)) return "its certificate has expired";
  if (/altname|hostname/i.test(reason)) return "its certificate is for another name";
  if (/wrong version|ssl routines/i.test(reason)) return "it does not speak https";
  return "its certificate could not be verified";
}

function fromEgress(error: Error, callee: Callee): ModelError {
  const code = "code" in error ? error.code : "";
  if (code === "RESPONSE_TOO_LARGE") return tooLarge(callee);
  return new ModelError({
    code: "CONFIG",
    message: error.message,
    retryable: false,
    user_action: "settings",
  });
}

export function tooLarge(callee: Callee): ModelError {
  return new ModelError({
    code: "OUTPUT_INVALID",
    message: `${callee.provider} sent far more than an answer can hold, so it was cut off. Check whether the address belongs to a model service.`,
    retryable: false,
    user_action: "settings",
  });
}

/** Time that runs out once may run out for no reason; twice, it will again, and each time costs. */
const TIMEOUT_TRIES = 2;

/** What took too long, and the setting that says how long it may take. */
const LATE = {
  first: { did: "did not begin to answer within", setting: "Longest wait" },
  idle: { did: "stopped in the middle of its answer for", setting: "Idle timeout" },
  total: { did: "did not finish its answer within", setting: "Longest answer" },
} as const;

export function timedOut(callee: Callee, what: keyof typeof LATE, ms: number): ModelError {
  const time =
    ms < 1000
      ? `${ms} ms`
      : ms < 120_000
        ? `${Math.round(ms / 1000)} s`
        : `${Math.round(ms / 60_000)} minutes`;
  const { did, setting } = LATE[what];
  return new ModelError(
    {
      code: "TIMEOUT",
      message: `${callee.provider} ${did} ${time}. If ${callee.model} needs longer, raise “${setting}” in the model settings of the agent or in the limits of the provider.`,
      retryable: true,
      user_action: "retry",
    },
    undefined,
    undefined,
    { tries: TIMEOUT_TRIES },
  );
}

export function notAnAnswer(callee: Callee, what: string): ModelError {
  return new ModelError({
    code: "CONFIG",
    message: `${hostOf(callee.base_url)} answered with ${what} instead of a model's answer. Check the address in the settings; it often ends in /v1.`,
    retryable: false,
    user_action: "settings",
  });
}

export function cutOff(callee: Callee, how: string): ModelError {
  return new ModelError({
    code: "TRANSIENT",
    message: `The answer of ${callee.provider} ${how}, so it is not used.`,
    retryable: true,
    user_action: "retry",
  });
}

/** Asked for again at once only: a server that always ends so would cost each time. */
export const endedUnknown = (callee: Callee, reason: string | null) =>
  new ModelError(
    {
      code: "TRANSIENT",
      message: `The answer of ${callee.provider} ended ${reason === null ? "without a reason" : `for a reason that is not known here (“${reason.slice(0, 60)}”)`}, so it may not be complete and is not used. If all its answers end so, allow that in the limits of the provider.`,
      retryable: true,
      user_action: "retry",
    },
    undefined,
    undefined,
    { tries: TIMEOUT_TRIES },
  );

export const cancelled = () =>
  new ModelError({
    code: "CANCELLED",
    message: "The call was cancelled.",
    retryable: false,
    user_action: "none",
  });

/** A server's words, shortened, without anything that looks like a key. */
export function scrub(text: string, key: string | null): string {
  let clean = text.replace(/\s+/g, " ").trim();
  if (key !== null && key.length >= 6) clean = clean.replaceAll(key, "[key]");
  // Servers quote keys with their middle starred out.
  clean = clean
    .replace(/\b(?:sk|key|gsk|xai)[-_][\w*.-]{6,}/g, "[key]")
    .replace(/(?<![\w-])[\w-]*\*{4,}[\w*-]*/g, "[key]");
  return clean.length > 300 ? `${clean.slice(0, 299)}…` : clean;
}
