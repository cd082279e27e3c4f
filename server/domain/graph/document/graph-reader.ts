import { z } from "zod";
import { RunConfig } from "@/server/domain/agent/outcome";
import { ProjectContext } from "@/server/domain/agent/project";
import { defined } from "@/server/domain/base/defined";
import { freshId, toId } from "@/server/domain/base/ids";
import { issueTexts } from "@/server/domain/base/issues/issue-text";
import {
  type Findings,
  isRaw,
  join,
  type Raw,
  readLeniently,
  renameField,
  withoutNulls,
} from "@/server/domain/base/lenient-reader";
import { Id, JsonSchema } from "@/server/domain/base/values";
import { type AnyNodeKind, findNodeKind, withSettings } from "@/server/domain/nodes";
import { WorkflowNode } from "@/server/domain/nodes/schemas";
import { MAX_EXPRESSION_LENGTH } from "@/server/domain/text/expression/expression";
import { MAX_TEMPLATE_LENGTH } from "@/server/domain/text/template/template-parser";
import { bodyFieldOf, withBodyId } from "../bodies";
import { DismissedAdvice, NodeGroup, WorkflowEdge, WorkflowGraph } from "../graph";
import { upgradeGraph } from "./graph-upgrades";

/** Names of node types in the reference documents and in common use. */
const TYPE_ALIASES = new Map([
  ["start_node", "start"],
  ["end_node", "end"],
  ["conditional_router_node", "conditional_router"],
  ["router", "conditional_router"],
  ["agent", "agent_task"],
  ["crew", "crew_task"],
]);

const GRAPH_FIELDS: ReadonlySet<string> = new Set(Object.keys(WorkflowGraph.shape));

/** A part of a file, its path, and where to report what was changed or left out. */
interface Source {
  raw: Raw;
  at: string;
  findings: Findings;
}

/** Reads a graph tolerantly: findings name what was changed or left out. Null, with an error, if it can't be read. */
export function readGraph(source: Raw, at: string, findings: Findings): WorkflowGraph | null {
  const raw = upgradeGraph(source, at, findings);
  if (!raw) return null;
  renameField(raw, ["graph_id", "workflow_id", "id"]);
  renameField(raw, ["start_node_id", "start_node", "entry_point"]);
  const read = readNodes(raw.nodes, join(at, "nodes"), findings);
  const edges = readEdges(raw.edges, join(at, "edges"), findings, read);
  for (const key of Object.keys(raw))
    if (!GRAPH_FIELDS.has(key) && key !== "name" && key !== "title" && !(at === "" && key === "roles"))
      findings.dropped(join(at, key), `Unknown field "${key}" was left out.`);

  const start = typeof raw.start_node_id === "string" ? read.ids.get(raw.start_node_id) : undefined;
  if (typeof raw.start_node_id === "string" && start === undefined)
    findings.dropped(
      join(at, "start_node_id"),
      `The start node "${raw.start_node_id}" doesn't exist and was left out.`,
    );
  const part: Source = { raw, at, findings };
  const groups = readGroups(part, read.ids);
  const bodyOf = (body: string) => read.ids.get(body) ?? groups?.ids.get(body);
  // Bodies that were lifted out have their new ids already.
  const nodes = Object.entries(read.nodes).map(
    ([id, node]) => [id, read.owners.has(id) ? node : withBodyId(node, bodyOf)] as const,
  );
  const graph: z.input<typeof WorkflowGraph> = {
    graph_id: readGraphId(part),
    nodes: Object.fromEntries(nodes),
    edges,
    ...defined({
      start_node_id: start,
      description: readField(part, "description", z.string().max(4000)),
      version: readField(part, "version", z.coerce.number().int()),
      global_state_schema: readField(part, "global_state_schema", JsonSchema),
      config: readField(part, "config", RunConfig),
      groups: groups?.groups,
      dismissed_advice: readField(part, "dismissed_advice", DismissedAdvice),
      project_context: readField(part, "project_context", ProjectContext),
    }),
  };
  const parsed = WorkflowGraph.safeParse(graph);
  if (parsed.success) return parsed.data;
  findings.error(at, `Can't read the workflow: ${issueTexts(parsed.error, 1).join()}`);
  return null;
}

