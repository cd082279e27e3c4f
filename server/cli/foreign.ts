import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { Finding } from "@/server/domain/base/lenient-reader";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { safeRole, safeWorkflow } from "@/server/operations/workflows/role-import";
import type { Command } from "./arguments";

/**
 * What a file holds, as it may run in the terminal: it cannot switch off that the person is asked, as in an import.
 * Their own word stands: `--yes` leaves the file as it is, and a confirmation in `--config` is that of the run.
 */
export function foreign<
  Read extends { graph: WorkflowGraph | null; roles: RoleDefinition[]; findings: Finding[] },
>(read: Read, { yes, config }: Pick<Command, "yes" | "config">): Read {
  if (yes) return read;
  const roles = read.roles.map((role) =>
    safeRole(
      role,
      builtinRoles.find(({ name }) => name === role.name),
    ),
  );
  const safe = config.confirmation ? read : safeWorkflow(read, "unless --yes or --config changes it");
  return {
    ...safe,
    roles: roles.map(({ role }) => role),
    findings: [...safe.findings, ...roles.flatMap(({ findings }) => findings)],
  };
}
