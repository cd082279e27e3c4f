import type { RoleDefinition } from "@/server/domain/agent/role";
import { canonicalJson } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import { freeTools } from "@/server/domain/crew/crew-tools";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { expressionOf, type ToolArgument, templateOf } from "@/server/domain/nodes/tool-call";
import { secretsIn } from "@/server/domain/tool/secret";
import { isAgentNode, isCrewNode, type OwnUse, secretPlacesOf, usesOf, type WorkflowNode } from "../nodes";
import { choiceKey, isStandard, modelUses } from "./model-uses";
import { roleUses } from "./role-use";

export const CAPABILITY_KINDS = ["tool", "host", "secret", "model", "code", "memory"] as const;
export type CapabilityKind = (typeof CAPABILITY_KINDS)[number];

/** One thing that a workflow may use beyond thinking: asked for by nodes, or by roles at nodes. */
export interface Capability {
  /** `tool:NAME`, `host:NAME` (`host:*`: an address that is only known in a run), `secret:NAME`, `model:PROVIDER/MODEL`, `code:NODE`, `memory:SCOPE`. */
  key: string;
  kind: CapabilityKind;
  /** The tool, host, secret, model, node or scope. */
  name: string;
  /** Who asks: nodes, roles at nodes, and roles that only come along in a file. */
  where: { node_id?: string; role?: string }[];
  /** The program of a code node: another program is another thing to allow. */
  detail?: string;
}

/** Scopes of memory that reach beyond one run. */
const LASTING = ["workflow", "project", "global"] as const;
const REQUEST_TOOLS: ReadonlySet<string> = new Set(["http_request", "http_write", "browse_url"]);
const MEMORY_TOOLS = /_memor(y|ies)$/;

/**
 * All permissions that a run of the workflow may use, by kind and name. Named crews and agents must already be copied
 * into it; `roles`: those that a run would use. What every agent has by default, and the default model, are not listed.
 */
export function capabilitiesOf(
  graph: Pick<WorkflowGraph, "nodes">,
  roles: readonly Pick<RoleDefinition, "name" | "tools">[],
): Capability[] {
  const found = new Map<string, Capability>();
  const add = (kind: CapabilityKind, name: string, at: Capability["where"][number], more: object = {}) => {
    const key = `${kind}:${name}`;
    const known = found.get(key) ?? { key, kind, name, where: [], ...more };
    if (!known.where.some((one) => canonicalJson(one) === canonicalJson(at))) known.where.push(at);
    found.set(key, known);
  };
  for (const node of Object.values(graph.nodes)) ownUses(node, add);
  const toolsOf = new Map(roles.map(({ name, tools }) => [name, tools]));
  for (const [role, nodes] of roleUses(graph))
    for (const node_id of nodes) {
      const node = must(graph.nodes, node_id);
      const tools = toolsAt(node, toolsOf.get(role) ?? []);
      for (const tool of tools) add("tool", tool, { node_id, role });
      if (!tools.some((tool) => MEMORY_TOOLS.test(tool))) continue;
      for (const scope of scopesAt(node, role)) add("memory", scope, { node_id, role });
    }
  for (const { node, choice } of modelUses(graph))
    if (!isStandard(choice)) add("model", choiceKey(choice), { node_id: node.id });
  const order = (one: Capability) => CAPABILITY_KINDS.indexOf(one.kind);
  return [...found.values()].sort(
    (a, b) => order(a) - order(b) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  );
}

type Add = (
  kind: CapabilityKind,
  name: string,
  at: { node_id: string; role?: string },
  more?: object,
) => void;

/** What a node uses without any agent. */
function ownUses(node: WorkflowNode, add: Add): void {
  const at = { node_id: node.id };
  for (const use of usesOf(node)) {
    if (use.kind === "code") add("code", node.id, at, { detail: use.source });
    else if (use.kind === "request") {
      add("tool", use.method === "GET" || use.method === "HEAD" ? "http_request" : "http_write", at);
      add("host", hostOf(use.url), at);
    } else toolUse(use, at, add);
  }
  for (const name of secretsOf(node)) add("secret", name, at);
}

/** The secrets that a node sends. */
const secretsOf = (node: WorkflowNode): string[] => [
  ...new Set(secretPlacesOf(node).flatMap(({ value }) => secretsIn(value))),
];

/** The secrets that a workflow's nodes send, each once. */
export const secretsOfGraph = ({ nodes }: WorkflowGraph): string[] => [
  ...new Set(Object.values(nodes).flatMap(secretsOf)),
];

