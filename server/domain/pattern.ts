import type { z } from "zod";
import { type CustomPattern, outcomesOf, type PatternStep } from "./crew-pattern";
import { WorkflowGraph } from "./graph";
import { freshEdgeId, freshId, toId } from "./ids";
import { type Finding, Findings } from "./reading";
import type { AgentConfig } from "./role";
import { asTemplate } from "./template";

const COLUMN = 340;
const LANE = 180;

type Member = Pick<AgentConfig, "agent_id" | "role_name">;
type NodeInput = z.input<typeof WorkflowGraph>["nodes"][string];
type EdgeInput = z.input<typeof WorkflowGraph>["edges"][number];

/**
 * A custom pattern as a workflow: each step an agent task that reports its outcome, with a router behind it. A target
 * is a step's name, else an agent who has one step; else the run ends there, and a warning says so. `members`: who
 * the agents are; an agent that is not among them works in the role of its own name.
 */
export function compilePattern(
  pattern: CustomPattern,
  members: readonly Member[] = [],
): { graph: WorkflowGraph; warnings: Finding[] } {
  const findings = new Findings();
  const nodes = new Map<string, NodeInput>();
  const edges: EdgeInput[] = [];
  const connect = (from: string, to: string, edge_label?: string) => {
    const id = freshEdgeId(edges.map((edge) => edge.id));
    edges.push({ id, source_node_id: from, target_node_id: to, ...(edge_label ? { edge_label } : {}) });
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
  const placed = pattern.workflow.map((step, at) => {
    const outcomes = outcomesOf(step);
    if (pattern.workflow.findIndex((other) => other.step === step.step) < at)
      findings.changed(`workflow.${at}.step`, `Two steps are called "${step.step}"; targets mean the first.`);
    const id = add(toId(step.step) || `step_${at + 1}`, (own) => taskNode(own, step, outcomes, members));
    return { step, at, id, outcomes };
  });
  connect("start", placed[0]!.id);

  const ends = new Map<string, string>();
  const endAt = (name: string) => {
    const known = ends.get(name);
    if (known !== undefined) return known;
    const id = add(toId(`end_${name}`) || "end", (own) => ({
      id: own,
      node_type: "end",
      name: name.slice(0, 200),
      input_keys: ["summary"],
    }));
    ends.set(name, id);
    return id;
  };
  const find = (target: string, at: string): string => {
    const step = placed.find((other) => other.step.step === target);
    if (step) return step.id;
    const ofAgent = placed.filter((other) => other.step.agent === target);
    if (ofAgent.length === 1) return ofAgent[0]!.id;
    findings.changed(
      at,
      ofAgent.length > 1
        ? `"${target}" has several steps (${ofAgent.map(({ step: { step } }) => step).join(", ")}); name one of them. Until then the work ends there.`
        : `There is no step and no agent with a step called "${target}"; the work ends there.`,
    );
    return endAt(target);
  };
  for (const { step, at, id, outcomes } of placed) {
    if (outcomes.length === 0) {
      connect(id, endAt("Done"));
      continue;
    }
    const router = add(`${id.slice(0, 56)}_router`, (own) => ({
      id: own,
      node_type: "conditional_router",
      name: `After ${words(step.step)}`.slice(0, 200),
      input_keys: ["outcome"],
      config: {
        kind: "expression",
        conditions: outcomes.map(({ outcome }) => ({
          label: outcome.slice(0, 200),
          when: `state.outcome == ${JSON.stringify(outcome)}`,
        })),
      },
    }));
    connect(id, router);
    for (const { key, outcome, target } of outcomes)
      connect(router, find(target, `workflow.${at}.${key}`), outcome.slice(0, 200));
  }

  const graph = WorkflowGraph.parse({
    graph_id: toId(pattern.name) || "pattern",
    description: `Made from the pattern "${pattern.name}".`,
    start_node_id: "start",
    nodes: Object.fromEntries(layOut(nodes, edges)),
    edges,
  });
  return { graph, warnings: findings.all() };
}

const REQUEST = {
  type: "object",
  properties: { user_request: { type: "string", title: "What should be done?" } },
  required: ["user_request"],
};

/** `code_review` -> `Code review`. */
function words(name: string): string {
  const plain = name.replace(/[_-]+/g, " ").trim() || name;
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

function taskNode(
  id: string,
  step: PatternStep,
  outcomes: readonly { outcome: string }[],
  members: readonly Member[],
): NodeInput {
  const member = members.find(({ agent_id }) => agent_id === step.agent);
  const what = asTemplate(step.description ?? words(step.step));
  const summary = { type: "string", description: "What was done, with everything that the next step needs" };
  const outcome = { type: "string", enum: outcomes.map((one) => one.outcome), description: "How it went" };
  return {
    id,
    node_type: "agent_task",
    name: words(step.step).slice(0, 200),
    input_keys: ["user_request"],
    optional_input_keys: ["summary"],
    output_keys: outcomes.length > 0 ? ["outcome", "summary"] : ["summary"],
    config: {
      required_role: member?.role_name ?? step.agent,
      ...(member ? { agent_id: member.agent_id } : {}),
      task_description_template: `${what}\n\nThe request: {{user_request}}\n\nWhat the step before reported:\n{{summary | default: "This is the first step."}}`,
      output_schema: {
        type: "object",
        properties: outcomes.length > 0 ? { outcome, summary } : { summary },
        required: outcomes.length > 0 ? ["outcome", "summary"] : ["summary"],
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
