import type { z } from "zod";
import { AgentConfig, type Guardrail } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { freshEdgeId, freshId, toId } from "@/server/domain/base/ids";
import { propertiesOf } from "@/server/domain/base/json-schema";
import { type Finding, Findings } from "@/server/domain/base/lenient-reader";
import { must } from "@/server/domain/base/must";
import { type JsonSchema, StateKey } from "@/server/domain/base/values";
import type { CrewConfig } from "@/server/domain/crew/crew";
import { bodyIdOf, getNodeKind } from "@/server/domain/nodes";
import { asTemplate } from "@/server/domain/text/template/template";
import { analyse } from "../analysis";
import { withBodyId } from "../bodies";
import { type WorkflowEdge, WorkflowGraph, type WorkflowNode } from "../graph";
import { grouped } from "../groups";

/** Words that CEL doesn't read as a field, as in `state.in`. */
const CEL_KEYWORDS: ReadonlySet<string> = new Set(["in", "true", "false", "null"]);

export type CrewNode = Extract<WorkflowNode, { node_type: "crew_task" }>;
type NodeInput = z.input<typeof WorkflowNode>;
type EdgeInput = Pick<WorkflowEdge, "source_node_id" | "target_node_id"> & Partial<WorkflowEdge>;

export type Unfolding =
  | {
      graph: WorkflowGraph;
      /** The nodes that replace the crew, not laid out yet; the first one is where the work starts. */
      nodes: string[];
      /** What nodes can't do as the crew did. */
      warnings: Finding[];
    }
  | { /** Why the crew can't be expanded. */ reason: string };

/** Collects the nodes and edges that replace a crew. */
export class Unfolded {
  readonly findings = new Findings();
  readonly added = new Map<string, NodeInput>();
  private readonly edges: EdgeInput[] = [];
  private readonly takenIds: Set<string>;
  private readonly takenKeys: Set<string>;
  /** The nodes after which the work is complete. */
  private readonly last: string[] = [];
  /** The nodes where the work starts. */
  readonly first: string[] = [];

  constructor(
    private readonly graph: WorkflowGraph,
    readonly node: CrewNode,
    readonly crew: CrewConfig,
  ) {
    this.takenIds = new Set(Object.keys(graph.nodes));
    this.takenKeys = new Set(
      Object.values(graph.nodes)
        .filter(({ id }) => id !== node.id)
        .flatMap(({ input_keys, optional_input_keys, output_keys }) => [
          ...input_keys,
          ...optional_input_keys,
          ...output_keys,
        ])
        // A step may have the name of an output key of the crew: it then writes that key.
        .filter((key) => !node.output_keys.includes(key)),
    );
    for (const key of [...node.input_keys, ...node.optional_input_keys]) this.takenKeys.add(key);
  }

  add(wanted: string, make: (id: string) => NodeInput): string {
    const id = freshId(toId(wanted) || "step", this.takenIds);
    this.takenIds.add(id);
    this.added.set(id, make(id));
    return id;
  }

  key(wanted: string): string {
    const plain = wanted.replace(/[^A-Za-z0-9_]+/g, "_").slice(0, 56);
    const isPlain = StateKey.safeParse(plain).success && !CEL_KEYWORDS.has(plain);
    const key = freshId(isPlain ? plain : `step_${plain}`, this.takenKeys);
    this.takenKeys.add(key);
    return key;
  }

  connect(from: string, to: string, edge_label?: string): void {
    this.edges.push({
      source_node_id: from,
      target_node_id: to,
      ...defined({ edge_label: edge_label || undefined }),
    });
  }

  /** The settings that every node inherits from the crew's. */
  private get common() {
    const { input_keys, optional_input_keys, input_mapping, retry, on_error } = this.node;
    return { input_keys, optional_input_keys, retry, on_error, ...defined({ input_mapping }) };
  }

  /** Adds one agent's task; returns the node's id. */
  task(
    wanted: string,
    agent: AgentConfig | undefined,
    role: string,
    about: {
      task: string;
      key: string;
      reads: readonly string[];
      schema: JsonSchema;
      when?: string;
      expected_output?: string | undefined;
      guardrails?: readonly Guardrail[];
    },
  ): string {
    const backstory = agent?.backstory ? `${asTemplate(agent.backstory)}\n\n` : "";
    const goal = this.node.config.plan_description_template.trim();
    const properties = propertiesOf(about.schema);
    const seconds = agent?.max_execution_time_s;
    return this.add(wanted, (id) => ({
      ...this.common,
      id,
      node_type: "agent_task",
      name: nameFrom(wanted).slice(0, 200),
      optional_input_keys: [...new Set([...this.common.optional_input_keys, ...about.reads])],
      output_keys: Object.keys(properties),
      ...defined({
        run_timeout_ms:
          seconds === undefined || seconds === DEFAULTS.max_execution_time_s ? undefined : seconds * 1000,
      }),
      config: {
        required_role: agent?.role_name ?? role,
        ...defined({ agent_id: agent?.agent_id, max_iterations: agent?.max_iterations }),
        ...(agent?.agent_ref ? { agent_ref: agent.agent_ref, agent } : {}),
        ...defined({ llm_config: agent?.llm_config || undefined }),
        task_description_template: `${agent?.agent_ref ? "" : backstory}${about.task}${goal ? `\n\nIt is a part of this: ${goal}` : ""}`,
        output_schema: about.schema,
        ...defined({
          expected_output: about.expected_output || undefined,
          guardrails: about.guardrails && about.guardrails.length > 0 ? [...about.guardrails] : undefined,
        }),
      },
      ...defined({ when: about.when || undefined }),
    }));
  }