/** Frames by the ids that their nodes have now, and their own new ids by those of the file. */
function readGroups(
  part: Source,
  nodes: ReadonlyMap<string, string>,
): { groups: NodeGroup[]; ids: Map<string, string> } | undefined {
  const given = readField(part, "groups", z.array(NodeGroup).max(200));
  // A collapsed group is a card among the nodes' cards: their ids must differ.
  const taken = new Set(nodes.values());
  const ids = new Map<string, string>();
  const groups = given?.map((group) => {
    const id = freshId(group.id, taken);
    taken.add(id);
    ids.set(group.id, id);
    return { ...group, id, node_ids: group.node_ids.flatMap((node) => nodes.get(node) ?? []) };
  });
  return groups && { groups, ids };
}

function readField<S extends z.ZodType>(
  { raw, at, findings }: Source,
  key: string,
  schema: S,
): z.output<S> | undefined {
  const value = raw[key];
  if (value === undefined || value === null) return undefined;
  return readLeniently(schema, value, join(at, key), findings) ?? undefined;
}

function readGraphId({ raw, at, findings }: Source): string {
  const given = raw.graph_id;
  if (typeof given === "string" && Id.safeParse(given).success) return given;
  const made = toId(firstText(given, raw.name, raw.title)) || "workflow";
  if (given !== undefined && given !== null)
    findings.changed(join(at, "graph_id"), `Renamed the ID ${JSON.stringify(given)} to "${made}".`);
  return made;
}

interface ReadNodes {
  nodes: Record<string, WorkflowNode>;
  /** New ids by those of the file. */
  ids: Map<string, string>;
  /** The ids of all nodes in the file, including those that were left out. */
  given: Set<string>;
  /** The nodes that held a node in their settings. */
  owners: Set<string>;
}

function readNodes(source: unknown, at: string, findings: Findings): ReadNodes {
  const nodes: Record<string, WorkflowNode> = {};
  const ids = new Map<string, string>();
  const given = new Set<string>();
  const owners = new Map<string, Entry>();
  const entries = nodeEntries(source, at);
  const taken = { has: (id: string) => Object.hasOwn(nodes, id) };
  const readEntry = ([key, value, place]: Entry): string | null => {
    if (!isRaw(value)) {
      findings.dropped(place, "Skipped: not a node.");
      return null;
    }
    const raw = withoutNulls(value);
    renameField(raw, ["id", "node_id"]);
    renameField(raw, ["node_type", "type"]);
    renameField(raw, ["name", "label", "title"]);
    renameField(raw, ["ui", "position"]);
    const own = idText(raw.id);
    const original = key ?? own;
    if (own !== null && own !== original)
      findings.changed(join(place, "id"), `Renamed the ID "${own}" to "${key}", the node's key.`);
    if (original !== null) given.add(original);
    const kind = kindOf(raw.node_type);
    if (!kind) {
      findings.dropped(place, `${describeNode(raw, original)} and was left out with its connections.`);
      return null;
    }
    const wanted = original === null ? toId(firstText(raw.name)) : validId(original);
    const id = freshId(wanted || kind.type, taken);
    if (original === null) findings.changed(place, `This node had no ID. Its ID is now "${id}".`);
    else if (id !== original) findings.changed(join(place, "id"), `Renamed the ID "${original}" to "${id}".`);
    const inner = innerNode(raw, kind);
    const node = readNode({ raw: inner?.outer ?? raw, at: place, findings }, id, kind);
    if (!node) return null;
    nodes[id] = node;
    if (inner) owners.set(id, [null, inner.value, join(place, `config.${inner.field}`)]);
    if (original !== null && !ids.has(original)) ids.set(original, id);
    return id;
  };
  for (const entry of entries) readEntry(entry);
  // After the others, which keep their ids. An inner node may have its own body.
  for (const [owner, entry] of owners) {
    const id = readEntry(entry);
    const node = nodes[owner];
    const field = node && bodyFieldOf(node.node_type);
    if (id === null || !node || field === undefined) continue;
    nodes[owner] = withSettings(node, { ...node.config, [field]: id });
    findings.changed(entry[2], `The node inside ${owner} is now the node "${id}" on the canvas.`, id);
  }
  if (entries.length === 0) findings.info(at, "The workflow has no nodes.");
  return { nodes, ids, given, owners: new Set(owners.keys()) };
}

