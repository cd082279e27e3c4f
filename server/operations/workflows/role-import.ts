import { USUAL_CONFIRMATION } from "@/server/domain/agent/outcome";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { isSameJson } from "@/server/domain/base/json";
import type { Finding } from "@/server/domain/base/lenient-reader";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import {
  describeConfirmation,
  toolsAsked,
  withAllowedTools,
  withSafeConfirmation,
  withSafeRuns,
} from "@/server/domain/graph/tools-asked";
import { type Note, noteGrants } from "@/server/domain/run/audit";
import type { RoleStore } from "@/server/store/library/roles";

/** Whether a role from a file is new here, the same as ours, or another of the same name. */
function roleState(role: RoleDefinition, store: RoleStore): "new" | "same" | "differs" {
  const ours = store.find(role.name)?.role;
  if (!ours) return "new";
  return isSameJson({ ...ours, version: 0 }, { ...role, version: 0 }) ? "same" : "differs";
}

/** A role of a file as it stands to ours, with the tools that it would gain. */
export function seenRole(role: RoleDefinition, store: RoleStore) {
  const ours = store.find(role.name);
  return {
    role,
    state: roleState(role, store),
    asks: ours?.origin ? [] : toolsAsked(role, ours?.role),
    /** When it asks people, by the file and as it would be here; null where the file says nothing of it. */
    confirmation: role.confirmation
      ? {
          file: describeConfirmation(role.confirmation),
          here: describeConfirmation(withSafeConfirmation(role, ours?.role).confirmation),
        }
      : null,
  };
}

/** The names of roles by what became of them, and the tools that they came without. */
interface Brought {
  created: string[];
  replaced: string[];
  skipped: string[];
  left_out: { role: string; tools: string[] }[];
}

/**
 * Brings the roles of a file among ours: new ones, and where `existing` is "replace" also those that differ, unless
 * they are read from a folder. Each gets only the tools that are allowed.
 */
export function bringRoles(
  roles: readonly RoleDefinition[],
  how: {
    store: RoleStore;
    existing: "skip" | "replace";
    allow_tools: readonly string[];
    note: Note;
  },
): Brought {
  const { store, existing, allow_tools, note } = how;
  const done: Brought = { created: [], replaced: [], skipped: [], left_out: [] };
  for (const theirs of roles) {
    const ours = store.find(theirs.name);
    const state = roleState(theirs, store);
    if (state === "same" || (ours && (existing === "skip" || ours.origin))) {
      done.skipped.push(theirs.name);
      continue;
    }
    const { role: granted, left_out } = withAllowedTools(theirs, ours?.role, allow_tools);
    const role = withSafeConfirmation(granted, ours?.role);
    store.put(role);
    noteGrants(note, ours?.role, role, { from: "file" });
    (ours ? done.replaced : done.created).push(role.name);
    if (left_out.length > 0) done.left_out.push({ role: role.name, tools: left_out });
  }
  return done;
}

/** A role of a file as imported, and as text which of its confirmation rules were left out. */
export function safeRole(
  theirs: RoleDefinition,
  ours: RoleDefinition | undefined,
): { role: RoleDefinition; findings: Finding[] } {
  const role = withSafeConfirmation(theirs, ours);
  if (!theirs.confirmation || isSameJson(role.confirmation, theirs.confirmation))
    return { role, findings: [] };
  const message = `The file sets this role's confirmation to "${describeConfirmation(theirs.confirmation)}". Here, it is "${describeConfirmation(role.confirmation)}".`;
  return { role, findings: [{ level: "changed", at: `roles.${theirs.name}.confirmation`, message }] };
}

/**
 * A workflow of a file as imported: its runs ask people at least for high risk, which a finding says. `otherwise`: how
 * to change that, as the end of the finding.
 */
export function safeWorkflow<Read extends { graph: WorkflowGraph | null; findings: Finding[] }>(
  read: Read,
  otherwise = "until someone changes it in the workflow's settings",
): Read {
  if (!read.graph) return read;
  const { graph, had } = withSafeRuns(read.graph);
  if (!had) return read;
  const finding: Finding = {
    level: "changed",
    at: "config.confirmation",
    message: `The file sets the confirmation of runs to "${describeConfirmation(had)}". Here, it is "${describeConfirmation(USUAL_CONFIRMATION)}", ${otherwise}.`,
  };
  return { ...read, graph, findings: [...read.findings, finding] };
}
