import { z } from "zod";
import { builtinRoles, findBuiltinRole } from "@/server/domain/agent/builtin-roles";
import { RunConfig, settingsWithoutEffect } from "@/server/domain/agent/outcome";
import { readRoleList } from "@/server/domain/agent/read-roles";
import { RoleDefinition } from "@/server/domain/agent/role";
import { freshEdgeId, freshId, toId } from "@/server/domain/base/ids";
import { jsonTextProblem } from "@/server/domain/base/json-limits";
import {
  cleanCopy,
  type Finding,
  Findings,
  isRaw,
  join,
  type Raw,
  readLeniently,
  renameField,
  unwrapText,
  withoutNulls,
} from "@/server/domain/base/lenient-reader";
import { GRAPH_LIMITS } from "@/server/domain/base/sizes";
import { writeTersely } from "@/server/domain/base/terse-writer";
import { canonicalJson, Id, JsonSchema } from "@/server/domain/base/values";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import { isDefaultWord } from "@/server/domain/nodes/conditional-router";
import { nodeBase } from "@/server/domain/nodes/define";
import { MAX_EXPRESSION_LENGTH } from "@/server/domain/text/expression";
import { MAX_TEMPLATE_LENGTH } from "@/server/domain/text/template";
import { type AnyNodeKind, findNodeKind, getNodeKind, isRouterNode, nodeKinds, WorkflowNode } from "../nodes";
import { analyse } from "./analysis";
import { SCHEMA_VERSION, WorkflowEdge, WorkflowGraph } from "./graph";

export type { Finding } from "@/server/domain/base/lenient-reader";

/**
 * Workflow files. Reading is tolerant: the reference documents' graphs, older and hand-made files come in, and
 * findings name whatever was changed or left out. Writing is canonical: equal workflows give equal text.
 */

export const MAX_FILE_BYTES = 5 * 1024 * 1024;
/** The version of the file around a workflow: `{"troupe": 1, "name", "workflow", "roles"}`. */
const FILE_VERSION = 1;

export interface ReadWorkflow {
  /** Null where the file holds no workflow that can be read; an error among the findings says why. */
  graph: WorkflowGraph | null;
  name: string;
  roles: RoleDefinition[];
  findings: Finding[];
}

/** Reads a workflow from the text of a file, or from JSON that is parsed already. */
export function readWorkflow(source: unknown): ReadWorkflow {
  const findings = new Findings();
  const nothing = (at: string, message: string): ReadWorkflow => {
    findings.error(at, message);
    return { graph: null, name: "", roles: [], findings: findings.all() };
  };
  const parsed = typeof source === "string" ? parseText(source) : { value: source };
  if ("problem" in parsed) return nothing("", parsed.problem);
  const tooMany = tooManyParts(parsed.value);
  if (tooMany) return nothing("", tooMany);
  const copy = cleanCopy(parsed.value, findings);
  if (!copy) return nothing("", "The file is nested too deeply to be a workflow.");
  const { value } = copy;
  if (Array.isArray(value))
    return nothing("", "This is a list, not a workflow. Lists of roles are read on the page of roles.");
  if (!isRaw(value)) return nothing("", "This is not a workflow: a JSON object with nodes and edges.");

  const version = value.troupe;
  if (version !== undefined && (typeof version !== "number" || version > FILE_VERSION))
    return nothing(
      "troupe",
      `This file was written by a newer version (format ${JSON.stringify(version)}). Update, then read it again.`,
    );
  const { inner, at } = findGraph(value);
  const name = firstText(value.name, inner?.name, inner?.title);
  if (version !== undefined)
    for (const key of Object.keys(value))
      if (!["troupe", "name", "workflow", "roles"].includes(key))
        findings.dropped(key, `"${key}" is not known here and was left out.`);
  const plain = version === undefined ? value : value.workflow;
  if (!inner && !(isRaw(plain) && Array.isArray(plain.tasks))) return nothing("", describeForeign(value));
  const roles = readRoleList(value.roles, "roles", findings);
  if (!inner) {
    const planned = readPlan(plain as Raw, findings);
    if (!planned) return { graph: null, name: "", roles: [], findings: findings.all() };
    return {
      graph: planned.graph,
      name: name || "Imported plan",
      roles: [...roles, ...planned.roles],
      findings: findings.all(),
    };
  }
  const graph = readGraph(inner, at, findings);
  return {
    graph,
    name: name || (graph ? humanName(graph.graph_id) : ""),
    roles,
    findings: findings.all(),
  };
}

