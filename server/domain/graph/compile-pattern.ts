import type { z } from "zod";
import type { AgentConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { freshEdgeId, freshId, toId } from "@/server/domain/base/ids";
import { type Finding, Findings } from "@/server/domain/base/lenient-reader";
import { must } from "@/server/domain/base/must";
import {
  type CustomPattern,
  outcomesOf,
  type PatternStep,
  STEP_DESCRIPTIONS,
  targetOf,
} from "@/server/domain/crew/pattern";
import { asTemplate } from "@/server/domain/text/template/template";
import { WorkflowGraph } from "./graph";

const COLUMN = 340;
const LANE = 180;

type Member = Pick<AgentConfig, "agent_id" | "role_name">;
type NodeInput = z.input<typeof WorkflowGraph>["nodes"][string];
type EdgeInput = z.input<typeof WorkflowGraph>["edges"][number];

/**
 * Compiles a custom pattern to a workflow: each step becomes an agent task that reports its outcome, with a router
 * behind it. If a target doesn't exist, the run ends as failed, and a warning says so. `members`: the agents; an agent
 * not among them gets the role of its own name.
 */
export function compilePattern(
  pattern: CustomPattern,
  members: readonly Member[] = [],
): { graph: WorkflowGraph; warnings: Finding[] } {
  const findings = new Findings();
  const nodes = new Map<string, NodeInput>();
  const edges: EdgeInput[] = [];
  const connect = (from: string, to: string, edge_label?: string) => {
    edges.push({
      id: freshEdgeId(edges.map(({ id }) => id)),
      source_node_id: from,
      target_node_id: to,
      ...defined({ edge_label: edge_label || undefined }),
    });
  };
  const add = (wanted: string, node: (id: string) => NodeInput) => {
    const id = freshId(wanted, nodes);
    nodes.set(id, node(id));
    return id;
  };

  add("start", (id) => ({
    id,
    node_type: "start",
    name: "Start",
    output_keys: ["user_request"],
    config: { input_schema: REQUEST },
  }));
  const placed = resolveSteps(pattern, findings).map((one, at) => ({
    ...one,
    id: add(toId(one.step.step) || `step_${at + 1}`, (own) => taskNode(own, one.step, one.branches, members)),
  }));
  connect("start", must(placed, 0).id);

  const ends = new Map<string, string>();
  const endAt = (name: string, failed = false) => {
    const known = ends.get(name);
    if (known !== undefined) return known;
    const id = add(toId(`end_${name}`) || "end", (own) => ({
      id: own,
      node_type: "end",
      name: name.slice(0, 200),
      input_keys: ["summary", "result"],
      ...defined({ config: failed ? { status: "ERROR" as const } : undefined }),
    }));
    ends.set(name, id);
    return id;
  };
  for (const { step, id, branches } of placed) {
    if (branches.length === 0) {
      connect(id, endAt("Done"));
      continue;
    }
    const router = add(`${id.slice(0, 56)}_router`, (own) => ({
      id: own,
      node_type: "conditional_router",
      name: `After ${nameFrom(step.step)}`.slice(0, 200),
      input_keys: ["outcome"],
      config: {
        kind: "expression",
        conditions: branches.map(({ outcome }) => ({
          label: outcome.slice(0, 200),
          when: `state.outcome == ${JSON.stringify(outcome)}`,
        })),
      },
    }));
    connect(id, router);
    for (const { outcome, target, to, failed } of branches)
      connect(router, to === null ? endAt(target, failed) : must(placed, to).id, outcome.slice(0, 200));
  }

  const graph = WorkflowGraph.parse({
    graph_id: toId(pattern.name) || "pattern",
    description: `Created from the pattern "${pattern.name}".`,
    start_node_id: "start",
    nodes: Object.fromEntries(layOut(nodes, edges)),
    edges,
  });
  return { graph, warnings: findings.all() };
}

/** One route from a step: to another step, by index in the pattern, or to a named end. */
export interface Way {
  outcome: string;
  target: string;
  to: number | null;
  /** Whether the work has failed where it ends there. */
  failed: boolean;
}

/**
 * The steps of a pattern, each with the targets of its outcomes. A target that doesn't exist ends the crew as failed,
 * with a finding.
 */
export function resolveSteps(
  pattern: CustomPattern,
  findings: Findings,
): { step: PatternStep; branches: Way[] }[] {
  const steps = pattern.workflow;
  return steps.map((step, at) => {
    if (steps.findIndex((other) => other.step === step.step) < at)
      findings.changed(
        `workflow.${at}.step`,
        `Two steps are named "${step.step}"; targets refer to the first.`,
      );
    return {
      step,
      branches: outcomesOf(step).map(({ key, outcome, target }): Way => {
        const found = targetOf(target, steps);
        if ("step" in found) return { outcome, target, to: found.step, failed: false };
        if ("nobody" in found)
          findings.changed(`workflow.${at}.${key}`, `${found.nobody} Until then the step fails.`);
        return "nobody" in found
          ? { outcome, target, to: null, failed: true }
          : { outcome, target: found.name, to: null, failed: found.end === "failed" };
      }),
    };
  });
}

const REQUEST = {
  type: "object",
  properties: { user_request: { type: "string", title: "What should be done?" } },
  required: ["user_request"],
};

/** `code_review` -> `Code review`. */
function nameFrom(name: string): string {
  const plain = name.replace(/[_-]+/g, " ").trim() || name;
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

function taskNode(
  id: string,
  step: PatternStep,
  outcomes: readonly Way[],
  members: readonly Member[],
): NodeInput {
  const member = members.find(({ agent_id }) => agent_id === step.agent);
  const what = asTemplate(step.description ?? nameFrom(step.step));
  const summary = { type: "string", description: STEP_DESCRIPTIONS.summary };
  const result = { type: "string", description: STEP_DESCRIPTIONS.result };
  const outcome = {
    type: "string",
    enum: outcomes.map((one) => one.outcome),
    description: STEP_DESCRIPTIONS.outcome,
  };
  return {
    id,
    node_type: "agent_task",
    name: nameFrom(step.step).slice(0, 200),
    input_keys: ["user_request"],
    optional_input_keys: ["summary", "result"],
    output_keys: [...(outcomes.length > 0 ? ["outcome"] : []), "summary", "result"],
    config: {
      required_role: member?.role_name ?? step.agent,
      ...defined({ agent_id: member?.agent_id }),
      task_description_template: `${what}\n\nThe request: {{user_request}}\n\nWhat the step before reported:\n{{summary | default: "This is the first step."}}\n\nIts work:\n{{result | default: "None yet."}}`,
      output_schema: {
        type: "object",
        properties: defined({ outcome: outcomes.length > 0 ? outcome : undefined, summary, result }),
        required: [...(outcomes.length > 0 ? ["outcome"] : []), "summary", "result"],
      },
    },
  };
}

/** Columns by the distance from the start, lanes in the order in which the nodes were made. */
function layOut(nodes: ReadonlyMap<string, NodeInput>, edges: readonly EdgeInput[]): [string, NodeInput][] {
  const column = new Map([["start", 0]]);
  for (const [id, distance] of column)
    for (const { source_node_id, target_node_id } of edges)
      if (source_node_id === id && !column.has(target_node_id)) column.set(target_node_id, distance + 1);
  const lanes = new Map<number, number>();
  return [...nodes].map(([id, node]) => {
    const x = column.get(id) ?? 0;
    // What nothing leads to stands below the start.
    const lane = lanes.get(x) ?? 0;
    lanes.set(x, lane + 1);
    return [id, { ...node, ui: { x: x * COLUMN, y: lane * LANE } }];
  });
}