/** The host to which a node sends requests; "" where a value decides it, or it sends none. */
export function requestHost(uses: readonly OwnUse[]): string {
  const [host = "*"] = uses.flatMap((use) => {
    if (use.kind === "request") return [hostOf(use.url)];
    return use.kind === "tool" && REQUEST_TOOLS.has(use.name) ? [hostOf(textOf(use.args.url))] : [];
  });
  return host === "*" ? "" : new URL(`http://${host}`).hostname;
}

/** A call of a tool, with what its arguments say of where it reaches. */
function toolUse({ name, args }: Extract<OwnUse, { kind: "tool" }>, at: { node_id: string }, add: Add): void {
  add("tool", name, at);
  if (REQUEST_TOOLS.has(name)) add("host", hostOf(textOf(args.url)), at);
  if (!MEMORY_TOOLS.test(name)) return;
  const scope = textOf(args.scope);
  if (scope === null) add("memory", "*", at);
  else if (isLasting(scope)) add("memory", scope, at);
}

/** An argument as written in the workflow; null if it is known only during a run. */
function textOf(argument: ToolArgument | undefined): string | null {
  if (argument === undefined) return "";
  if (typeof argument === "string") return argument;
  return expressionOf(argument) === null ? templateOf(argument) : null;
}

/** The host of an address; "*" where a value decides it. */
function hostOf(address: string | null): string {
  const origin = /^\s*https?:\/\/([^/?#]*)/i.exec(address ?? "")?.[0];
  if (!origin || origin.includes("{{") || !URL.canParse(origin)) return "*";
  return new URL(origin).host;
}

/** The tools of a role at a node: an agent task may narrow them. */
function toolsAt(node: WorkflowNode, tools: readonly string[]): readonly string[] {
  const granted = tools.filter((tool) => !freeTools.has(tool));
  if (!isAgentNode(node) || !node.config.tools) return granted;
  const { tools: only } = node.config;
  return granted.filter((tool) => only.includes(tool) || tool.endsWith("/*"));
}

const isLasting = (scope: string) => LASTING.some((lasting) => lasting === scope);

/** The lasting memory that agents of a role may use at a node; who is given no settings may use all of it. */
function scopesAt(node: WorkflowNode, role: string): readonly string[] {
  if (isAgentNode(node)) return node.config.agent?.memory_scopes.filter(isLasting) ?? LASTING;
  if (!isCrewNode(node)) return [];
  const members = (node.config.crew?.agents ?? []).filter(({ role_name }) => role_name === role);
  return members.flatMap(({ memory_scopes }) => memory_scopes.filter(isLasting));
}

/** In what is withheld, a place named by a text that came with a file, which a person allowed: such a place is withheld otherwise. */
export const allowedMark = (key: string) => `allowed:${key}`;

/** The hosts and e-mail addresses of such marks. */
export const allowedPlaces = (withheld: readonly string[]): string[] =>
  withheld.flatMap((key) => (key.startsWith("allowed:host:") ? [key.slice("allowed:host:".length)] : []));

/** What is withheld, without the marks of what a person allowed. */
export const blockedKeys = (withheld: readonly string[]): string[] =>
  withheld.filter((key) => allowedPlaces([key]).length === 0);

/** Permissions that one workflow may use and the other couldn't: new ones, or ones with a different program. */
export function capabilitiesAdded(before: readonly Capability[], after: readonly Capability[]): Capability[] {
  const known = new Map(before.map((one) => [one.key, one.detail]));
  return after.filter(({ key, detail }) => !known.has(key) || known.get(key) !== detail);
}

const CAPABILITY_LABELS: Record<CapabilityKind, (name: string) => string> = {
  tool: (name) => `use the tool ${name}`,
  secret: (name) => `use the secret ${name}`,
  host: (name) =>
    name === "*"
      ? "send requests to a URL known only at run time"
      : `${name.includes("@") ? "send email to" : "send requests to"} ${name}`,
  model: (name) => `use the model ${name.replace(/^\//, "")}`,
  code: () => "run its code",
  memory: (name) => (name === "*" ? "use memory in any scope" : `use memory in the ${name} scope`),
};

/** As people read it: "use the tool store_memory". */
export const describeCapability = ({ kind, name }: Pick<Capability, "kind" | "name">): string =>
  CAPABILITY_LABELS[kind](name);