/** Says so where a file holds more nodes or edges than a workflow may have: counted before anything is made of them. */
export function tooManyParts(source: unknown): string | null {
  const { inner } = isRaw(source) ? findGraph(source) : { inner: null };
  if (!inner) return null;
  const nodes = countOf(inner.nodes);
  const edges = countOf(inner.edges);
  return nodes > GRAPH_LIMITS.nodes || edges > GRAPH_LIMITS.edges
    ? `A workflow may have at most ${GRAPH_LIMITS.nodes} nodes and ${GRAPH_LIMITS.edges} edges; this one has ${nodes} and ${edges}. Split it.`
    : null;
}

const countOf = (list: unknown): number =>
  Array.isArray(list) ? list.length : isRaw(list) ? Object.keys(list).length : 0;

function parseText(text: string): { value: unknown } | { problem: string } {
  // A character takes at most three bytes in UTF-8 (four for two UTF-16 units).
  if (
    text.length > MAX_FILE_BYTES ||
    (text.length * 3 > MAX_FILE_BYTES && new TextEncoder().encode(text).length > MAX_FILE_BYTES)
  )
    return { problem: "The file is larger than 5 MiB." };
  const plain = unwrapText(text);
  if (!plain.trim()) return { problem: "The file is empty." };
  const problem = jsonTextProblem(plain);
  if (problem) return { problem };
  try {
    return { value: JSON.parse(plain) as unknown };
  } catch (error) {
    return { problem: `This is not JSON: ${whereJsonBreaks(plain, error)}` };
  }
}

function whereJsonBreaks(text: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const position = /position (\d+)/.exec(message)?.[1];
  if (position === undefined)
    return text.length > 0 && /end of JSON|Unterminated/i.test(message)
      ? "it ends too early."
      : `${message}.`;
  if (Number(position) >= text.length) return "it ends too early.";
  const before = text.slice(0, Number(position));
  const line = before.split("\n").length;
  return `line ${line}, column ${before.length - before.lastIndexOf("\n")} cannot be read.`;
}

/** The graph itself, also where another object stands around it. */
function findGraph(value: Raw): { inner: Raw | null; at: string } {
  const isGraph = (candidate: unknown): candidate is Raw =>
    isRaw(candidate) && (isRaw(candidate.nodes) || Array.isArray(candidate.nodes));
  if (isGraph(value)) return { inner: value, at: "" };
  for (const key of ["workflow", "graph", "workflow_graph"]) {
    const inner = value[key];
    if (isGraph(inner)) return { inner, at: key };
  }
  return { inner: null, at: "" };
}

function describeForeign(value: Raw): string {
  if (value.roles !== undefined || (value.name !== undefined && value.goals !== undefined))
    return "This file holds roles, not a workflow. Read it on the page of roles.";
  return 'This is not a workflow: it has neither "nodes" nor "tasks".';
}

const firstText = (...values: unknown[]): string =>
  values
    .find((value): value is string => typeof value === "string" && value.trim() !== "")
    ?.trim()
    .slice(0, 200) ?? "";