  /** Adds the node after which the work is complete: it sets the crew's output keys. */
  results(name: string, set: Record<string, string>): string {
    const id = this.add(`${this.node.id.slice(0, 40)}_${name}`, (own) => ({
      id: own,
      node_type: "transform",
      name: nameFrom(name).slice(0, 200),
      output_keys: Object.keys(set),
      ...defined({ output_mapping: this.node.output_mapping }),
      config: { set },
    }));
    this.last.push(id);
    return id;
  }

  /** Adds the end of a run whose work failed. */
  failure(name: string): string {
    return this.add(`${this.node.id.slice(0, 40)}_${name}`, (own) => ({
      id: own,
      node_type: "end",
      name: nameFrom(name).slice(0, 200),
      config: { status: "ERROR" },
    }));
  }

  done(): Unfolding {
    const { graph, node, crew, first, last } = this;
    for (const agent of crew.agents) this.reportLostSettings(agent);
    if (node.when) this.findings.dropped("when", `Dropped the crew's condition "${node.when}".`);
    const [entry] = first;
    if (entry !== undefined) {
      const { join } = node;
      for (const id of first) this.added.set(id, { ...must(this.added, id), join });
    }
    const known = graph.edges.filter(
      ({ source_node_id, target_node_id }) => source_node_id !== node.id && target_node_id !== node.id,
    );
    const agents = [...this.added].flatMap(([id, { node_type }]) =>
      getNodeKind(node_type).works === "agent" ? [id] : [],
    );
    const outer = graph.edges.flatMap((edge): EdgeInput[] => {
      const comes = edge.target_node_id === node.id;
      if (!comes && edge.source_node_id !== node.id) return [];
      const from =
        edge.source_node_id !== node.id ? [edge.source_node_id] : edge.kind === "error" ? agents : last;
      const to = comes ? first : [edge.target_node_id];
      const { id: _id, ...rest } = edge;
      return from.flatMap((source_node_id) =>
        to.map((target_node_id) => ({ ...rest, source_node_id, target_node_id })),
      );
    });
    const edges: (EdgeInput & { id: string })[] = [...known];
    for (const edge of [...outer, ...this.edges])
      edges.push({ ...edge, id: freshEdgeId(edges.map(({ id }) => id)) });
    const nodes = Object.fromEntries(
      Object.entries(graph.nodes).flatMap(([id, other]): [string, NodeInput][] =>
        id === node.id ? [...this.added] : [[id, other]],
      ),
    );
    const groups = (graph.groups ?? []).map((group) => ({
      ...group,
      node_ids: group.node_ids.flatMap((id) => (id === node.id ? [...this.added.keys()] : id)),
    }));
    const parsed = WorkflowGraph.parse({
      ...graph,
      ...(graph.groups ? { groups } : {}),
      nodes,
      edges,
      ...defined({ start_node_id: graph.start_node_id === node.id && entry ? entry : undefined }),
    });
    // As many iterations as the crew may have rounds.
    for (const id of analyse(parsed).loops.keys()) {
      const header = parsed.nodes[id];
      if (header && this.added.has(id)) parsed.nodes[id] = { ...header, max_iterations: crew.max_rounds };
    }
    const added = [...this.added.keys()];
    return { graph: withBodyGroup(parsed, node.id, added), nodes: added, warnings: this.findings.all() };
  }

  /** Reports the settings that an agent of a crew has and a node doesn't. */
  private reportLostSettings(agent: AgentConfig): void {
    if (agent.agent_ref) return;
    const lost = LOST.filter(([key]) => JSON.stringify(agent[key]) !== JSON.stringify(DEFAULTS[key]));
    if (lost.length > 0)
      this.findings.dropped(
        `agents.${agent.agent_id}`,
        `Dropped from ${agent.agent_id}: ${lost.map(([, name]) => name).join(", ")}.`,
      );
  }
}

/** Where another node ran the crew as its body, it runs a group of these nodes. */
function withBodyGroup(graph: WorkflowGraph, body: string, nodes: readonly string[]): WorkflowGraph {
  const owners = Object.entries(graph.nodes).filter(([, node]) => bodyIdOf(node) === body);
  if (owners.length === 0) return graph;
  const taken = new Set([...Object.keys(graph.nodes), ...(graph.groups ?? []).map(({ id }) => id)]);
  const id = freshId("group", taken);
  const rewritten = owners.map(([owner, node]) => [owner, withBodyId(node, () => id)] as const);
  return grouped({ ...graph, nodes: { ...graph.nodes, ...Object.fromEntries(rewritten) } }, id, nodes);
}

const DEFAULTS = AgentConfig.parse({ agent_id: "agent", role_name: "" });
const LOST = [
  ["allow_delegation", "delegation"],
  ["tool_protocol", "tool call format"],
  ["max_rpm", "rate limit"],
  ["tool_concurrency", "max parallel tool calls"],
  ["context", "context compaction"],
  ["memory_scopes", "memory scopes"],
] as const satisfies [keyof AgentConfig, string][];

/** `code_review` -> `Code review`. */
export function nameFrom(name: string): string {
  const plain = name.replace(/[_-]+/g, " ").trim() || name;
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

/** An expression for the value of a key, or another one if the key is missing. */
export const orElse = (key: string, other = '""') => `has(state.${key}) ? state.${key} : ${other}`;

/** A step's name as a key in an expression; `__proto__`, which no object may have, gets an underscore more. */
export const keyOf = (name: string): string => JSON.stringify(name === "__proto__" ? `${name}_` : name);
