import { readRoleList } from "@/server/domain/agent/read-roles";
import { RoleDefinition } from "@/server/domain/agent/role";
import { cleanCopy, type Finding, Findings, isRaw } from "@/server/domain/base/lenient-reader";
import { writeTersely } from "@/server/domain/base/terse-writer";
import { parseText, writeText } from "./text-files";

export const MAX_ROLES = 500;

/**
 * Reads roles from YAML or JSON, as text or already parsed: a list, one role, or a map from name to role, each also under
 * `roles:`. Findings say what was left out; an error among them means that nothing could be read.
 */
export function readRoles(source: unknown): { roles: RoleDefinition[]; findings: Finding[] } {
  const findings = new Findings();
  const nothing = (message: string) => {
    findings.error("", message);
    return { roles: [], findings: findings.all() };
  };
  const parsed = typeof source === "string" ? parseText(source) : { value: source };
  if ("error" in parsed) return nothing(parsed.error);
  const copy = cleanCopy(parsed.value, findings);
  if (!copy) return nothing("The file is nested too deeply.");
  const { value } = copy;
  const file = isRaw(value) ? value : {};
  const isUnderRoles = file.roles !== undefined;
  if (!isUnderRoles && (file.nodes !== undefined || file.troupe !== undefined))
    return nothing("This file has a workflow, not roles. Import it on the Workflows page.");
  const listed = isUnderRoles ? file.roles : value;
  const count = Array.isArray(listed) ? listed.length : isRaw(listed) ? Object.keys(listed).length : 0;
  if (count > MAX_ROLES)
    return nothing(`The file has ${count} roles; at most ${MAX_ROLES} can be imported at once.`);
  const roles = readRoleList(listed, isUnderRoles ? "roles" : "", findings);
  if (roles.length === 0 && !findings.list.some(({ level }) => level === "error"))
    findings.error("", "This file has no roles.");
  return { roles, findings: findings.all() };
}

/** Roles as a file that readRoles reads back to the same; sorted by name, without what is as always. */
export function writeRoles(roles: readonly RoleDefinition[], format: "yaml" | "json"): string {
  const file = {
    roles: [...roles]
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
      .map((role) => writeTersely(RoleDefinition, role)),
  };
  return writeText(file, format);
}
