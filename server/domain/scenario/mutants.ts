import { z } from "zod";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { keysOf } from "@/server/domain/base/guards";
import type { WorkflowEdge, WorkflowGraph } from "@/server/domain/graph/graph";
import { stateProperties } from "@/server/domain/graph/keys/state-properties";
import { isStartNode } from "@/server/domain/graph/run-input";
import { roleUses } from "@/server/domain/library/role-use";
import {
  findNodeKind,
  isExecutable,
  settingsOf,
  type WorkflowNode,
  withSettings,
} from "@/server/domain/nodes";

/** The kinds of mutation. */
export const MUTANT_KINDS = {
  edges_swapped: "Two routes swapped",
  condition_negated: "A condition negated",
  condition_dropped: "A condition removed",
  node_skipped: "A step removed",
  person_removed: "A human review removed",
  guardrail_removed: "A guardrail removed",
  tool_widened: "A tool added to a role",
  limit_removed: "A limit removed",
  key_renamed: "A state key renamed",
} as const;
export const MutantKind = z.enum(keysOf(MUTANT_KINDS));
export type MutantKind = keyof typeof MUTANT_KINDS;

/** A workflow with one small change. */
export interface Mutant {
  id: string;
  kind: MutantKind;
  /** What was changed, a sentence. */
  sentence: string;
  node_id?: string;
  edge_id?: string;
  graph: WorkflowGraph;
  roles: readonly RoleDefinition[];
}

export const MutantResult = z.object({
  id: z.string(),
  kind: MutantKind,
  sentence: z.string(),
  node_id: z.string().optional(),
  edge_id: z.string().optional(),
  status: z.enum(["noticed", "survived", "not_runnable"]),
  /** The first test that noticed. */
  test_id: z.string().optional(),
  /** Why that test failed. */
  noticed_by: z.string().optional(),
});
export type MutantResult = z.infer<typeof MutantResult>;

export const MutantReport = z.object({
  mutants: z.array(MutantResult),
  noticed: z.int(),
  survived: z.int(),
  /** Mutants beyond the limit. */
  left_out: z.int(),
  /** Why nothing was changed, a sentence. */
  why_not: z.string().nullable(),
});
export type MutantReport = z.infer<typeof MutantReport>;

/** A change before it gets its id; `roles` if these differ too. */
type Change = Omit<Mutant, "id" | "roles"> & Partial<Pick<Mutant, "roles">>;

/** Every small change of a workflow, in the order of its nodes and edges. */
export function mutantsOf(graph: WorkflowGraph, roles: readonly RoleDefinition[]): Mutant[] {
  const changes = [
    ...swapped(graph),
    ...Object.values(graph.nodes).flatMap((node) => [...ofConditions(graph, node), ...ofNode(graph, node)]),
    ...graph.edges.flatMap((edge) => ofEdge(graph, edge)),
    ...ofRoles(graph, roles),
    ...ofLimits(graph),
  ];
  return changes.map((change, at) => ({ id: `m${at + 1}`, roles, ...change }));
}

const nameOf = (graph: WorkflowGraph, id: string): string => graph.nodes[id]?.name || id;
const withNode = (graph: WorkflowGraph, node: WorkflowNode): WorkflowGraph => ({
  ...graph,
  nodes: { ...graph.nodes, [node.id]: node },
});
const withConfig = (graph: WorkflowGraph, node: WorkflowNode, config: object): WorkflowGraph =>
  withNode(graph, withSettings(node, { ...node.config, ...config }));
const withEdges = (graph: WorkflowGraph, edges: readonly WorkflowEdge[]): WorkflowGraph => ({
  ...graph,
  edges: [...edges],
});

/** At each node, two adjacent outgoing edges swap their targets. */
function swapped(graph: WorkflowGraph): Change[] {
  return Object.keys(graph.nodes).flatMap((id) => {
    const edges = graph.edges.filter((edge) => edge.source_node_id === id && edge.kind === "normal");
    return edges.slice(1).flatMap((second, k): Change[] => {
      const first = edges[k];
      if (!first || first.target_node_id === second.target_node_id) return [];
      if (edgeName(first) === "" && edgeName(second) === "") return [];
      const swappedEdges = graph.edges.map((edge) =>
        edge === first
          ? { ...edge, target_node_id: second.target_node_id }
          : edge === second
            ? { ...edge, target_node_id: first.target_node_id }
            : edge,
      );
      return [
        {
          kind: "edges_swapped",
          sentence: `The routes “${edgeName(first) || "otherwise"}” and “${edgeName(second) || "otherwise"}” of ${nameOf(graph, id)} were swapped.`,
          node_id: id,
          edge_id: first.id,
          graph: withEdges(graph, swappedEdges),
        },
      ];
    });
  });
}

