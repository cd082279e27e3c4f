import type { ConfirmationPolicy } from "@/server/domain/agent/role";
import { isObject } from "@/server/domain/base/guards";
import { parseJson } from "@/server/domain/base/json";
import { jsonTextProblem } from "@/server/domain/base/json-limits";
import { must } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { UnvouchedPlace } from "@/server/domain/run/events";
import { evaluateCondition } from "@/server/domain/text/expression/expression";
import { isGranted, NO_SUCH_TOOL, type RiskLevel, type ToolSpec } from "@/server/domain/tool/tool";
import { type Destination, destinationsOf, isOwn } from "./destinations";
import { addressesIn, UserProvidedText } from "./user-provided-text";

export interface Grants {
  /** What the agent may call, by name. */
  granted: ToolSpec[];
  /** Tools that its role or task names but it doesn't get, with the reason. */
  withheld: { tool_name: string; reason: string }[];
}

/**
 * Decides which tools an agent gets: those that its role names and this installation has, without denied ones, and
 * never more than the agent that delegated to it has.
 */
export function grantTools(about: GrantRequest): Grants {
  const granted: ToolSpec[] = [];
  const withheld: Grants["withheld"] = [];
  const matched = new Set<string>();
  for (const spec of about.known) {
    const grant = about.role_tools.find((name) => isGranted([name], spec.name));
    if (grant === undefined) continue;
    matched.add(grant);
    const reason = reasonToWithhold(spec, about);
    if (reason === null) granted.push(spec);
    else withheld.push({ tool_name: spec.name, reason });
  }
  for (const name of about.only ?? [])
    if (!about.role_tools.includes(name) && !isGranted(about.role_tools, name))
      withheld.push({ tool_name: name, reason: "The task lists it, but its role may not use it." });
  for (const name of about.role_tools)
    if (!matched.has(name))
      withheld.push({ tool_name: name, reason: about.whyMissing?.(name) ?? NO_SUCH_TOOL });
  return { granted, withheld };
}

interface GrantRequest {
  /** `RoleDefinition.tools`. */
  role_tools: readonly string[];
  /** All tools of the installation. */
  known: readonly ToolSpec[];
  /** The tools that the task allows; absent: all. */
  only?: readonly string[];
  /** Takes precedence over every grant. */
  denied: readonly string[];
  /** Tools that the crew does without, and why. */
  without?: { tools: readonly string[]; reason: string };
  /** Why there is no tool of this name, if that is known. */
  whyMissing?: (name: string) => string | undefined;
  /** What the delegating agent may call; absent for an agent without one. */
  parent?: readonly string[];
}

/** Why an agent doesn't get a tool that its role names; null if it does. */
function reasonToWithhold(spec: ToolSpec, { denied, only, without, parent }: GrantRequest): string | null {
  if (isGranted(denied, spec.name)) return "It is denied in this run.";
  if (only && !isGranted(only, spec.name)) return "The task doesn't use it.";
  if (without?.tools.includes(spec.name)) return without.reason;
  if (parent && !parent.includes(spec.name)) return "The agent that delegated this task may not use it.";
  return spec.unavailable ?? null;
}

/** Something that an agent has read: where it came from, and the whole of it. */
export interface Read {
  source: string;
  text: string;
  /** Anybody can read it in the web, so that it holds nothing private. */
  is_public: boolean;
}

/** What is known when a call is judged. */
export interface Context {
  own: UserProvidedText;
  /** Tools whose results the agent has read that nobody vouches for. */
  taint_sources: readonly string[];
  /** What it and others of its run have read, oldest first. */
  read: readonly Read[];
  /** Tools that brought something that is not public into the run. */
  private_sources: readonly string[];
}

/**
 * The destinations of a call that don't come from a person's own text, after untrusted content was read: a person must
 * approve these. Empty: no approval needed for this reason. Depends only on its arguments.
 *
 * Two kinds of external sends are free while no private data has come into the run, since there is nothing to leak:
 * opening a link exactly as public pages and searches show it, and searching for any words.
 */
export function unvouchedPlaces(
  call: { spec: ToolSpec; args: JsonObject },
  context: Context,
): UnvouchedPlace[] {
  if (context.taint_sources.length === 0) return [];
  const { spec, args } = call;
  const { own, read, private_sources } = context;
  const isPublic = (tokens: readonly string[]) => {
    const known = new UserProvidedText(read.flatMap(({ is_public, text }) => (is_public ? [text] : [])));
    return tokens.every((word) => known.missing(word).length === 0);
  };
  const isFree = (found: Destination): boolean => {
    if (isOwn(found, own)) return true;
    switch (found.kind) {
      case "words":
        return private_sources.length === 0 || isPublic(own.missing(found.value));
      case "web":
        return spec.read_only && private_sources.length === 0 && isBare(args) && isLink(found.value, read);
      case "object":
        return isNamedInRecord(found.value, context);
      default:
        return false;
    }
  };
  return destinationsOf(spec, args)
    .filter((found) => !isFree(found))
    .map((found) => ({
      ...found,
      from: read.find(({ text }) => text.toLowerCase().includes(found.value.toLowerCase()))?.source ?? null,
    }));
}

