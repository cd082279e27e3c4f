import { z } from "zod";
import { Breakpoint, MOST_BREAKPOINTS } from "@/server/domain/agent/breakpoint/breakpoint";
import type { RunConfig } from "@/server/domain/agent/outcome";
import { Json, StateKey } from "@/server/domain/base/values";
import type { Analysis } from "@/server/domain/graph/analysis";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import type { NewEventOf, RunEvent } from "../events";
import { agentsOfNode } from "../node-agents";
import { isAhead } from "../schedule/reach";
import type { RunState } from "../state";
import { retryError, skipError, stateEditError } from "./command-errors";
import { InstructionTarget, LONGEST_INSTRUCTION } from "./instructions";
import { nextAgentError, nextNodeError } from "./override";
import { signalError } from "./signals";
import { crewNow, TeamCommand } from "./team-edit";
import { teamError } from "./team-error";

/** Why nobody would read an instruction, in a sentence; null where somebody may. */
function instructionError(a: Analysis, s: RunState, target: InstructionTarget): string | null {
  const nodes = Object.values(s.graph.nodes);
  const agentsOf = (node: WorkflowNode) =>
    s.team_changes[node.id]
      ? (crewNow(s, node.id)?.agents ?? []).map(({ agent_id }) => agent_id)
      : agentsOfNode(node);
  if ("node_id" in target) {
    const node = Object.hasOwn(s.graph.nodes, target.node_id) ? s.graph.nodes[target.node_id] : undefined;
    if (!node) return `This workflow has no node "${target.node_id}".`;
    const name = node.name || node.id;
    if (agentsOf(node).length === 0) return `${name} calls no model, so the message would not be read.`;
    return isAhead(a, s, node.id) ? null : `${name} has finished and can't run again.`;
  }
  if ("agent_id" in target) {
    const { agent_id } = target;
    const own = nodes.filter((node) => agentsOf(node).includes(agent_id));
    if (own.length === 0) {
      const known = [...new Set(nodes.flatMap(agentsOf))];
      const others = known.length > 0 ? ` Its agents: ${known.join(", ")}.` : "";
      return `This workflow has no agent "${agent_id}".${others}`;
    }
    return own.some(({ id }) => isAhead(a, s, id)) ? null : `${agent_id} has finished its work in this run.`;
  }
  const isRead = nodes.some((node) => agentsOf(node).length > 0 && isAhead(a, s, node.id));
  return isRead ? null : "No model calls are left in this run, so the message would not be read.";
}

const Granularity = z.enum(["node", "turn"]);

/** What people tell a run under way, by kind. */
export const RunCommand = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("pause"), now: z.boolean().optional() }),
  z.object({ kind: z.literal("resume") }),
  z.object({ kind: z.literal("step"), granularity: Granularity.default("node") }),
  z.object({
    kind: z.literal("set_breakpoints"),
    breakpoints: z.array(Breakpoint).max(MOST_BREAKPOINTS),
  }),
  z.object({ kind: z.literal("edit_state"), set: z.record(StateKey, Json), remove: z.array(StateKey) }),
  z.object({ kind: z.literal("override_next"), activation_id: z.string(), to: z.string() }),
  z.object({ kind: z.literal("override_agent"), activation_id: z.string(), agent_id: z.string() }),
  z.object({ kind: z.literal("signal"), name: z.string().min(1).max(80), data: Json }),
  z.object({ kind: z.literal("retry_node"), activation_id: z.string() }),
  z.object({
    kind: z.literal("inject"),
    target: InstructionTarget,
    text: z.string().trim().min(1).max(LONGEST_INSTRUCTION),
  }),
  z.object({
    kind: z.literal("skip_node"),
    activation_id: z.string(),
    output: z.record(StateKey, Json),
    labels: z.array(z.string()).optional(),
  }),
  TeamCommand,
]);
export type RunCommand = z.infer<typeof RunCommand>;

/** What a person did by a command, for the audit. */
export const COMMAND_LABELS: Readonly<Record<RunCommand["kind"], string>> = {
  pause: "Paused a run",
  resume: "Resumed a run",
  step: "Stepped a paused run",
  set_breakpoints: "Changed the breakpoints of a run",
  edit_state: "Edited the state of a run",
  override_next: "Overrode the next node of a run",
  override_agent: "Overrode the next agent of a crew",
  signal: "Sent a signal to a run",
  retry_node: "Retried a node of a run",
  inject: "Messaged agents of a run",
  skip_node: "Skipped a node of a run",
  edit_team: "Edited the team of a crew",
};

const DROPPED_WARNINGS: ReadonlySet<string> = new Set(["COMMAND_TOO_LATE", "PLAN_EDIT_REFUSED"]);

/** The warning in a run's log about a command that is not applied. */
export const tooLateEvent = (message: string): NewEventOf<"warning"> => ({
  type: "warning",
  payload: { code: "COMMAND_TOO_LATE", message },
});

/** The same for a command that was accepted and that the run ended without. */
export const dropped = (command_id: string): NewEventOf<"warning"> => ({
  ...tooLateEvent(`The run ended before it applied an accepted command (${command_id}).`),
  command_id,
});

/** Why a command came too late, by the run's events about it; null if it took effect or still may. */
export function tooLate(heard: readonly RunEvent[] | "ended" | null): string | null {
  if (heard === "ended") return "This run has ended.";
  const late = heard?.find((event) => event.type === "warning" && DROPPED_WARNINGS.has(event.payload.code));
  return late?.type === "warning" ? late.payload.message : null;
}

/** Why a run can't take a command in its present state, in a sentence; null if it can. */
export function commandError(a: Analysis, s: RunState, command: RunCommand): string | null {
  if (s.run.status === "finished" && command.kind !== "retry_node") return "This run has ended.";
  switch (command.kind) {
    case "pause":
      return s.run.paused_at && !command.now ? "This run is already paused." : null;
    case "resume":
    case "step":
      return s.run.paused_at ? null : "This run is not paused. Pause it first.";
    case "set_breakpoints":
      return unknownPlace(s.graph, command.breakpoints);
    case "edit_state":
      return stateEditError(s, command);
    case "override_next":
      return nextNodeError(a, s, command);
    case "override_agent":
      return nextAgentError(s, command);
    case "signal":
      return signalError(s, command, (id) => isAhead(a, s, id));
    case "retry_node":
      return retryError(s, command);
    case "inject":
      return instructionError(a, s, command.target);
    case "skip_node":
      return skipError(a, s, command);
    case "edit_team":
      return teamError(a, s, command);
    default:
      return command satisfies never;
  }
}

/** The error for a breakpoint or stop that the workflow doesn't have, or null. */
export const unknownStop = (
  graph: Pick<WorkflowGraph, "nodes" | "edges">,
  { breakpoints = [], stop_at }: Partial<Pick<RunConfig, "breakpoints" | "stop_at">>,
): string | null =>
  unknownPlace(graph, [
    ...breakpoints,
    ...(stop_at === undefined ? [] : [{ on: "node_start" as const, node_id: stop_at }]),
  ]);

/** The error for a breakpoint whose node or edge the workflow doesn't have, or null. */
function unknownPlace(
  graph: Pick<WorkflowGraph, "nodes" | "edges">,
  breakpoints: readonly Breakpoint[],
): string | null {
  for (const { node_id, edge_id } of breakpoints) {
    if (node_id !== undefined && !Object.hasOwn(graph.nodes, node_id))
      return `This workflow has no node "${node_id}".`;
    if (edge_id !== undefined && !graph.edges.some(({ id }) => id === edge_id))
      return `This workflow has no connection "${edge_id}".`;
  }
  return null;
}