/** A node that stands in the settings of another one, and that one without it. */
function innerNode(raw: Raw, kind: AnyNodeKind): { field: string; value: Raw; outer: Raw } | null {
  const field = bodyFieldOf(kind.type);
  if (field === undefined || !isRaw(raw.config)) return null;
  const { [field]: value, ...config } = raw.config;
  return isRaw(value) ? { field, value, outer: { ...raw, config } } : null;
}

/** How many nodes stand in the settings of these, at any depth. */
export function countInnerNodes(nodes: readonly unknown[]): number {
  return nodes.reduce<number>((count, node) => {
    if (!isRaw(node) || !isRaw(node.config)) return count;
    const kind = kindOf(node.node_type ?? node.type);
    const inner = node.config[(kind && bodyFieldOf(kind.type)) ?? ""];
    return isRaw(inner) ? count + 1 + countInnerNodes([inner]) : count;
  }, 0);
}

type Entry = [key: string | null, value: unknown, at: string];

/** The nodes of a file, in a list or by their ids. */
function nodeEntries(source: unknown, at: string): Entry[] {
  if (Array.isArray(source)) return source.map((value, position) => [null, value, join(at, position)]);
  return isRaw(source) ? Object.entries(source).map(([key, value]) => [key, value, join(at, key)]) : [];
}

/** An id as the file gives it; null if it gives none. */
const idText = (value: unknown): string | null =>
  typeof value === "string" || typeof value === "number" ? String(value) : null;

/** A given id if it can stay, else one made from it; empty if it has no usable characters. */
const validId = (given: string): string => (Id.safeParse(given).success ? given : toId(given));

function describeNode(raw: Raw, id: string | null): string {
  const name = firstText(raw.name) || id || "without a name";
  return `The node ${JSON.stringify(name)} has the unknown type ${JSON.stringify(raw.node_type ?? null)}`;
}

/** Whether a file's name for a kind of node is known, ours or an alias. */
export const isKnownKind = (type: unknown): boolean => kindOf(type) !== undefined;

function kindOf(type: unknown): AnyNodeKind | undefined {
  if (typeof type !== "string") return undefined;
  const plain = type.trim();
  return findNodeKind(plain) ?? findNodeKind(TYPE_ALIASES.get(plain.toLowerCase()) ?? plain.toLowerCase());
}

function readNode({ raw, at, findings }: Source, id: string, kind: AnyNodeKind): WorkflowNode | null {
  const config = raw.config ?? {};
  const keys = (value: unknown) =>
    typeof value === "string" ? value.split(/[,\s]+/).filter(Boolean) : value;
  const prepared: Raw = { ...raw, id, node_type: kind.type, config };
  for (const field of ["input_keys", "output_keys", "optional_input_keys"])
    if (prepared[field] !== undefined) prepared[field] = keys(prepared[field]);
  if (!isRaw(config)) {
    findings.dropped(join(at, "config"), "The settings aren't an object and were left out.");
    prepared.config = {};
  }
  const node = readLeniently(WorkflowNode, prepared, at, findings);
  if (node) reportTooLong(node, kind, at, findings);
  return node;
}