/** Whether a request carries nothing but its address. */
const isBare = ({ url: _url, method, headers = {}, ...rest }: JsonObject) =>
  (method === undefined || method === "GET" || method === "HEAD") &&
  isObject(headers) &&
  Object.keys(headers).length === 0 &&
  Object.keys(rest).length === 0;

/** Whether an address occurs verbatim in public content. */
function isLink(address: string, read: readonly Read[]): boolean {
  return read.some(
    ({ is_public, text }) =>
      is_public &&
      text.includes(address) &&
      addressesIn(text).some(({ kind, value }) => kind === "web" && value === address),
  );
}

/** A name of a thing is at least so long before it tells which thing is meant. */
const SHORTEST_NAME = 4;

/**
 * Whether a result of a tool has a record with this identifier and with a name that the person wrote: they name things
 * as people do, and tools by numbers. Only fields count, not what stands within a text.
 */
function isNamedInRecord(id: string, { own, read }: Context): boolean {
  return read.some(
    ({ text }) => text.includes(id) && recordsOf(text).some((record) => isNamed(record, id, own)),
  );
}

function isNamed(record: JsonObject, id: string, own: UserProvidedText): boolean {
  const fields = Object.entries(record);
  if (
    !fields.some(([key, value]) => /(^|_)(id|uuid|key)$/i.test(key) && (value === id || value === Number(id)))
  )
    return false;
  return fields.some(
    ([key, value]) =>
      /^(name|title|filename|file_name|subject|label)$/i.test(key) &&
      typeof value === "string" &&
      value.length >= SHORTEST_NAME &&
      own.hasName(value),
  );
}

/** The records in a result that is JSON. */
function recordsOf(text: string): JsonObject[] {
  const begin = text.search(/[[{]/);
  if (begin < 0 || begin > MAX_PREFIX) return [];
  const json = text.slice(begin);
  if (jsonTextProblem(json) !== null) return [];
  try {
    const records: JsonObject[] = [];
    const walk = (value: Json): void => {
      if (value === null || typeof value !== "object") return;
      if (!Array.isArray(value)) records.push(value);
      for (const each of Array.isArray(value) ? value : Object.values(value)) walk(each);
    };
    walk(parseJson(json));
    return records;
  } catch {
    return [];
  }
}
/** Max length of the text before a result: the tool's name and the call's status. */
const MAX_PREFIX = 220;

const LEVELS: readonly RiskLevel[] = ["LOW", "MEDIUM", "HIGH"];

/**
 * Why a person must approve this call first, or null. Sending data to a destination that no person named, after reading
 * untrusted content, always needs approval, whatever the policy.
 */
export function confirmationReason(about: {
  spec: ToolSpec;
  args: JsonObject;
  /** What the installation, the run and the role say: the call waits where any of them asks, so the stricter wins. */
  policies: readonly ConfirmationPolicy[];
  /** Tools whose results the agent has read that nobody vouches for. */
  taint_sources: readonly string[];
  /** What `unvouchedPlaces` found. */
  unvouched: readonly UnvouchedPlace[];
  /** A person has approved this tool for the rest of the run. */
  approved_always: boolean;
}): string | null {
  if (about.unvouched.length > 0)
    return `${leadsWhere(about.unvouched)}, and the agent has read untrusted content from ${about.taint_sources.join(", ")}.`;
  if (about.approved_always) return null;
  for (const policy of about.policies) {
    const reason = reasonOf(policy, about);
    if (reason !== null) return reason;
  }
  return null;
}

/** Why this one policy asks a person about a call, or null. */
function reasonOf(
  policy: ConfirmationPolicy,
  { spec, args }: { spec: ToolSpec; args: JsonObject },
): string | null {
  switch (policy.kind) {
    case "never":
      return null;
    case "always":
      return "Every tool call needs approval.";
    case "tools":
      return policy.tools.includes(spec.name) ? `${spec.name} needs approval.` : null;
    case "when":
      return evaluateCondition(policy.when, {
        state: {},
        input: { tool: spec.name, args, risk: spec.risk },
      }).value
        ? "The approval condition is true."
        : null;
    case "risky":
      if (spec.risk === "UNKNOWN") return policy.confirm_unknown ? "The risk of this tool is unknown." : null;
      return LEVELS.indexOf(spec.risk) >= LEVELS.indexOf(policy.threshold)
        ? `Its risk is ${spec.risk.toLowerCase()}.`
        : null;
  }
}

/** Where something leads, as a sentence begins. */
function leadsWhere(unvouched: readonly UnvouchedPlace[]): string {
  const { kind, value } = must(unvouched, 0);
  if (kind === "call") return "It acts outside Troupe, at a destination you didn't specify";
  if (kind === "words") return "It sends words you didn't write to a search service";
  const more = unvouched.length > 1 ? ` and ${unvouched.length - 1} more` : "";
  const short = value.length > 80 ? `${value.slice(0, 79)}…` : value;
  return `It sends to ${short}${more}, which you didn't specify`;
}
