import type { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { keysOf } from "@/server/domain/base/guards";
import type { JsonObject } from "@/server/domain/base/values";
import type { Payloads } from "./events";

/** What a person may look for in the record. */
export const AUDIT_AREAS = ["access", "keys", "tools", "roles", "runs"] as const;
export type AuditArea = (typeof AUDIT_AREAS)[number];

/** Everything that is written down, by what it is about. */
export const AUDIT_KINDS = {
  signed_in: "access",
  sign_in_failed: "access",
  signed_out: "access",
  signed_out_everywhere: "access",
  token_made: "keys",
  token_revoked: "keys",
  provider_added: "keys",
  provider_changed: "keys",
  provider_removed: "keys",
  provider_chosen: "keys",
  search_service_changed: "keys",
  search_service_removed: "keys",
  secret_added: "keys",
  secret_changed: "keys",
  secret_removed: "keys",
  variable_set: "keys",
  variable_removed: "keys",
  mcp_server_added: "tools",
  mcp_server_changed: "tools",
  mcp_server_removed: "tools",
  mcp_signed_in: "keys",
  mcp_signed_out: "keys",
  mcp_tools_approved: "tools",
  mcp_approval_withdrawn: "tools",
  mcp_tool_corrected: "tools",
  custom_tool_saved: "tools",
  custom_tool_removed: "tools",
  custom_tool_restored: "tools",
  tool_tried_out: "tools",
  role_tools_changed: "roles",
  workflow_allowed: "tools",
  workflow_published: "runs",
  notices_changed: "keys",
  notices_removed: "keys",
  trigger_added: "runs",
  trigger_changed: "runs",
  trigger_removed: "runs",
  trigger_key_replaced: "keys",
  trigger_secrets_changed: "keys",
  question_answered: "runs",
  run_controlled: "runs",
  kept_runs_changed: "runs",
} as const satisfies Record<string, AuditArea>;
export type AuditKind = keyof typeof AUDIT_KINDS;

export const kindsOf = (area: AuditArea): AuditKind[] =>
  keysOf(AUDIT_KINDS).filter((kind) => AUDIT_KINDS[kind] === area);

/** Writes down what whoever is asking did. */
export type Note = (kind: AuditKind, detail?: JsonObject) => void;

/** What became of a key, told without it. `entered`: undefined keeps it, unless its address changed; null removes it. */
export function keyFate(
  entered: string | null | undefined,
  had: boolean,
  has: boolean,
): "set" | "replaced" | "removed" | "kept" | "none" {
  if (entered?.trim()) return had ? "replaced" : "set";
  if (had) return has ? "kept" : "removed";
  return "none";
}

/** Notes a person's answer to a question of a run, in the same words whichever door it came by. */
export function noteAnswer(
  note: Note,
  run: { id: string; workflow_id: string | null },
  answer: string,
  tool: string | undefined,
): void {
  const { id, workflow_id } = run;
  note("question_answered", { run_id: id, workflow_id, answer, ...defined({ tool }) });
}

/** The tools that a question was about, in one text. */
export const toolsAskedAbout = (asked: Payloads["interaction_requested"] | undefined): string | undefined =>
  asked?.calls?.map(({ tool_name }) => tool_name).join(", ") ?? asked?.tool_name;

/** Notes which tools a role gained and lost; nothing where it is neither. `undefined`: there is no such role. */
export function noteGrants(
  note: Note,
  before: RoleDefinition | undefined,
  after: RoleDefinition | undefined,
  about: JsonObject = {},
): void {
  const had = new Set(before?.tools);
  const has = new Set(after?.tools);
  const added = [...has].filter((tool) => !had.has(tool));
  const removed = [...had].filter((tool) => !has.has(tool));
  const role = after?.name ?? before?.name ?? "";
  if (added.length + removed.length > 0) note("role_tools_changed", { role, added, removed, ...about });
}
