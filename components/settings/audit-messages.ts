import { countOf } from "@/components/display/format";
import type { Answers } from "@/components/trpc";
import type { AuditArea, AuditKind } from "@/server/domain/run/audit";
import { COMMAND_LABELS } from "@/server/domain/run/commands/command";

export type AuditEntry = Answers["audit"]["list"]["entries"][number];

export const AREA_LABELS: Record<AuditArea, string> = {
  access: "Sign-ins and sign-outs",
  keys: "Keys and tokens",
  tools: "Tools",
  roles: "Role permissions",
  runs: "Runs",
};

type Detail = AuditEntry["detail"];
interface AuditText {
  /** The action, with the name of its object. */
  title: (about: Detail) => string;
  more?: (about: Detail) => (string | false)[];
}

const text = (about: Detail, key: string): string => {
  const value = about[key];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
};
const list = (about: Detail, key: string): string[] => {
  const value = about[key];
  return Array.isArray(value)
    ? value.flatMap((item) => {
        if (typeof item === "string") return [item];
        const tool = item !== null && typeof item === "object" && !Array.isArray(item) ? item.tool : null;
        return typeof tool === "string" ? [tool] : [];
      })
    : [];
};
/** Names per line; more are counted. */
const named = (names: readonly string[], most = 5) =>
  names.length > most
    ? `${names.slice(0, most).join(", ")} and ${names.length - most} more`
    : names.join(", ");
const KEY_LABELS: Record<string, string> = {
  set: "key entered",
  replaced: "key replaced",
  removed: "key removed",
  kept: "key unchanged",
};
const key = (about: Detail) => KEY_LABELS[text(about, "key")] ?? false;
const at = (about: Detail) => {
  const [host, before] = [text(about, "host"), text(about, "host_before")];
  return host !== "" && (before ? `host changed from ${before} to ${host}` : `at ${host}`);
};
const switched = (about: Detail) =>
  typeof about.is_enabled === "boolean" && (about.is_enabled ? "turned on" : "turned off");
const version = (about: Detail) => text(about, "version") !== "" && `version ${text(about, "version")}`;
const SERVICE_LABELS: Record<string, string> = {
  searxng: "SearXNG",
  brave: "Brave Search",
  github: "GitHub",
};
const SEARCH_LABELS: Record<string, string> = { web: "web search", code: "code search" };
const search = (about: Detail) => SEARCH_LABELS[text(about, "search")] ?? "search";
const channel = (about: Detail) => (text(about, "channel") === "email" ? "email" : "webhook");
const ANSWER_LABELS: Record<string, string> = {
  approve: "Allowed",
  approve_always: "Allowed for the entire run:",
  reject: "Rejected",
};

