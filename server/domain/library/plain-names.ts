import type { AgentConfig, RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { Findings } from "@/server/domain/base/lenient-reader";
import { plainName } from "@/server/domain/base/names";
import type { CrewConfig } from "@/server/domain/crew/crew";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import {
  agentWithRoleRenamed,
  crewWithRoleRenamed,
  rolesOfCrew,
  roleUses,
  withRoleRenamed,
} from "./role-use";

interface Named {
  name: string;
  graph: WorkflowGraph | null;
  roles: RoleDefinition[];
  agents?: AgentConfig[];
  crews?: CrewConfig[];
}

/** What a file brings, with names that everybody reads as they are written; a role keeps its uses. Findings say which changed. */
export function withPlainNames<Read extends Named>(read: Read, findings: Findings): Read {
  const cleanName = (at: string, name: string): string => {
    const plain = plainName(name);
    if (plain !== name) findings.changed(at, `Removed hidden characters from the name "${plain}".`);
    return plain;
  };
  const { agents = [], crews = [] } = read;
  const mentioned = new Set([
    ...read.roles.map((role) => role.name),
    ...(read.graph ? roleUses(read.graph).keys() : []),
    ...agents.flatMap(({ role_name, handoffs = [] }) => [role_name, ...handoffs]),
    ...crews.flatMap((crew) => [...rolesOfCrew(crew)]),
  ]);
  const renamed = [...mentioned].flatMap((from) => {
    const to = plainRoleName(from);
    return to === from ? [] : [{ from, to }];
  });
  const inAll = <Thing>(thing: Thing, rename: (thing: Thing, from: string, to: string) => Thing): Thing =>
    renamed.reduce((current, { from, to }) => rename(current, from, to), thing);
  return {
    ...read,
    name: cleanName("name", read.name),
    graph: read.graph && inAll(graphWithPlainNames(read.graph, cleanName), withRoleRenamed),
    roles: plainRoles(read.roles, findings),
    ...defined({
      agents: read.agents ? agents.map((agent) => inAll(agent, agentWithRoleRenamed)) : undefined,
      crews: read.crews ? crews.map((crew) => inAll(crew, crewWithRoleRenamed)) : undefined,
    }),
  };
}

/** A role's name is never empty. */
export const plainRoleName = (name: string): string => plainName(name).trim() || "Unnamed";

/** The workflow with plain names of nodes and frames; the same object if they already are. */
export function graphWithPlainNames(
  graph: WorkflowGraph,
  plain: (at: string, name: string) => string = (_at, name) => plainName(name),
): WorkflowGraph {
  let isSame = true;
  const mended = <Thing extends { name: string }>(at: string, thing: Thing): Thing => {
    const name = plain(at, thing.name);
    if (name === thing.name) return thing;
    isSame = false;
    return { ...thing, name };
  };
  const nodes = Object.fromEntries(
    Object.entries(graph.nodes).map(([id, node]) => [id, mended(`nodes.${id}.name`, node)]),
  );
  const groups = graph.groups?.map((group, at) => mended(`groups.${at}.name`, group));
  return isSame ? graph : { ...graph, nodes, ...defined({ groups }) };
}

function plainRoles(roles: readonly RoleDefinition[], findings: Findings): RoleDefinition[] {
  const taken = new Set(roles.map(({ name }) => name).filter((name) => plainRoleName(name) === name));
  return roles.flatMap((role) => {
    const name = plainRoleName(role.name);
    if (name === role.name) return [role];
    if (taken.has(name)) {
      findings.dropped("roles", `Duplicate role "${name}". Only the first was kept.`);
      return [];
    }
    taken.add(name);
    findings.changed("roles", `Removed hidden characters from the name "${name}".`);
    return [{ ...role, name }];
  });
}
