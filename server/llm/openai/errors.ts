import type { RunError } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { windowInRefusal } from "../limits/context-window";
import { ModelError } from "../model";
import { parseWait, type ReportedError, readError, readErrorText } from "./error-body";

/** Whom a call went to, for messages. */
export interface Callee {
  provider: string;
  base_url: string;
  model: string;
  /** Redacted from a server's text. */
  key: string | null;
}

/** A failed answer of a server, or an error inside an answer that began well. */
export interface ServerError extends ReportedError {
  /** Undefined if the answer began well and the error has none. */
  status: number | undefined;
  headers: Headers | undefined;
}

/** A server rejected a request. The caller decides whether to adapt the request or to fail. */
export class ProviderRejection extends Error {
  constructor(
    readonly refusal: ServerError,
    /** The usage that the server reported nevertheless, in the format of a Chat Completions chunk. */
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
/** How web servers report an unknown path. */
const NO_ROUTE =
  /not found|no (?:such )?route|cannot (?:post|get)|unknown (?:path|url|route|endpoint)|invalid (?:path|url)|no static resource|does not exist|method not allowed/i;
/** The model's output couldn't be parsed by the server; another attempt may succeed. */
const BAD_GENERATION =
  /tool_use_failed|json_validate_failed|failed_generation|failed to (?:call a function|generate json|validate json)|malformed_function_call/i;

/** Whether one answer of the model failed, which says nothing about the request. */
export const isBadGeneration = (error: ReportedError): boolean => has(error, BAD_GENERATION);

/** What a server's refusal means, and what a person can do about it. */
export function classifyServerError(error: ServerError, callee: Callee): ModelError {
  const about = classOf(error, callee);
  const context_window = about.code === "CONTEXT_OVERFLOW" ? windowInRefusal(error.message) : undefined;
  const quote = error.message.trim() === "" ? "" : ` The server says: “${scrub(error.message, callee.key)}”`;
  const wait = waitAsked(error);
  const later =
    about.retryable && wait !== undefined && wait > 60_000
      ? ` It asks you to wait ${Math.ceil(wait / 60_000)} minutes.`
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

interface ErrorRule {
  code: RunError["code"];
  /** What helps: changing the settings, unless another is named. */
  remedy?: "retry" | "edit_graph";
  matches(error: ServerError): boolean;
  message(callee: Callee, error: ServerError): string;
}

const isAboutModel = (error: ServerError) => has(error, NO_MODEL) || /model/i.test(error.message);

/** The first rule that matches applies. */
const RULES: readonly ErrorRule[] = [
  {
    code: "OUTPUT_INVALID",
    remedy: "retry",
    matches: isBadGeneration,
    message: ({ model, provider }) => `${provider} couldn't parse ${model}'s output as a tool call or JSON.`,
  },
  {
    code: "CONTEXT_OVERFLOW",
    remedy: "edit_graph",
    // Some services say "too many tokens" about the limit per minute.
    matches: (error) => (has(error, CONTEXT) && error.status !== 429) || error.status === 413,
    message: ({ model }) =>
      `The prompt exceeds the context window of ${model}. Shorten the node's input, or choose a model with a larger window.`,
  },
  {
    code: "QUOTA",
    matches: (error) => !isRateLimit(error) && (error.status === 402 || has(error, QUOTA)),
    message: ({ provider }) =>
      `Your ${provider} account has no credit left. Add credit, or choose another provider.`,
  },
  {
    code: "AUTH",
    matches: (error) => error.status === 401 || (error.status === 400 && has(error, KEY)),
    message: ({ provider, key }) =>
      key === null
        ? `${provider} requires an API key. Enter one in Settings.`
        : `${provider} rejected the API key. Check it in Settings: it may be mistyped, expired or for another service.`,
  },
  {
    code: "RATE_LIMIT",
    remedy: "retry",
    matches: ({ status }) => status === 429,
    message: ({ provider }) => `${provider} is rate limiting requests.`,
  },
  {
    code: "CONTENT_FILTER",
    remedy: "edit_graph",
    matches: (error) => has(error, FILTER) && (error.status === 400 || error.status === 403),
    message: ({ provider }) => `${provider}'s content filter blocked the prompt. Rephrase the task.`,
  },
  {
    code: "AUTH",
    matches: ({ status }) => status === 403,
    message: ({ provider, model }) =>
      `The API key for ${provider} isn't allowed to use ${model}. Check its permissions, or choose another model.`,
  },
  {
    code: "CONFIG",
    matches(error) {
      const isNoRoute = (error.code === "" && error.type === "") || NO_ROUTE.test(error.message);
      return (error.status === 405 || error.status === 404) && !isAboutModel(error) && isNoRoute;
    },
    message: ({ base_url }) =>
      `No model service at ${base_url}. Check the base URL in Settings; it often ends in /v1.`,
  },
  {
    code: "CONFIG",
    matches: (error) => (error.status === 404 && isAboutModel(error)) || has(error, NO_MODEL),
    message: ({ provider, model }) => `${provider} has no model “${model}”. Choose another model.`,
  },
  {
    code: "TIMEOUT",
    remedy: "retry",
    matches: ({ status }) => status === 408 || status === 504 || status === 524,
    message: ({ provider }) => `${provider} timed out.`,
  },
  {
    code: "TRANSIENT",
    remedy: "retry",
    matches: ({ status }) => status === undefined || status === 409 || status >= 500,
    message: ({ provider }, { status }) =>
      `${provider} returned a server error${status === undefined ? "" : ` (${status})`}.`,
  },
  {
    code: "CONFIG",
    matches: ({ status = 0 }) => status < 300 || status >= 400,
    message: ({ provider }, { status }) => `${provider} rejected the request (${status}).`,
  },
];

/** Whether a limit per minute was reached: some word it like a lack of credit, but then say how long to wait. */
const isRateLimit = (error: ServerError) =>
  error.status === 429 && waitAsked({ ...error, headers: undefined }) !== undefined;

function classOf(error: ServerError, callee: Callee): Class {
  const rule = RULES.find(({ matches }) => matches(error));
  if (!rule) return redirected(callee);
  const { code, remedy = "settings" } = rule;
  return {
    code,
    message: rule.message(callee, error),
    retryable: remedy === "retry",
    user_action: remedy,
  };
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
    message: `${hostOf(callee.base_url)} redirects to another URL, so the key wasn't sent. Enter that URL in Settings.`,
    retryable: false,
    user_action: "settings",
  };
}
export const redirectError = (callee: Callee, status: number) => new ModelError(redirected(callee), status);

/** The wait that a server asks for, wherever it says so, in milliseconds. */
export const waitAsked = (error: Pick<ServerError, "headers" | "message" | "retry_after_ms">) =>
  retryAfter(error.headers) ?? error.retry_after_ms ?? parseWait(error.message);

/** The wait that a response's headers ask for, in milliseconds. */
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

/** Why a request got no answer. */
export function classifyNetworkError(error: unknown, callee: Callee): ModelError {
  const { codes, reason, egress } = causesOf(error);
  if (egress) return fromEgress(egress, callee);
  const where = hostOf(callee.base_url);
  const is = (pattern: RegExp) => codes.some((code) => pattern.test(code));
  const fail = (code: "CONFIG" | "TIMEOUT" | "TRANSIENT", message: string, isRetry = false) =>
    new ModelError({
      code,
      message,
      retryable: code !== "CONFIG",
      user_action: isRetry ? "retry" : "settings",
    });
  if (
    is(/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/) ||
    /certificate|ssl routines|wrong version number/i.test(reason)
  )
    return fail(
      "CONFIG",
      `The connection to ${where} isn't secure: ${tlsReason(reason)}. Check the URL and whether it should use http or https.`,
    );
  if (/bad port/i.test(reason))
    return fail(
      "CONFIG",
      `The port in ${where} belongs to another kind of service. Check the base URL in Settings.`,
    );
  if (is(/ENOTFOUND|EAI_AGAIN/))
    return fail(
      "TRANSIENT",
      `Can't resolve ${where}. Check the base URL in Settings and the network connection.`,
    );
  if (is(/ECONNREFUSED/))
    return fail("TRANSIENT", `Can't connect to ${where}. Check that the model server is running.`);
  if (is(/UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT/) || /timed? ?out/i.test(reason))
    return fail("TIMEOUT", `${where} didn't accept a connection in time.`, true);
  if (is(/EHOSTUNREACH|ENETUNREACH|ENETDOWN/))
    return fail(
      "TRANSIENT",
      `${where} is unreachable. Check the base URL in Settings and the network connection.`,
    );
  return fail("TRANSIENT", `The connection to ${where} was lost before the response was complete.`, true);
}

/** The error codes of an error and its causes, the innermost message, and the first error of our egress rules. */
function causesOf(error: unknown): { codes: string[]; reason: string; egress?: Error } {
  const codes: string[] = [];
  let reason = "";
  let cause = error;
  for (let hops = 0; cause instanceof Error && hops < 8; cause = cause.cause, hops++) {
    if ("code" in cause && typeof cause.code === "string") codes.push(cause.code);
    reason = cause.message || reason;
    if (cause.name === "EgressError") return { codes, reason, egress: cause };
    if (cause instanceof AggregateError)
      for (const inner of cause.errors)
        if (inner instanceof Error && "code" in inner) codes.push(String(inner.code));
  }
  return { codes, reason };
}

function tlsReason(reason: string): string {
  if (/self[- ]signed/i.test(reason)) return "its certificate is not signed by a trusted authority";
  if (/expired/i.test(reason)) return "its certificate has expired";
  if (/altname|hostname/i.test(reason)) return "its certificate is for another host name";
  if (/wrong version|ssl routines/i.test(reason)) return "it doesn't use https";
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
    message: `${callee.provider} sent far more data than a response can contain, so the call was aborted. Check that the base URL belongs to a model service.`,
    retryable: false,
    user_action: "settings",
  });
}