const AUDIT_TEXTS: Record<AuditKind, AuditText> = {
  signed_in: { title: () => "Signed in" },
  sign_in_failed: { title: () => "Failed to sign in" },
  signed_out: { title: () => "Signed out" },
  signed_out_everywhere: { title: () => "Signed out everywhere" },
  token_made: { title: (about) => `Created the token “${text(about, "token")}”` },
  token_revoked: { title: (about) => `Revoked the token “${text(about, "token")}”` },
  provider_added: {
    title: (about) => `Added the provider ${text(about, "provider")}`,
    more: (about) => [at(about), key(about)],
  },
  provider_changed: {
    title: (about) => `Changed the provider ${text(about, "provider")}`,
    more: (about) => [at(about), key(about)],
  },
  provider_removed: {
    title: (about) => `Removed the provider ${text(about, "provider")}`,
    more: (about) => [key(about)],
  },
  provider_chosen: { title: (about) => `Made ${text(about, "provider")} the default provider` },
  search_service_changed: {
    title: (about) => `Set up ${search(about)}`,
    more: (about) => [SERVICE_LABELS[text(about, "service")] ?? false, at(about), key(about)],
  },
  search_service_removed: { title: (about) => `Removed the ${search(about)} service` },
  secret_added: {
    title: (about) => `Added the secret ${text(about, "secret")}`,
    more: (about) => [`for ${named(list(about, "hosts"))}`],
  },
  secret_changed: {
    title: (about) => `Changed the secret ${text(about, "secret")}`,
    more: (about) => [`for ${named(list(about, "hosts"))}`, about.value === "replaced" && "value replaced"],
  },
  secret_removed: { title: (about) => `Deleted the secret ${text(about, "secret")}` },
  variable_set: { title: (about) => `Set the variable ${text(about, "variable")}` },
  variable_removed: { title: (about) => `Deleted the variable ${text(about, "variable")}` },
  notices_changed: {
    title: (about) => `Set up ${channel(about)} notifications`,
    more: (about) => [at(about), switched(about)],
  },
  notices_removed: { title: (about) => `Removed ${channel(about)} notifications` },
  mcp_server_added: {
    title: (about) => `Added the MCP server ${text(about, "server")}`,
    more: (about) => [at(about), key(about)],
  },
  mcp_server_changed: {
    title: (about) => `Changed the MCP server ${text(about, "server")}`,
    more: (about) => [at(about), key(about), switched(about)],
  },
  mcp_server_removed: { title: (about) => `Removed the MCP server ${text(about, "server")}` },
  mcp_signed_in: {
    title: (about) => `Signed in to the MCP server ${text(about, "server")}`,
    more: (about) => [at(about)],
  },
  mcp_signed_out: {
    title: (about) => `Signed out of the MCP server ${text(about, "server")}`,
    more: (about) => [at(about)],
  },
  mcp_tools_approved: {
    title: (about) => `Approved tools from the MCP server ${text(about, "server")}`,
    more: (about) => [named(list(about, "tools"))],
  },
  mcp_approval_withdrawn: {
    title: (about) => `Revoked approval of ${text(about, "tool")}`,
    more: (about) => [`MCP server ${text(about, "server")}`],
  },
  mcp_tool_corrected: {
    title: (about) =>
      about.word === null
        ? `Removed annotation overrides for ${text(about, "tool")}`
        : `Changed annotation overrides for ${text(about, "tool")}`,
    more: (about) => [`MCP server ${text(about, "server")}`],
  },
  custom_tool_saved: {
    title: (about) => `Saved the tool ${text(about, "tool")}`,
    more: (about) => [version(about)],
  },
  custom_tool_removed: { title: (about) => `Removed the tool ${text(about, "tool")}` },
  custom_tool_restored: {
    title: (about) => `Restored the tool ${text(about, "tool")}`,
    more: (about) => [text(about, "from_version") !== "" && `to version ${text(about, "from_version")}`],
  },
  tool_tried_out: {
    title: (about) => `Tried the tool ${text(about, "tool")}`,
    more: (about) => [
      about.is_draft === true && "unsaved version",
      text(about, "status_code") !== "200" && `returned ${text(about, "status_code")}`,
    ],
  },
  role_tools_changed: {
    title: (about) => `Changed tools for the role ${text(about, "role")}`,
    more: (about) => [
      list(about, "added").length > 0 && `added ${named(list(about, "added"))}`,
      list(about, "removed").length > 0 && `removed ${named(list(about, "removed"))}`,
      about.from === "file" && "by importing a file",
      text(about, "copy_of") !== "" && `as a copy of ${text(about, "copy_of")}`,
    ],
  },
  workflow_allowed: {
    title: (about) => `Changed permissions for the workflow ${text(about, "workflow")}`,
    more: (about) => [
      list(about, "allowed").length > 0 && `allowed ${named(list(about, "allowed"))}`,
      list(about, "withheld").length > 0 && `withheld ${named(list(about, "withheld"))}`,
    ],
  },
  trigger_added: { title: (about) => `Added a trigger (${text(about, "kind")})` },
  trigger_changed: { title: (about) => `Changed a trigger (${text(about, "kind")})` },
  trigger_removed: { title: (about) => `Deleted a trigger (${text(about, "kind")})` },
  trigger_key_replaced: { title: (about) => `Replaced the key of a trigger (${text(about, "kind")})` },
  trigger_secrets_changed: { title: (about) => `Changed the secrets of a trigger (${text(about, "kind")})` },
  workflow_published: {
    title: (about) => `Published version ${text(about, "version")} of ${text(about, "workflow")}`,
  },
  question_answered: {
    title: (about) =>
      `${ANSWER_LABELS[text(about, "answer")] ?? "Answered"} ${text(about, "tool") || "a question"}`,
  },
  run_controlled: {
    title: (about) =>
      Object.entries(COMMAND_LABELS).find(([kind]) => kind === text(about, "command"))?.[1] ??
      "Sent a command to a run",
  },
  kept_runs_changed: {
    title: () => "Changed run retention",
    more: (about) => [
      about.days === null ? "no age limit" : countOf(Number(about.days), "day"),
      about.runs === null ? "no count limit" : countOf(Number(about.runs), "run"),
      Number(about.workflows) > 0 && countOf(Number(about.workflows), "workflow override"),
    ],
  },
};

const isKnown = (kind: string): kind is AuditKind => Object.hasOwn(AUDIT_TEXTS, kind);

/** An entry as a sentence and its facts. Unknown actions of other versions show their name. */
export function describeAuditEntry({ kind, detail }: Pick<AuditEntry, "kind" | "detail">): {
  title: string;
  more: string;
} {
  if (!isKnown(kind)) return { title: kind.replaceAll("_", " "), more: "" };
  const { title, more } = AUDIT_TEXTS[kind];
  return {
    title: title(detail),
    more: (more?.(detail) ?? []).filter((part) => part !== false && part !== "").join(", "),
  };
}

/** The actor, as far as known. */
export function describeActor({
  who,
  isOwn,
  token_name,
}: Pick<AuditEntry, "who" | "isOwn" | "token_name">): string {
  const [kind = "", id = ""] = who.split(":");
  if (isOwn) return "in this browser";
  if (kind === "session") return `in another browser (${id.slice(0, 4)})`;
  if (kind === "token")
    return id === "environment"
      ? "with the token from the environment"
      : `with the token “${token_name ?? id}”`;
  if (kind === "link") return "with a one-time link";
  if (kind === "password") return "with a password";
  return "by an unknown user";
}

/** The URL of the run that an answer belongs to. */
export function runPlace({ kind, detail }: Pick<AuditEntry, "kind" | "detail">): string | null {
  const [run, workflow] = [text(detail, "run_id"), text(detail, "workflow_id")];
  return (kind === "question_answered" || kind === "run_controlled") && run && workflow
    ? `/workflows/${workflow}/runs/${run}`
    : null;
}
