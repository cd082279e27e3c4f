import { systemPrompt } from "@/server/domain/agent/prompt";
import { type AgentConfig, llmOver, type RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { CrewConfig } from "@/server/domain/crew/crew";
import { customPatterns } from "@/server/domain/crew/pattern";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import { type Analysis, analyse } from "@/server/domain/graph/analysis";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { getNodeKind, isAgentNode, isCrewNode, isRouterNode } from "../nodes";
import type { ModelChoice } from "./model-uses";

/**
 * Rough estimate of a run before it starts: prompt sizes times rounds. It is a range, since the length of responses,
 * the number of tool calls and the iterations of loops are unknown; the assumptions are reported with it.
 */

/** From the least to the most likely. */
export type Range = readonly [least: number, most: number];

/** A part of a run that calls models. */
export interface EstimatedPart {
  node_id?: string;
  choice: ModelChoice;
  calls: Range;
  input_tokens: Range;
  output_tokens: Range;
  /** What the calls were counted from, as a phrase. */
  basis: string;
}

/** Tokens of an answer. */
const ANSWER: Range = [150, 900];
/** Tokens of the task, inputs and results in one call. */
const GIVEN: Range = [150, 1500];
/** Tokens of the prompt of an unknown role. */
const USUAL_ROLE = 300;
/** Turns with tools, and without: one correction. */
const MOST_TURNS = 5;
const PLANNED_TASKS: Range = [2, 8];
const MOST_LOOPS = 3;

export const ASSUMPTIONS = `Assumes responses of ${ANSWER[0]} to ${ANSWER[1]} tokens, ${GIVEN[0]} to ${GIVEN[1]} tokens of input per call, up to ${MOST_TURNS} turns with tools and up to ${MOST_LOOPS} loop iterations. Excludes delegated work and savings from provider caches.`;

type FindRole = (name: string) => RoleDefinition | undefined;

/** The estimate for each node that calls models, in graph order. */
export function estimateRun(graph: WorkflowGraph, findRole: FindRole): EstimatedPart[] {
  const analysis = analyse(graph);
  const looping = new Set([...analysis.loops.values()].flatMap((nodes) => [...nodes]));
  return Object.values(graph.nodes).flatMap((node): EstimatedPart[] => {
    const part = partOf(node, findRole);
    if (!part) return [];
    const most = looping.has(node.id) ? Math.min(MOST_LOOPS, node.max_iterations ?? MOST_LOOPS) : 1;
    const least = mayBePassedBy(graph, analysis, node.id) ? 0 : 1;
    return [{ ...part, node_id: node.id, ...often(part, [least, most]) }];
  });
}

/** Whether a router can lead a run to its end without this node. */
function mayBePassedBy(graph: WorkflowGraph, { outgoing, start }: Analysis, id: string): boolean {
  const from = (origin: string, without?: string): Set<string> => {
    const reached = new Set(origin === without ? [] : [origin]);
    for (const one of reached)
      for (const { target_node_id } of outgoing.get(one) ?? [])
        if (target_node_id !== without) reached.add(target_node_id);
    return reached;
  };
  if (start === null) return false;
  const isBehindRouter = Object.values(graph.nodes).some(
    (node) => getNodeKind(node.node_type).routes && node.id !== id && from(node.id).has(id),
  );
  const isEnd = (one: string) => (outgoing.get(one) ?? []).length === 0;
  return isBehindRouter && [...from(start, id)].some(isEnd);
}

function partOf(node: WorkflowGraph["nodes"][string], findRole: FindRole): EstimatedPart | null {
  if (isAgentNode(node)) {
    const { required_role, agent, llm_config, max_iterations } = node.config;
    const role = findRole(agent?.role_name ?? required_role);
    if (role?.rule) return null;
    const turns = turnsOf(role, max_iterations ?? agent?.max_iterations);
    return made(
      llmOver(agent?.llm_config, llm_config),
      turns,
      sizeOf(role, 1),
      `${inRange(turns)} by the agent`,
    );
  }
  if (isCrewNode(node))
    return node.config.crew ? estimateCrew(node.config.crew, node.config.plan, findRole) : null;
  if (isRouterNode(node) && node.config.kind === "llm")
    return made(node.config.llm_config, [1, 1], USUAL_ROLE, "1 call to choose a route");
  return null;
}

/** The estimate of a crew for one goal. */
export function estimateCrew(
  crew: CrewConfig,
  plan: ExecutionPlan | undefined,
  findRole: FindRole,
): EstimatedPart {
  const { agents } = crew;
  const { calls, basis } = callsOf(crew, plan, findRole);
  const sizes = agents.map(({ role_name }) => sizeOf(findRole(role_name), agents.length));
  const size = sizes.reduce((sum, one) => sum + one, 0) / Math.max(1, sizes.length);
  const part = made(agents[0]?.llm_config, calls, size, basis);
  // A manager's conversation grows with every message.
  if (crew.process !== "hierarchical") return part;
  const grown = (at: 0 | 1) => Math.round(ANSWER[at] * (calls[at] / 2) ** 2);
  const [least, most] = part.input_tokens;
  return { ...part, input_tokens: [least + grown(0), most + grown(1)] };
}

function callsOf(
  crew: CrewConfig,
  plan: ExecutionPlan | undefined,
  findRole: FindRole,
): { calls: Range; basis: string } {
  const { agents, process, max_rounds, max_handoffs, consensus, samples, planning } = crew;
  const workers = agents.length - 1;
  const turns = widest(agents, findRole);
  const of = (least: number, most: number, basis: string) => ({
    calls: [least, Math.max(least, most)] as const,
    basis,
  });
  switch (process) {
    case "sequential":
    case "parallel":
      return taskCalls(planning ? 0 : (plan?.tasks.length ?? 0), plan?.success_criteria ?? [], turns);
    case "hierarchical":
      return of(
        2 * workers + 1,
        max_rounds * (1 + turns[1]),
        `${counted(workers, "member")} asked once each, up to ${max_rounds} manager rounds`,
      );
    case "swarm":
      return of(1, (max_handoffs + 1) * turns[1], `1 agent, up to ${max_handoffs} handoffs`);
    case "consensus":
      return of(
        1 + agents.length,
        2 + agents.length * consensus.rounds,
        `1 proposal, then 1 to ${consensus.rounds} rounds of ${agents.length} votes`,
      );
    case "sample":
      return of(samples * turns[0], samples * turns[1] + 1, `${samples} answers, ${inRange(turns)} each`);
    case "custom": {
      const steps = customPatterns(crew.collaboration_patterns)[0]?.workflow.length ?? 1;
      return of(
        steps,
        max_rounds * turns[1],
        `${counted(steps, "step")} once each, up to ${max_rounds} steps in total`,
      );
    }
  }
}

/** The calls for that many tasks; 0: the crew plans them first. */
function taskCalls(
  given: number,
  criteria: readonly string[],
  turns: Range,
): { calls: Range; basis: string } {
  const isJudged = criteria.some((criterion) => !criterion.startsWith("cel:"));
  const [least, most]: Range = isJudged ? [1, 3] : [0, 0];
  const check = isJudged ? ", plus checking the criteria" : "";
  if (given > 0)
    return {
      calls: [given * turns[0] + least, given * turns[1] + most],
      basis: `${counted(given, "task")}, ${inRange(turns)} each${check}`,
    };
  const [few, many] = PLANNED_TASKS;
  return {
    calls: [few * turns[0] + 1 + least, many * turns[1] + 1 + most],
    basis: `${few} to ${many} planned tasks, ${inRange(turns)} each${check}`,
  };
}

const turnsOf = (role: RoleDefinition | undefined, most = 10): Range => [
  1,
  (role?.tools.length ?? 0) > 0 ? Math.min(most, MOST_TURNS) : Math.min(most, 2),
];
const widest = (agents: readonly AgentConfig[], findRole: FindRole): Range => [
  1,
  Math.max(...agents.map((agent) => turnsOf(findRole(agent.role_name), agent.max_iterations)[1])),
];
const counted = (count: number, one: string) => `${count} ${count === 1 ? one : `${one}s`}`;
const inRange = ([least, most]: Range) =>
  least === most ? counted(least, "call") : `${least} to ${most} calls`;

/** Tokens of an agent's system message. */
function sizeOf(role: RoleDefinition | undefined, members: number): number {
  if (!role) return USUAL_ROLE;
  // A custom template may read values that are known only in a run.
  const own = role.system_prompt_template;
  const length = own ? own.length : systemPrompt(role, { hasTools: role.tools.length > 0 }).length;
  return Math.round(length / 4) + (members > 1 ? 35 * members : 0);
}

function made(choice: ModelChoice | undefined, calls: Range, size: number, basis: string): EstimatedPart {
  const { provider_id, model } = choice ?? {};
  return {
    choice: { ...defined({ provider_id: provider_id || undefined, model: model || undefined }) },
    calls,
    input_tokens: [Math.round(calls[0] * (size + GIVEN[0])), Math.round(calls[1] * (size + GIVEN[1]))],
    output_tokens: [calls[0] * ANSWER[0], calls[1] * ANSWER[1]],
    basis,
  };
}

function often(part: EstimatedPart, [least, most]: Range) {
  const times = (range: Range): Range => [range[0] * least, range[1] * most];
  return {
    calls: times(part.calls),
    input_tokens: times(part.input_tokens),
    output_tokens: times(part.output_tokens),
    basis: `${part.basis}${most > 1 ? `, ${least} to ${most} loop iterations` : least === 0 ? "; not in every run" : ""}`,
  };
}

/** All parts together. */
export function totalOf(
  parts: readonly Pick<EstimatedPart, "calls" | "input_tokens" | "output_tokens">[],
): Pick<EstimatedPart, "calls" | "input_tokens" | "output_tokens"> {
  const sum = (pick: "calls" | "input_tokens" | "output_tokens"): Range =>
    parts.reduce<Range>((total, part) => [total[0] + part[pick][0], total[1] + part[pick][1]], [0, 0]);
  return { calls: sum("calls"), input_tokens: sum("input_tokens"), output_tokens: sum("output_tokens") };
}