/** A call may time out once by chance; after a second timeout, more attempts would only cost. */
const TIMEOUT_TRIES = 2;

/** What took too long, and the setting that says how long it may take. */
const LATE = {
  first: { did: "didn't start responding within", setting: "First-token timeout" },
  idle: { did: "paused its response for", setting: "Idle timeout" },
  total: { did: "didn't finish its response within", setting: "Response timeout" },
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
      message: `${callee.provider} ${did} ${time}. If ${callee.model} needs longer, raise “${setting}” in the agent's model settings or the provider's limits.`,
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
    message: `${hostOf(callee.base_url)} returned ${what} instead of a model's response. Check the base URL in Settings; it often ends in /v1.`,
    retryable: false,
    user_action: "settings",
  });
}

export function cutOff(callee: Callee, how: string): ModelError {
  return new ModelError({
    code: "TRANSIENT",
    message: `The response from ${callee.provider} ${how} and was discarded.`,
    retryable: true,
    user_action: "retry",
  });
}

/** Retried once only: a server that always ends so would cost each time. */
export const endedUnknown = (callee: Callee, reason: string | null) =>
  new ModelError(
    {
      code: "TRANSIENT",
      message: `The response from ${callee.provider} ended ${reason === null ? "without a reason" : `for an unknown reason (“${reason.slice(0, 60)}”)`}, so it may be incomplete and was discarded. If all its responses end like this, allow it in the provider's limits.`,
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

/** A server's text, shortened, without anything that looks like a key. */
export function scrub(text: string, key: string | null): string {
  let clean = text.replace(/\s+/g, " ").trim();
  if (key !== null && key.length >= 6) clean = clean.replaceAll(key, "[key]");
  // Servers quote keys with their middle starred out.
  clean = clean
    .replace(/\b(?:sk|key|gsk|xai)[-_][\w*.-]{6,}/g, "[key]")
    .replace(/(?<![\w-])[\w-]*\*{4,}[\w*-]*/g, "[key]");
  return clean.length > 300 ? `${clean.slice(0, 299)}…` : clean;
}