const edgeName = ({ edge_label, condition, condition_name }: WorkflowEdge): string =>
  edge_label || condition || condition_name || "";

/** A condition is turned round, and left out. `change` makes the workflow with another condition, or without one. */
const ofCondition = (
  at: Pick<Change, "node_id" | "edge_id">,
  what: string,
  condition: string | undefined,
  change: (condition: string | undefined) => WorkflowGraph,
): Change[] =>
  condition === undefined || condition.trim() === ""
    ? []
    : [
        {
          kind: "condition_negated",
          sentence: `${what} if ${condition} is false.`,
          ...at,
          graph: change(`!(${condition})`),
        },
        {
          kind: "condition_dropped",
          sentence: `${what} regardless of ${condition}.`,
          ...at,
          graph: change(undefined),
        },
      ];

/** The conditions by which a router chooses. */
function ofConditions(graph: WorkflowGraph, node: WorkflowNode): Change[] {
  const { conditions, kind } = settingsOf(node);
  if (!Array.isArray(conditions) || kind !== "expression") return [];
  return conditions.flatMap(({ label, when }, at) =>
    ofCondition(
      { node_id: node.id },
      `In ${nameOf(graph, node.id)}, “${label}” was taken`,
      when,
      (next = "true") =>
        withConfig(graph, node, {
          conditions: conditions.map((one, k) => (k === at ? { ...one, when: next } : one)),
        }),
    ),
  );
}

function ofEdge(graph: WorkflowGraph, edge: WorkflowEdge): Change[] {
  const { condition, ...free } = edge;
  return ofCondition(
    { edge_id: edge.id, node_id: edge.source_node_id },
    `The connection from ${nameOf(graph, edge.source_node_id)} to ${nameOf(graph, edge.target_node_id)} was taken`,
    condition,
    (next) => {
      const changed = next === undefined ? free : { ...free, condition: next };
      return withEdges(
        graph,
        graph.edges.map((one) => (one === edge ? changed : one)),
      );
    },
  );
}

function ofNode(graph: WorkflowGraph, node: WorkflowNode): Change[] {
  const kind = findNodeKind(node.node_type);
  if (!kind || !isExecutable(node) || isStartNode(node)) return [];
  const { when, ...always } = node;
  return [
    ...ofCondition({ node_id: node.id }, `${nameOf(graph, node.id)} ran`, when, (next) =>
      withNode(graph, next === undefined ? always : { ...always, when: next }),
    ),
    ...(kind.ends ? [] : leftOut(graph, node)),
    ...withoutGuardrails(graph, node),
    ...withoutReviews(graph, node),
    ...renamedKey(graph, node),
  ];
}

/** A step with one outgoing edge is bypassed; an approval always takes its first option. */
function leftOut(graph: WorkflowGraph, node: WorkflowNode): Change[] {
  const out = graph.edges.filter((edge) => edge.source_node_id === node.id && edge.kind === "normal");
  const [way] = out;
  const { options } = settingsOf(node);
  const isPerson = Array.isArray(options);
  if (!way || way.target_node_id === node.id || (out.length > 1 && !isPerson)) return [];
  const nodes = { ...graph.nodes };
  delete nodes[node.id];
  const edges = graph.edges.flatMap((edge) =>
    edge.source_node_id === node.id
      ? []
      : [edge.target_node_id === node.id ? { ...edge, target_node_id: way.target_node_id } : edge],
  );
  const name = nameOf(graph, node.id);
  return [
    {
      kind: isPerson ? "person_removed" : "node_skipped",
      sentence: isPerson
        ? `No one was asked at ${name}: “${edgeName(way)}” was taken immediately.`
        : `${name} was removed.`,
      node_id: node.id,
      graph: { ...withEdges(graph, edges), nodes },
    },
  ];
}

