import type { z } from "zod";
import { agentTask } from "./agent-task";
import { approvalGate } from "./approval-gate";
import { code } from "./code";
import { conditionalRouter } from "./conditional-router";
import { crewTask } from "./crew-task";
import type { AgentSettings, CrewSettings, NodeKind, OwnUse, RouterSettings } from "./define";
import { end } from "./end";
import { httpRequest } from "./http-request";
import { map } from "./map";
import type { nodeBase } from "./node-base";
import { note } from "./note";
import { start } from "./start";
import { subWorkflow } from "./sub-workflow";
import { toolCall } from "./tool-call";
import { transform } from "./transform";
import { userInput } from "./user-input";
import { wait } from "./wait";

/** The one list of node kinds. Everything else (types, palette, cards, forms, validation) derives from it. */
const list = [
  start,
  agentTask,
  crewTask,
  conditionalRouter,
  subWorkflow,
  map,
  approvalGate,
  userInput,
  toolCall,
  httpRequest,
  transform,
  code,
  wait,
  end,
  note,
] as const;

/** A kind by its own type, for the schema of all nodes. */
export type Listed = (typeof list)[number];
export type NodeType = Listed["type"];

/** The schema of the nodes of one kind. */
export type SchemaOf<K> =
  K extends NodeKind<infer T, infer S>
    ? z.ZodObject<typeof nodeBase & { node_type: z.ZodLiteral<T>; config: S }>
    : never;

/** A node of a workflow: what every node has, and the settings of its kind. */
export type WorkflowNode = z.output<SchemaOf<Listed>>;

/** A kind with its types erased, for code that treats all kinds alike. */
// oxlint-disable-next-line typescript/no-explicit-any -- a kind's config type is only known to its own file
export type AnyNodeKind = NodeKind<NodeType, any>;

/** Every kind, in the order of the palette. */
export const nodeKinds: readonly AnyNodeKind[] = list;

const byType = new Map<string, AnyNodeKind>(nodeKinds.map((kind) => [kind.type, kind]));

export function findNodeKind(type: string): AnyNodeKind | undefined {
  return byType.get(type);
}

export function getNodeKind(type: string): AnyNodeKind {
  const kind = byType.get(type);
  if (!kind) throw new Error(`Unknown node type "${type}".`);
  return kind;
}

/** The state keys that a node writes when it completes. */
export function writtenKeys(node: WorkflowNode): readonly string[] {
  return node.output_mapping ? Object.keys(node.output_mapping) : givenKeys(node);
}

/** The keys of what a node gives itself, which its output mapping reads. */
export function givenKeys(node: WorkflowNode): readonly string[] {
  const kind = getNodeKind(node.node_type);
  return kind.writes ? kind.writes(node.config, node) : node.output_keys;
}

/** A node in which one agent works. */
type AgentNode = Extract<WorkflowNode, { config: AgentSettings }>;
/** A node in which a crew works. */
type CrewNode = Extract<WorkflowNode, { config: CrewSettings }>;
/** A node that chooses the way on. */
type RouterNode = Extract<WorkflowNode, { config: RouterSettings }>;

type MaybeNode = WorkflowNode | null | undefined;

export const isAgentNode = (node: MaybeNode): node is AgentNode =>
  !!node && getNodeKind(node.node_type).works === "agent";
export const isCrewNode = (node: MaybeNode): node is CrewNode =>
  !!node && getNodeKind(node.node_type).works === "crew";
export const isRouterNode = (node: MaybeNode): node is RouterNode =>
  !!node && getNodeKind(node.node_type).routerKind !== undefined;

/** How a router finds its label; undefined for every other node. */
export const routerKindOf = (node: MaybeNode): RouterSettings["kind"] | undefined =>
  node ? getNodeKind(node.node_type).routerKind?.(node.config) : undefined;

/** Without what may stand beside the named keys. */
type Named<C> = { [K in keyof C as string extends K ? never : K]: C[K] };
type KeyOf<C> = C extends unknown ? keyof Named<C> : never;
type ValueAt<C, K> = C extends unknown ? (K extends keyof Named<C> ? Named<C>[K] : never) : never;
/** What the settings of some kind hold under a name. */
export type AnySettings = {
  readonly [K in KeyOf<WorkflowNode["config"]>]?: ValueAt<WorkflowNode["config"], K> | undefined;
};

/** The settings of a node by their names, whatever its kind; undefined where its kind has none of that name. */
export const settingsOf = ({ config }: Pick<WorkflowNode, "config">): AnySettings => config;

/** The node with other settings, which were made from its own. */
export const withSettings = (node: WorkflowNode, config: object): WorkflowNode =>
  // That they are of its kind is for the schema to say, when the drawing is read or saved.
  ({ ...node, config }) as WorkflowNode;

/** Whether it is part of a run; notes are not. */
export const isExecutable = ({ node_type }: Pick<WorkflowNode, "node_type">): boolean =>
  getNodeKind(node_type).executes !== false;

/** The words of a note; undefined where the node is none. */
export const noteTextOf = (node: WorkflowNode): string | undefined =>
  getNodeKind(node.node_type).noteText?.(node.config);

/** What a node does without any agent. */
export const usesOf = (node: WorkflowNode): readonly OwnUse[] =>
  getNodeKind(node.node_type).uses?.(node.config) ?? [];

/** The fields of a node in which references to secrets are filled in. */
export const secretPlacesOf = (node: WorkflowNode) =>
  getNodeKind(node.node_type).secretPlaces?.(node.config) ?? [];

/** The workflow that a node runs, by its id. */
export const calledBy = (node: WorkflowNode): string | undefined =>
  getNodeKind(node.node_type).calls?.(node.config);

/** The node or group of the same workflow that a node runs. */
export const bodyIdOf = (node: WorkflowNode): string | undefined =>
  getNodeKind(node.node_type).body?.(node.config);

/** Whether a node runs another workflow, or a part of this one. */
export const startsRuns = (node: WorkflowNode): boolean =>
  calledBy(node) !== undefined || bodyIdOf(node) !== undefined;

export type {
  Field,
  FieldVariant,
  NodeBase,
  NodeContext,
  NodeKind,
  NodeResult,
  OwnUse,
} from "./define";
export { NodeFailure } from "./define";
export type { Join } from "./node-base";
