import { z } from "zod";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { keysOf } from "@/server/domain/base/guards";
import type { WorkflowEdge, WorkflowGraph } from "@/server/domain/graph/graph";
import { isStartNode } from "@/server/domain/graph/run-input";
import { stateProperties } from "@/server/domain/graph/state-properties";
import { roleUses } from "@/server/domain/library/role-use";
import {
  findNodeKind,
  isExecutable,
  settingsOf,
  type WorkflowNode,
  withSettings,
} from "@/server/domain/nodes";

/** The small ways in which a workflow is changed to see whether its tests notice. */
export const MUTANT_KINDS = {
  edges_swapped: "Two ways swapped",
  condition_negated: "A condition turned round",
  condition_dropped: "A condition left out",
  node_skipped: "A step left out",
  person_removed: "A person's review left out",
  guardrail_removed: "A guardrail left out",
  tool_widened: "A role's tools widened",
  limit_removed: "A limit left out",
  key_renamed: "A key of the state renamed",
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

/** What became of one: noticed by a test, by none, or it could not be run at all, which tests nothing. */
export const MutantResult = z.object({
  id: z.string(),
  kind: MutantKind,
  sentence: z.string(),
  node_id: z.string().optional(),
  edge_id: z.string().optional(),
  status: z.enum(["noticed", "survived", "not_runnable"]),
  /** The first test that noticed. */
  test_id: z.string().optional(),
  /** What that test said. */
  noticed_by: z.string().optional(),
});
export type MutantResult = z.infer<typeof MutantResult>;

export const MutantReport = z.object({
  mutants: z.array(MutantResult),
  noticed: z.int(),
  survived: z.int(),
  /** More could have been made than were. */
  left_out: z.int(),
  /** Why nothing was changed, a sentence. */
  why_not: z.string().nullable(),
});
export type MutantReport = z.infer<typeof MutantReport>;

type Made = Omit<Mutant, "id">;

/** Every small change of a workflow, in the order of the drawing. */
export function mutantsOf(graph: WorkflowGraph, roles: readonly RoleDefinition[]): Mutant[] {
  const made: Made[] = [
    ...swapped(graph, roles),
    ...Object.values(graph.nodes).flatMap((node) => [
      ...ofConditions(graph, node).map((one) => ({ ...one, roles })),
      ...ofNode(graph, node).map((one) => ({ ...one, roles })),
    ]),
    ...graph.edges.flatMap((edge) => ofEdge(graph, edge).map((one) => ({ ...one, roles }))),
    ...ofRoles(graph, roles),
    ...ofLimits(graph).map((one) => ({ ...one, roles })),
  ];
  return made.map((one, at) => ({ id: `m${at + 1}`, ...one }));
}

type Changed = Omit<Made, "roles">;

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

/** Of each node with several ways out, neighbours swap where they lead. */
function swapped(graph: WorkflowGraph, roles: readonly RoleDefinition[]): Made[] {
  return Object.keys(graph.nodes).flatMap((id) => {
    const ways = graph.edges.filter((edge) => edge.source_node_id === id && edge.kind === "normal");
    return ways.slice(1).flatMap((second, k): Made[] => {
      const first = ways[k];
      if (!first || first.target_node_id === second.target_node_id) return [];
      if (wayName(first) === "" && wayName(second) === "") return [];
      const edges = graph.edges.map((edge) =>
        edge === first
          ? { ...edge, target_node_id: second.target_node_id }
          : edge === second
            ? { ...edge, target_node_id: first.target_node_id }
            : edge,
      );
      return [
        {
          kind: "edges_swapped",
          sentence: `The ways “${wayName(first) || "otherwise"}” and “${wayName(second) || "otherwise"}” out of ${nameOf(graph, id)} were swapped.`,
          node_id: id,
          edge_id: first.id,
          graph: withEdges(graph, edges),
          roles,
        },
      ];
    });
  });
}

const wayName = ({ edge_label, condition, condition_name }: WorkflowEdge): string =>
  edge_label || condition || condition_name || "";

/** The conditions that a router takes its ways by. */
function ofConditions(graph: WorkflowGraph, node: WorkflowNode): Changed[] {
  const { conditions, kind } = settingsOf(node);
  if (!Array.isArray(conditions) || kind !== "expression") return [];
  return conditions.flatMap(({ label, when }, at): Changed[] =>
    when.trim() === ""
      ? []
      : [
          {
            kind: "condition_negated",
            sentence: `In ${nameOf(graph, node.id)}, “${label}” was taken where ${when} does not hold.`,
            node_id: node.id,
            graph: withConfig(graph, node, {
              conditions: conditions.map((one, k) => (k === at ? { ...one, when: `!(${when})` } : one)),
            }),
          },
          {
            kind: "condition_dropped",
            sentence: `In ${nameOf(graph, node.id)}, “${label}” was taken whatever ${when} gives.`,
            node_id: node.id,
            graph: withConfig(graph, node, {
              conditions: conditions.map((one, k) => (k === at ? { ...one, when: "true" } : one)),
            }),
          },
        ],
  );
}

function ofEdge(graph: WorkflowGraph, edge: WorkflowEdge): Changed[] {
  const { condition } = edge;
  if (condition === undefined || condition.trim() === "") return [];
  const way = `${nameOf(graph, edge.source_node_id)} to ${nameOf(graph, edge.target_node_id)}`;
  const change = (changed: WorkflowEdge) =>
    withEdges(
      graph,
      graph.edges.map((one) => (one === edge ? changed : one)),
    );
  const { condition: _, ...free } = edge;
  const at = { edge_id: edge.id, node_id: edge.source_node_id };
  return [
    {
      kind: "condition_negated",
      sentence: `The way from ${way} was taken where ${condition} does not hold.`,
      ...at,
      graph: change({ ...edge, condition: `!(${condition})` }),
    },
    {
      kind: "condition_dropped",
      sentence: `The way from ${way} was taken whatever ${condition} gives.`,
      ...at,
      graph: change(free),
    },
  ];
}

function ofNode(graph: WorkflowGraph, node: WorkflowNode): Changed[] {
  const kind = findNodeKind(node.node_type);
  if (!kind || !isExecutable(node) || isStartNode(node)) return [];
  const made: Changed[] = [];
  const name = nameOf(graph, node.id);
  const { when: _when, ...always } = node;
  if (typeof node.when === "string" && node.when.trim() !== "")
    made.push(
      {
        kind: "condition_negated",
        sentence: `${name} ran where ${node.when} does not hold.`,
        node_id: node.id,
        graph: withNode(graph, { ...node, when: `!(${node.when})` }),
      },
      {
        kind: "condition_dropped",
        sentence: `${name} ran whatever ${node.when} gives.`,
        node_id: node.id,
        graph: withNode(graph, always),
      },
    );
  if (!kind.ends) made.push(...leftOut(graph, node));
  made.push(...withoutGuardrails(graph, node), ...withoutReviews(graph, node), ...renamedKey(graph, node));
  return made;
}

/** A step with one way out is gone round; of a person's approval, the first way is taken. */
function leftOut(graph: WorkflowGraph, node: WorkflowNode): Changed[] {
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
        ? `Nobody was asked at ${name}: “${wayName(way)}” was taken at once.`
        : `${name} was left out.`,
      node_id: node.id,
      graph: { ...withEdges(graph, edges), nodes },
    },
  ];
}