function withoutGuardrails(graph: WorkflowGraph, node: WorkflowNode): Change[] {
  const { guardrails } = settingsOf(node);
  if (!Array.isArray(guardrails)) return [];
  return guardrails.map((one, at) => ({
    kind: "guardrail_removed",
    sentence: `${nameOf(graph, node.id)} had no guardrail “${one.name || at + 1}”.`,
    node_id: node.id,
    graph: withConfig(graph, node, { guardrails: guardrails.filter((_, k) => k !== at) }),
  }));
}

/** Each task with a human review runs without it. */
function withoutReviews(graph: WorkflowGraph, node: WorkflowNode): Change[] {
  const { plan } = settingsOf(node);
  const tasks = plan?.tasks;
  if (!Array.isArray(tasks)) return [];
  return tasks.flatMap((task, at): Change[] =>
    task.human_review === true
      ? [
          {
            kind: "person_removed",
            sentence: `In ${nameOf(graph, node.id)}, no one reviewed the task ${task.task_id}.`,
            node_id: node.id,
            graph: withConfig(graph, node, {
              plan: {
                ...plan,
                tasks: tasks.map((one, k) => (k === at ? { ...one, human_review: false } : one)),
              },
            }),
          },
        ]
      : [],
  );
}

/** Each output key of a node is renamed. */
function renamedKey(graph: WorkflowGraph, node: WorkflowNode): Change[] {
  const known = stateProperties(graph);
  return node.output_keys.flatMap((key): Change[] => {
    const other = `${key}_2`.slice(0, 64);
    if (Object.hasOwn(known, other) || node.output_keys.includes(other)) return [];
    const { set } = settingsOf(node);
    const config =
      set && Object.hasOwn(set, key)
        ? { set: Object.fromEntries(Object.entries(set).map(([k, v]) => [k === key ? other : k, v])) }
        : {};
    return [
      {
        kind: "key_renamed",
        sentence: `${nameOf(graph, node.id)} wrote ${other} instead of ${key}.`,
        node_id: node.id,
        graph: withConfig(
          graph,
          { ...node, output_keys: node.output_keys.map((one) => (one === key ? other : one)) },
          config,
        ),
      },
    ];
  });
}

/** Each used role gains a tool, and loses each of its guardrails in turn. */
function ofRoles(graph: WorkflowGraph, roles: readonly RoleDefinition[]): Change[] {
  const used = roleUses(graph);
  return roles.flatMap((role): Change[] => {
    if (!used.has(role.name)) return [];
    const change = (changed: RoleDefinition) => roles.map((one) => (one === role ? changed : one));
    const more = ["http_request", "file_write", "web_search"].find((tool) => !role.tools.includes(tool));
    return [
      ...(more === undefined || role.tools.includes("*")
        ? []
        : [
            {
              kind: "tool_widened" as const,
              sentence: `${role.name} could also use ${more}.`,
              graph,
              roles: change({ ...role, tools: [...role.tools, more] }),
            },
          ]),
      ...role.guardrails.map((one, at) => ({
        kind: "guardrail_removed" as const,
        sentence: `${role.name} had no guardrail “${one.name || at + 1}”.`,
        graph,
        roles: change({ ...role, guardrails: role.guardrails.filter((_, k) => k !== at) }),
      })),
    ];
  });
}

/** Each limit of the workflow is removed. */
function ofLimits(graph: WorkflowGraph): Change[] {
  const { config } = graph;
  const { budget } = config ?? {};
  const withoutLimit = (limit: "max_cost_usd" | "max_total_tokens", allowed: string): Change[] =>
    config && budget?.[limit] != null
      ? [
          {
            kind: "limit_removed",
            sentence: `The run could ${allowed}.`,
            graph: { ...graph, config: { ...config, budget: { ...budget, [limit]: null } } },
          },
        ]
      : [];
  return [
    ...withoutLimit("max_cost_usd", `cost more than $${budget?.max_cost_usd}`),
    ...withoutLimit("max_total_tokens", `use more than ${budget?.max_total_tokens} tokens`),
    ...Object.values(graph.nodes).flatMap(({ max_iterations, ...node }): Change[] =>
      max_iterations === undefined
        ? []
        : [
            {
              kind: "limit_removed",
              sentence: `The loop at ${nameOf(graph, node.id)} could run more than ${max_iterations} times.`,
              node_id: node.id,
              graph: withNode(graph, node),
            },
          ],
    ),
  ];
}