/** `simple_approval_workflow` -> `Simple approval workflow`. */
function humanName(id: string): string {
  const words = id.replace(/[_.-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/* ---------- versions ---------- */

/** Steps that bring a graph from the version of their place to the next; version 0 is the reference documents'. */
const upgrades: readonly ((graph: Raw, findings: Findings) => Raw)[] = [
  // 0 -> 1: the names of node types; everything else of version 0 is read as it is.
  (graph) => ({ ...graph, schema_version: 1 }),
];

/** Names of node types in the reference documents and in common use. */
const TYPE_ALIASES = new Map([
  ["start_node", "start"],
  ["end_node", "end"],
  ["conditional_router_node", "conditional_router"],
  ["router", "conditional_router"],
  ["agent", "agent_task"],
  ["crew", "crew_task"],
]);

const ORIGINAL_TYPES = new Map([
  ["start", "start_node"],
  ["end", "end_node"],
  ["agent_task", "agent_task"],
  ["crew_task", "crew_task"],
  ["conditional_router", "conditional_router_node"],
]);

function upgrade(graph: Raw, at: string, findings: Findings): Raw | null {
  const version = graph.schema_version ?? 0;
  if (typeof version !== "number" || !Number.isInteger(version) || version < 0 || version > SCHEMA_VERSION) {
    findings.error(
      join(at, "schema_version"),
      `This workflow has the format ${JSON.stringify(version)}, which only a newer version can read. Update, then read it again.`,
    );
    return null;
  }
  return upgrades.slice(version).reduce((current, step) => step(current, findings), graph);
}

/* ---------- reading a graph ---------- */

const GRAPH_FIELDS = new Set([
  "graph_id",
  "description",
  "version",
  "schema_version",
  "nodes",
  "edges",
  "start_node_id",
  "global_state_schema",
  "config",
]);

function readGraph(source: Raw, at: string, findings: Findings): WorkflowGraph | null {
  const raw = upgrade(source, at, findings);
  if (!raw) return null;
  renameField(raw, ["graph_id", "workflow_id", "id"]);
  renameField(raw, ["start_node_id", "start_node", "entry_point"]);
  const { nodes, ids, gone } = readNodes(raw.nodes, join(at, "nodes"), findings);
  const edges = readEdges(raw.edges, join(at, "edges"), findings, ids, gone);
  for (const key of Object.keys(raw))
    if (!GRAPH_FIELDS.has(key) && key !== "name" && key !== "title" && !(at === "" && key === "roles"))
      findings.dropped(join(at, key), `"${key}" is not known here and was left out.`);

  const start = typeof raw.start_node_id === "string" ? (ids.get(raw.start_node_id) ?? null) : null;
  if (typeof raw.start_node_id === "string" && start === null)
    findings.dropped(
      join(at, "start_node_id"),
      `The run was to begin at "${raw.start_node_id}", which is not among the nodes.`,
    );
  const graph: z.input<typeof WorkflowGraph> = {
    graph_id: readGraphId(raw, at, findings),
    nodes,
    edges,
    ...(start === null ? {} : { start_node_id: start }),
    ...optional("description", readField(z.string().max(4000), raw, "description", at, findings)),
    ...optional("version", readField(z.coerce.number().int(), raw, "version", at, findings)),
    ...optional("global_state_schema", readField(JsonSchema, raw, "global_state_schema", at, findings)),
    ...optional("config", readField(RunConfig, raw, "config", at, findings)),
  };
  if (isRaw(raw.config))
    for (const { key, message } of settingsWithoutEffect(raw.config))
      findings.info(join(at, `config.${key}`), message);
  const parsed = WorkflowGraph.safeParse(graph);
  if (parsed.success) return parsed.data;
  findings.error(at, `The workflow cannot be read: ${z.prettifyError(parsed.error).split("\n")[0]}`);
  return null;
}

const optional = <K extends string, V>(key: K, value: V | undefined) =>
  value === undefined ? {} : { [key]: value };

function readField<S extends z.ZodType>(
  schema: S,
  raw: Raw,
  key: string,
  at: string,
  findings: Findings,
): z.output<S> | undefined {
  const value = raw[key];
  if (value === undefined || value === null) return undefined;
  return readLeniently(schema, value, join(at, key), findings) ?? undefined;
}

function readGraphId(raw: Raw, at: string, findings: Findings): string {
  const given = raw.graph_id;
  if (typeof given === "string" && Id.safeParse(given).success) return given;
  const made = toId(firstText(given, raw.name, raw.title)) || "workflow";
  if (given !== undefined && given !== null)
    findings.changed(join(at, "graph_id"), `The id ${JSON.stringify(given)} became "${made}".`);
  return made;
}

interface ReadNodes {
  nodes: Record<string, WorkflowNode>;
  /** The ids of the file and what became of them. */
  ids: Map<string, string>;
  /** Nodes of the file that were left out. */
  gone: Set<string>;
}

function readNodes(source: unknown, at: string, findings: Findings): ReadNodes {
  const nodes: Record<string, WorkflowNode> = {};
  const ids = new Map<string, string>();
  const gone = new Set<string>();
  const entries: [key: string | null, value: unknown, at: string][] = Array.isArray(source)
    ? source.map((value, position) => [null, value, join(at, position)])
    : isRaw(source)
      ? Object.entries(source).map(([key, value]) => [key, value, join(at, key)])
      : [];
  const taken = { has: (id: string) => Object.hasOwn(nodes, id) };
  for (const [key, value, place] of entries) {
    if (!isRaw(value)) {
      findings.dropped(place, "This is not a node and was left out.");
      continue;
    }
    const raw = withoutNulls(value);
    renameField(raw, ["id", "node_id"]);
    renameField(raw, ["node_type", "type"]);
    renameField(raw, ["name", "label", "title"]);
    renameField(raw, ["ui", "position"]);
    const own = typeof raw.id === "string" || typeof raw.id === "number" ? String(raw.id) : null;
    const original = key ?? own;
    if (key !== null && own !== null && own !== key)
      findings.changed(join(place, "id"), `The id "${own}" became "${key}", under which the node stands.`);
    const kind = kindOf(raw.node_type);
    if (!kind) {
      if (original !== null) gone.add(original);
      findings.dropped(
        place,
        `${describeNode(raw, original)} is of the type ${JSON.stringify(raw.node_type ?? null)}, which is not known here; it was left out with its edges.`,
      );
      continue;
    }
    const wanted =
      original !== null && Id.safeParse(original).success
        ? original
        : toId(original ?? firstText(raw.name)) || kind.type;
    const id = freshId(wanted, taken);
    if (original === null) findings.changed(place, `This node had no id; it is now "${id}".`);
    else if (id !== original) findings.changed(join(place, "id"), `The id "${original}" became "${id}".`);
    const node = readNode(raw, id, kind, place, findings);
    if (!node) {
      if (original !== null) gone.add(original);
      continue;
    }
    nodes[id] = node;
    if (original !== null && !ids.has(original)) ids.set(original, id);
  }
  if (entries.length === 0) findings.info(at, "The workflow has no nodes.");
  return { nodes, ids, gone };
}

function describeNode(raw: Raw, id: string | null): string {
  return `The node ${JSON.stringify(firstText(raw.name) || id || "without a name")}`;
}

function kindOf(type: unknown): AnyNodeKind | undefined {
  if (typeof type !== "string") return undefined;
  const plain = type.trim();
  return findNodeKind(plain) ?? findNodeKind(TYPE_ALIASES.get(plain.toLowerCase()) ?? plain.toLowerCase());
}

function readNode(
  raw: Raw,
  id: string,
  kind: AnyNodeKind,
  at: string,
  findings: Findings,
): WorkflowNode | null {
  const config = raw.config ?? {};
  const keys = (value: unknown) =>
    typeof value === "string" ? value.split(/[,\s]+/).filter(Boolean) : value;
  const prepared: Raw = { ...raw, id, node_type: kind.type, config };
  for (const field of ["input_keys", "output_keys", "optional_input_keys"])
    if (prepared[field] !== undefined) prepared[field] = keys(prepared[field]);
  if (!isRaw(config)) {
    findings.dropped(join(at, "config"), "The settings are not an object and were left out.");
    prepared.config = {};
  }
  const node = readLeniently(WorkflowNode, prepared, at, findings);
  if (node) nameTooLong(node, kind, at, findings);
  return node;
}

/** Texts that are kept although they are too long to be used: without them a run would do something else. */
function nameTooLong(node: WorkflowNode, kind: AnyNodeKind, at: string, findings: Findings): void {
  const tell = (field: string, text: string, most: number) => {
    if (text.length > most) findings.info(join(at, field), tooLongText(text, most));
  };
  for (const { field, template } of kind.templates?.(node.config) ?? [])
    tell(`config.${field}`, template, MAX_TEMPLATE_LENGTH);
  for (const { field, expression } of kind.expressions?.(node.config) ?? [])
    tell(`config.${field}`, expression, MAX_EXPRESSION_LENGTH);
  for (const field of ["input_mapping", "output_mapping"] as const)
    for (const [key, expression] of Object.entries(node[field] ?? {}))
      tell(`${field}.${key}`, expression, MAX_EXPRESSION_LENGTH);
  tell("when", node.when ?? "", MAX_EXPRESSION_LENGTH);
}

const tooLongText = (text: string, most: number): string =>
  `This has ${text.length.toLocaleString("en-US")} characters, and at most ${most.toLocaleString("en-US")} are possible: the workflow cannot run until it is shortened.`;

function readEdges(
  source: unknown,
  at: string,
  findings: Findings,
  ids: ReadonlyMap<string, string>,
  gone: ReadonlySet<string>,
): WorkflowEdge[] {
  const list: unknown[] = Array.isArray(source) ? source : isRaw(source) ? Object.values(source) : [];
  if (source !== undefined && source !== null && !Array.isArray(source) && !isRaw(source))
    findings.dropped(at, "The edges are not a list and were left out.");
  const edges: WorkflowEdge[] = [];
  // Ids that the file gives stay, so that the numbers of the others do not depend on their place in it.
  const given = new Set(
    list.flatMap((edge) => (isRaw(edge) && typeof edge.id === "string" ? [edge.id] : [])),
  );
  const taken = new Set<string>();
  const made = new Set<string>();
  for (const [position, value] of list.entries()) {
    const place = join(at, position);
    if (!isRaw(value)) {
      findings.dropped(place, "This is not an edge and was left out.");
      continue;
    }
    const raw = withoutNulls(value);
    renameField(raw, ["source_node_id", "source", "from"]);
    renameField(raw, ["target_node_id", "target", "to"]);
    renameField(raw, ["edge_label", "label"]);
    if (typeof raw.edge_label === "number" || typeof raw.edge_label === "boolean")
      raw.edge_label = String(raw.edge_label);
    const ends = [endOf(raw.source_node_id), endOf(raw.target_node_id)] as const;
    const missing = ends.filter((end) => !ids.has(end));
    if (missing.length > 0) {
      const why = missing.every((end) => gone.has(end)) ? "which was left out" : "which does not exist";
      findings.dropped(
        place,
        `The edge from "${ends[0]}" to "${ends[1]}" was left out: it is tied to "${missing[0]}", ${why}.`,
      );
      continue;
    }
    const wanted = typeof raw.id === "string" || typeof raw.id === "number" ? String(raw.id) : null;
    let id: string;
    if (wanted === null) {
      id = freshEdgeId([...given, ...made]);
      made.add(id);
    } else {
      id = freshId(Id.safeParse(wanted).success ? wanted : toId(wanted) || "edge", taken);
      if (id !== wanted) findings.changed(join(place, "id"), `The id "${wanted}" became "${id}".`);
    }
    taken.add(id);
    const prepared = { ...raw, id, source_node_id: ids.get(ends[0]), target_node_id: ids.get(ends[1]) };
    const edge = readLeniently(WorkflowEdge, prepared, place, findings);
    if (!edge) continue;
    edges.push(edge);
    const condition = edge.condition ?? "";
    if (condition.length > MAX_EXPRESSION_LENGTH)
      findings.info(join(place, "condition"), tooLongText(condition, MAX_EXPRESSION_LENGTH));
  }
  return edges;
}

const endOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

/* ---------- plans ---------- */

/** A bare plan.json becomes a workflow of one crew that carries it out. */
function readPlan(source: Raw, findings: Findings): { graph: WorkflowGraph; roles: RoleDefinition[] } | null {
  const raw = { ...source, tasks: (source.tasks as unknown[]).map(readTask) };
  const plan = readLeniently(ExecutionPlan, raw, "", findings);
  if (!plan) {
    findings.error("tasks", "The plan cannot be read.");
    return null;
  }
  if (plan.tasks.length === 0) {
    findings.error("tasks", "The plan has no tasks.");
    return null;
  }
  const agents = new Map<string, { agent_id: string; role_name: string }>();
  const ids = new Set<string>();
  for (const { assigned_agent, required_role } of plan.tasks) {
    const who = assigned_agent || required_role || "Planner";
    if (agents.has(who)) continue;
    const agent_id = freshId(
      assigned_agent && Id.safeParse(assigned_agent).success ? assigned_agent : toId(who) || "agent",
      ids,
    );
    ids.add(agent_id);
    const role = required_role || who;
    const own = builtinRoles.find(({ name }) => name.toLowerCase() === role.toLowerCase());
    agents.set(who, { agent_id, role_name: own?.name ?? role });
  }
  // A plan may name an agent by words that cannot be an id.
  for (const task of plan.tasks)
    if (task.assigned_agent)
      task.assigned_agent = agents.get(task.assigned_agent)?.agent_id ?? task.assigned_agent;
  const roles = [...new Set([...agents.values()].map(({ role_name }) => role_name))]
    .filter((name) => !findBuiltinRole(name))
    .map((name) =>
      RoleDefinition.parse({
        name: name.slice(0, 80),
        description: `Works on the tasks that a plan gives to "${name}".`,
      }),
    );
  findings.info(
    "",
    `This is a plan of ${plan.tasks.length} ${plan.tasks.length === 1 ? "task" : "tasks"}; it became a workflow with one crew of ${agents.size}.`,
  );
  if (roles.length > 0)
    findings.changed(
      "tasks",
      `The plan names ${roles.map(({ name }) => name).join(", ")} without saying what they are for; a simple role was made for each.`,
    );
  const done = plan.tasks.filter(({ status }) => status !== "pending").length;
  if (done > 0)
    findings.info(
      "tasks",
      `${done} of the tasks ${done === 1 ? "is" : "are"} marked as begun or done; that is kept in the plan.`,
    );
  const asks = plan.user_instruction !== "";
  const graph = WorkflowGraph.parse({
    graph_id: plan.plan_id ?? "imported_plan",
    description: plan.user_instruction.slice(0, 4000) || undefined,
    start_node_id: "start",
    nodes: {
      start: {
        id: "start",
        node_type: "start",
        name: "Start",
        ...(asks ? { output_keys: ["user_request"], config: { user_request: plan.user_instruction } } : {}),
      },
      carry_out: {
        id: "carry_out",
        node_type: "crew_task",
        name: "Carry out the plan",
        ...(asks ? { input_keys: ["user_request"] } : {}),
        output_keys: ["plan_result"],
        config: {
          plan_description_template: asks ? "{{user_request}}" : "Carry out the plan.",
          crew: { crew_id: "crew", agents: [...agents.values()] },
          plan,
        },
      },
      end: { id: "end", node_type: "end", name: "End", input_keys: ["plan_result"] },
    },
    edges: [
      { id: "edge_1", source_node_id: "start", target_node_id: "carry_out" },
      { id: "edge_2", source_node_id: "carry_out", target_node_id: "end" },
    ],
  });
  return { graph, roles };
}

/** Other planners call a task's id `id` and number it. */
function readTask(value: unknown): unknown {
  if (!isRaw(value)) return value;
  const raw = withoutNulls(value);
  renameField(raw, ["task_id", "id"]);
  const id = (other: unknown) => (typeof other === "number" ? `task_${other}` : other);
  raw.task_id = id(raw.task_id);
  if (Array.isArray(raw.dependencies)) raw.dependencies = raw.dependencies.map(id);
  return raw;
}

/* ---------- writing ---------- */

export interface WriteOptions {
  flavour: "troupe" | "openhands";
  /** Included in the file; without them the file only names its roles. */
  roles?: readonly RoleDefinition[];
  name?: string;
}

/** The text of a workflow file. Equal workflows give equal text, whatever the order of their keys in memory. */
export function writeWorkflow(graph: WorkflowGraph, { flavour, roles, name }: WriteOptions): string {
  if (flavour === "openhands") return `${JSON.stringify(toOriginal(graph).graph, null, 2)}\n`;
  const file = {
    troupe: FILE_VERSION,
    ...(name ? { name } : {}),
    workflow: writeGraph(graph),
    ...(roles ? { roles: [...roles].sort(byName).map((role) => writeTersely(RoleDefinition, role)) } : {}),
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** What a file of this flavour does not hold of a workflow. */
export function lossesOf(graph: WorkflowGraph, flavour: WriteOptions["flavour"]): Finding[] {
  if (flavour === "openhands") return toOriginal(graph).losses;
  return Object.values(graph.nodes).flatMap((node) =>
    secretPlaces(node.config).map(
      (place): Finding => ({
        level: "dropped",
        at: `nodes.${node.id}.config.${place}`,
        message:
          "This looks like a secret; files never hold one. Enter it again after an import, better in the settings of a provider.",
      }),
    ),
  );
}

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

const { ui, ...placeless } = nodeBase;
const nodeSchemas = new Map(
  nodeKinds.map((kind) => {
    const { id, name, description, ...rest } = placeless;
    const config = kind.config as z.ZodType;
    return [
      kind.type,
      z.object({ id, node_type: z.literal(kind.type), name, description, config, ...rest, ui }),
    ] as const;
  }),
);
const { schema_version, nodes: _nodes, edges: _edges, ...graphShape } = WorkflowGraph.shape;
const graphSchema = z.object(graphShape);

function writeGraph(graph: WorkflowGraph): Raw {
  const { graph_id, description, start_node_id, ...rest } = writeTersely(graphSchema, graph) as Raw;
  return {
    ...defined({ graph_id, description }),
    schema_version: SCHEMA_VERSION,
    ...defined({ start_node_id }),
    nodes: Object.fromEntries(orderedNodes(graph).map((node) => [node.id, writeNode(node)])),
    edges: graph.edges.map((edge) => writeTersely(WorkflowEdge, edge)),
    ...pick(rest, Object.keys(graphShape)),
  };
}

const defined = (raw: Raw): Raw =>
  Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== undefined));
const pick = (raw: Raw, keys: readonly string[]): Raw =>
  Object.fromEntries(keys.filter((key) => raw[key] !== undefined).map((key) => [key, raw[key]]));

/** In the order in which they run; what never runs stands at the end, by id. */
function orderedNodes(graph: WorkflowGraph): WorkflowNode[] {
  const { position } = analyse(graph);
  const place = (node: WorkflowNode) => position.get(node.id) ?? Number.POSITIVE_INFINITY;
  return Object.values(graph.nodes).sort((a, b) => {
    const [p, q] = [place(a), place(b)];
    return p === q ? (a.id < b.id ? -1 : 1) : p - q;
  });
}

function writeNode(node: WorkflowNode): Raw {
  const schema = nodeSchemas.get(node.node_type)!;
  const written = withoutSecrets(writeTersely(schema, node)) as Raw;
  // An empty object says no more than none.
  if (isRaw(written.config) && Object.keys(written.config).length === 0) delete written.config;
  return written;
}

const SECRET =
  /api[-_]?key|secret|password|passwd|authorization|credential|(^|[-_])(auth|access|bearer|refresh)?[-_]?token$/i;

/** Where settings of model calls carry what looks like a secret: in the fields that are passed on as they are. */
function secretPlaces(value: unknown, at = "", isPassedOn = false): string[] {
  if (Array.isArray(value))
    return value.flatMap((item, position) => secretPlaces(item, join(at, position), isPassedOn));
  if (!isRaw(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (isPassedOn && SECRET.test(key)) return [join(at, key)];
    return secretPlaces(inner, join(at, key), isPassedOn || key === "extra_body");
  });
}

/** A value without what looks like a secret in the fields that are passed on to providers as they are. */
export function withoutSecrets(value: unknown, isPassedOn = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, isPassedOn));
  if (!isRaw(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !(isPassedOn && SECRET.test(key)))
      .map(([key, inner]) => [key, withoutSecrets(inner, isPassedOn || key === "extra_body")]),
  );
}

/* ---------- the reference documents' format ---------- */

const ORIGINAL_NODE_FIELDS = new Set(["id", "node_type", "name", "config", "input_keys", "output_keys"]);

/** The graph in the words of the reference documents, with only their fields, and what that leaves out. */
function toOriginal(graph: WorkflowGraph): { graph: Raw; losses: Finding[] } {
  const findings = new Findings();
  const full = writeGraph(graph);
  const nodes: Raw = {};
  const removed = new Set<string>();
  for (const node of orderedNodes(graph)) {
    const at = `nodes.${node.id}`;
    const type = ORIGINAL_TYPES.get(node.node_type);
    if (!type) {
      removed.add(node.id);
      const { title, executes } = getNodeKind(node.node_type);
      findings.dropped(
        at,
        executes === false
          ? `${title}s are not part of this format.`
          : `"${node.name || node.id}" (${title}) is not part of this format; its edges lead past it.`,
      );
      continue;
    }
    const written = (full.nodes as Raw)[node.id] as Raw;
    const { config, input_keys, output_keys } = written;
    nodes[node.id] = defined({
      id: node.id,
      node_type: type,
      name: node.name,
      config,
      input_keys,
      output_keys,
    });
    for (const key of Object.keys(written))
      if (!ORIGINAL_NODE_FIELDS.has(key) && key !== "ui")
        findings.dropped(`${at}.${key}`, `"${key}" is not part of this format.`);
    const asks = (config as { kind?: unknown; router_function_name?: unknown } | undefined) ?? {};
    if (isRouterNode(node) && asks.router_function_name === undefined)
      findings.changed(
        `${at}.config`,
        `"${node.name || node.id}" decides by its settings here; the original needs a registered function (router_function_name).`,
      );
  }
  if (Object.values(graph.nodes).some(({ ui: place }) => place))
    findings.dropped("nodes", "Where the nodes stand on the canvas is not part of this format.");
  if (full.version !== undefined)
    findings.dropped("version", "The number of the version is not part of this format.");
  if (full.config !== undefined)
    findings.dropped("config", "Limits and other settings of runs are not part of this format.");
  const edges = originalEdges(graph, removed, findings);
  const { graph_id, description, start_node_id, global_state_schema } = full;
  const start =
    typeof start_node_id === "string" && !removed.has(start_node_id) ? start_node_id : analyse(graph).start;
  return {
    graph: {
      ...defined({ graph_id, description, start_node_id: start && !removed.has(start) ? start : undefined }),
      nodes,
      edges,
      ...defined({ global_state_schema }),
    },
    losses: findings.all(),
  };
}

function originalEdges(graph: WorkflowGraph, removed: ReadonlySet<string>, findings: Findings): Raw[] {
  const outgoing = new Map<string, WorkflowEdge[]>();
  for (const edge of graph.edges)
    outgoing.set(edge.source_node_id, [...(outgoing.get(edge.source_node_id) ?? []), edge]);
  /** Where an edge leads once the nodes in between are gone. */
  const targets = (id: string, seen: ReadonlySet<string> = new Set()): string[] => {
    if (!removed.has(id)) return [id];
    if (seen.has(id)) return [];
    return (outgoing.get(id) ?? []).flatMap((edge) => targets(edge.target_node_id, new Set(seen).add(id)));
  };
  const written: Raw[] = [];
  for (const edge of graph.edges) {
    const at = `edges.${edge.id}`;
    if (removed.has(edge.source_node_id)) continue;
    if (edge.kind === "error") {
      findings.dropped(at, "Edges for failures are not part of this format.");
      continue;
    }
    if (edge.condition !== undefined)
      findings.dropped(
        `${at}.condition`,
        "Conditions of edges are not part of this format; this edge is always taken there.",
      );
    const source = graph.nodes[edge.source_node_id];
    const routes = source ? getNodeKind(source.node_type).routes : false;
    let label = edge.edge_label || undefined;
    if (edge.is_default && !(label && isDefaultWord(label))) {
      if (label)
        findings.dropped(
          `${at}.is_default`,
          "A default way is not part of this format; the router function has to answer this label.",
        );
      else if (routes) {
        label = "default";
        findings.changed(at, 'The default way got the label "default".');
      }
    }
    for (const target of targets(edge.target_node_id))
      written.push(
        defined({
          source_node_id: edge.source_node_id,
          target_node_id: target,
          condition_name: edge.condition_name ?? undefined,
          edge_label: label,
        }),
      );
  }
  const seen = new Set<string>();
  return written.filter((edge) => {
    const text = canonicalJson(edge);
    return seen.has(text) ? false : seen.add(text);
  });
}
