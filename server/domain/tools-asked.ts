import type { RoleDefinition } from "./role";

/** The tools that a role of a file would gain here. `ours`: the role of the same name that is there already. */
export function toolsAsked(theirs: RoleDefinition, ours: RoleDefinition | undefined): string[] {
  const had = new Set(ours?.tools);
  return [...new Set(theirs.tools)].filter((tool) => !had.has(tool));
}

/** A role of a file with only those of its tools that ours has already or that a person allowed; and what it lost. */
export function withAllowedTools(
  theirs: RoleDefinition,
  ours: RoleDefinition | undefined,
  allowed: readonly string[],
): { role: RoleDefinition; left_out: string[] } {
  const left_out = toolsAsked(theirs, ours).filter((tool) => !allowed.includes(tool));
  if (left_out.length === 0) return { role: theirs, left_out };
  return { role: { ...theirs, tools: theirs.tools.filter((tool) => !left_out.includes(tool)) }, left_out };
}
