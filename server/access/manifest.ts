import type { RoleDefinition } from "@/server/domain/agent/role";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { allowedMark, type Capability, capabilitiesOf } from "@/server/domain/library/capabilities";
import { type Library, withLibrary } from "@/server/domain/library/library";
import type { Note } from "@/server/domain/run/audit";

/** Something that a workflow may use, and whether it is allowed here. */
export interface Grant extends Capability {
  allowed: boolean;
}

interface Installation {
  roles: { all(): RoleDefinition[] };
  library: Library;
  /** The version in use: what it requests can be blocked, too. */
  published?: { graph: WorkflowGraph; roles: readonly RoleDefinition[] } | undefined;
  /** Hosts and e-mail addresses that texts name which came with files: nothing is sent there unasked until a person allows it. */
  named?: readonly string[];
}

/** Everything that runs of a drawing may use here. `withheld`: keys that nobody has allowed. */
export function manifestOf(
  graph: WorkflowGraph,
  { roles, library, published, withheld, named = [] }: Installation & { withheld: readonly string[] },
): Grant[] {
  const drawn = capabilitiesOf(withLibrary(graph, library), roles.all());
  const known = new Set(drawn.map(({ key }) => key));
  const inUse = published ? capabilitiesOf(published.graph, published.roles) : [];
  const asked = withNamed([...drawn, ...inUse.filter(({ key }) => !known.has(key))], named);
  return asked.map((one) => ({
    ...one,
    allowed:
      !withheld.includes(one.key) &&
      (!named.some((name) => one.key === `host:${name}`) || withheld.includes(allowedMark(one.key))),
  }));
}

/** With the places that texts name. */
export function withNamed(asked: readonly Capability[], named: readonly string[]): Capability[] {
  const known = new Set(asked.map(({ key }) => key));
  return [
    ...asked,
    ...named.flatMap((name) =>
      known.has(`host:${name}`) ? [] : [{ key: `host:${name}`, kind: "host" as const, name, where: [] }],
    ),
  ];
}

/** How a choice is stored: what is withheld, and a mark for each named host that is allowed. */
export const keptGrants = (withheld: readonly string[], named: readonly string[]): string[] => [
  ...withheld,
  ...named.flatMap((name) => (withheld.includes(`host:${name}`) ? [] : [allowedMark(`host:${name}`)])),
];

/** Allows and withholds some of what a workflow would use; what it does not ask for is forgotten. */
export function changeGrants(
  installation: Installation & { workflows: { withhold(id: string, keys: readonly string[]): boolean } },
  workflow: { id: string; name: string; graph: WorkflowGraph; withheld: readonly string[] },
  change: { allow: readonly string[]; withhold: readonly string[] },
  note: Note,
): void {
  const asked = manifestOf(workflow.graph, { ...installation, withheld: workflow.withheld });
  const withheld = asked.flatMap(({ key, allowed }) =>
    change.withhold.includes(key) || (!allowed && !change.allow.includes(key)) ? [key] : [],
  );
  installation.workflows.withhold(workflow.id, keptGrants(withheld, installation.named ?? []));
  const known = new Set(asked.map(({ key }) => key));
  noteAllowed(
    note,
    workflow,
    change.allow.filter((key) => known.has(key)),
    withheld,
  );
}

/** Writes down what a workflow was allowed to use, and what it asks for beyond that. */
export function noteAllowed(
  note: Note,
  { id, name }: { id: string; name: string },
  allowed: readonly string[],
  withheld: readonly string[],
): void {
  note("workflow_allowed", {
    workflow_id: id,
    workflow: name,
    allowed: [...allowed],
    withheld: [...withheld],
  });
}