/** Reports texts that are too long to run. They are kept: without them a run would do something else. */
function reportTooLong(node: WorkflowNode, kind: AnyNodeKind, at: string, findings: Findings): void {
  const noteIfTooLong = (field: string, text: string, most: number) => {
    if (text.length > most) findings.info(join(at, field), tooLongText(text, most));
  };
  for (const { field, template } of kind.templates?.(node.config) ?? [])
    noteIfTooLong(`config.${field}`, template, MAX_TEMPLATE_LENGTH);
  for (const { field, expression } of kind.expressions?.(node.config) ?? [])
    noteIfTooLong(`config.${field}`, expression, MAX_EXPRESSION_LENGTH);
  for (const field of ["input_mapping", "output_mapping"] as const)
    for (const [key, expression] of Object.entries(node[field] ?? {}))
      noteIfTooLong(`${field}.${key}`, expression, MAX_EXPRESSION_LENGTH);
  noteIfTooLong("when", node.when ?? "", MAX_EXPRESSION_LENGTH);
}

const tooLongText = (text: string, most: number): string =>
  `Too long: ${text.length.toLocaleString("en-US")} characters; the maximum is ${most.toLocaleString("en-US")}. Shorten this value to run the workflow.`;

function readEdges(source: unknown, at: string, findings: Findings, nodes: ReadNodes): WorkflowEdge[] {
  const list = edgeList(source, at, findings);
  // Ids in the file stay, so that generated ids don't depend on the order of the edges.
  const given = new Set(
    list.flatMap((edge) => (isRaw(edge) && typeof edge.id === "string" ? [edge.id] : [])),
  );
  const taken = new Set<string>();
  let made = 0;
  const idFor = (wanted: string | null): string => {
    if (wanted !== null) return freshId(validId(wanted) || "edge", taken);
    do made++;
    while (given.has(`edge_${made}`));
    return `edge_${made}`;
  };
  const edges: WorkflowEdge[] = [];
  for (const [position, value] of list.entries()) {
    const place = join(at, position);
    if (!isRaw(value)) {
      findings.dropped(place, "Skipped: not an edge.");
      continue;
    }
    const raw = withoutNulls(value);
    renameField(raw, ["source_node_id", "source", "from"]);
    renameField(raw, ["target_node_id", "target", "to"]);
    renameField(raw, ["edge_label", "label"]);
    if (typeof raw.edge_label === "number" || typeof raw.edge_label === "boolean")
      raw.edge_label = String(raw.edge_label);
    const ends = readEnds({ raw, at: place, findings }, nodes);
    if (!ends) continue;
    const wanted = idText(raw.id);
    const id = idFor(wanted);
    if (wanted !== null && id !== wanted)
      findings.changed(join(place, "id"), `Renamed the ID "${wanted}" to "${id}".`);
    taken.add(id);
    const edge = readLeniently(WorkflowEdge, { ...raw, id, ...ends }, place, findings);
    if (!edge) continue;
    edges.push(edge);
    const condition = edge.condition ?? "";
    if (condition.length > MAX_EXPRESSION_LENGTH)
      findings.info(join(place, "condition"), tooLongText(condition, MAX_EXPRESSION_LENGTH));
  }
  return edges;
}

function edgeList(source: unknown, at: string, findings: Findings): unknown[] {
  if (Array.isArray(source)) return source;
  if (isRaw(source)) return Object.values(source);
  if (source !== undefined && source !== null)
    findings.dropped(at, "The edges aren't a list and were left out.");
  return [];
}

/** The nodes that an edge connects, by their new ids; null, with a finding, if one of them is missing. */
function readEnds({ raw, at, findings }: Source, { ids, given }: ReadNodes) {
  const ends = [idText(raw.source_node_id) ?? "", idText(raw.target_node_id) ?? ""] as const;
  const missing = ends.filter((end) => !ids.has(end));
  if (missing.length === 0) return { source_node_id: ids.get(ends[0]), target_node_id: ids.get(ends[1]) };
  const why = missing.every((end) => given.has(end)) ? "which was left out" : "which doesn't exist";
  findings.dropped(
    at,
    `The connection from "${ends[0]}" to "${ends[1]}" was left out: it refers to "${missing[0]}", ${why}.`,
  );
  return null;
}

/** The first text that isn't blank, at most 200 characters of it. */
export const firstText = (...values: unknown[]): string =>
  values
    .find((value): value is string => typeof value === "string" && value.trim() !== "")
    ?.trim()
    .slice(0, 200) ?? "";