function withoutGuardrails(graph: WorkflowGraph, node: WorkflowNode): Changed[] {
  const { guardrails } = settingsOf(node);
  if (!Array.isArray(guardrails)) return [];
  return guardrails.map((one, at) => ({
    kind: "guardrail_removed",
    sentence: `${nameOf(graph, node.id)} had no guardrail “${one.name || at + 1}”.`,
    node_id: node.id,
    graph: withConfig(graph, node, { guardrails: guardrails.filter((_, k) => k !== at) }),
  }));
}

/** Of tasks that a person looks at when they are done, each is done without. */
function withoutReviews(graph: WorkflowGraph, node: WorkflowNode): Changed[] {
  const { plan } = settingsOf(node);
  const tasks = plan?.tasks;
  if (!Array.isArray(tasks)) return [];
  return tasks.flatMap((task, at): Changed[] =>
    task.human_review === true
      ? [
          {
            kind: "person_removed",
            sentence: `In ${nameOf(graph, node.id)}, nobody looked at the task ${task.task_id}.`,
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

/** What a node writes, it writes under another name. */
function renamedKey(graph: WorkflowGraph, node: WorkflowNode): Changed[] {
  const known = stateProperties(graph);
  return node.output_keys.flatMap((key): Changed[] => {
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

/** Each role that works here has a right more, and a guardrail less. */
function ofRoles(graph: WorkflowGraph, roles: readonly RoleDefinition[]): Made[] {
  const used = roleUses(graph);
  return roles.flatMap((role): Made[] => {
    if (!used.has(role.name)) return [];
    const change = (changed: RoleDefinition) => roles.map((one) => (one === role ? changed : one));
    const more = ["http_request", "file_write", "web_search"].find((tool) => !role.tools.includes(tool));
    return [
      ...(more === undefined || role.tools.includes("*")
        ? []
        : [
            {
              kind: "tool_widened" as const,
              sentence: `${role.name} might use ${more}, too.`,
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

/** Limits that the drawing sets itself are as they would be without it. */
function ofLimits(graph: WorkflowGraph): Changed[] {
  const { config } = graph;
  const { budget } = config ?? {};
  const made: Changed[] = [];
  if (config && budget?.max_cost_usd != null)
    made.push({
      kind: "limit_removed",
      sentence: `The run might cost more than $${budget.max_cost_usd}.`,
      graph: { ...graph, config: { ...config, budget: { ...budget, max_cost_usd: null } } },
    });
  if (config && budget?.max_total_tokens != null)
    made.push({
      kind: "limit_removed",
      sentence: `The run might use more than ${budget.max_total_tokens} tokens.`,
      graph: { ...graph, config: { ...config, budget: { ...budget, max_total_tokens: null } } },
    });
  for (const node of Object.values(graph.nodes)) {
    const { max_iterations, ...unlimited } = node;
    if (max_iterations !== undefined)
      made.push({
        kind: "limit_removed",
        sentence: `The loop at ${nameOf(graph, node.id)} might go round more than ${max_iterations} times.`,
        node_id: node.id,
        graph: withNode(graph, unlimited),
      });
  }
  return made;
}
