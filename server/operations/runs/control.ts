import { z } from "zod";
import { senderOf } from "@/server/access/trusted";
import { MOST_BREAKPOINTS } from "@/server/domain/agent/breakpoint/breakpoint";
import { CheckedBreakpoint } from "@/server/domain/agent/breakpoint/breakpoint-check";
import { Json, StateKey } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import { analyse } from "@/server/domain/graph/analysis";
import type { RunState } from "@/server/domain/run";
import { commandError, type RunCommand } from "@/server/domain/run/commands/command";
import { InstructionTarget, LONGEST_INSTRUCTION } from "@/server/domain/run/commands/instructions";
import { agentsOfNode } from "@/server/domain/run/node-agents";
import { type Caller, operationsOf } from "../operation";
import type { Services } from "../services";
import { Run } from "./run-schemas";
import { toRun } from "./run-view";
import { ByRun, known } from "./runs";
import { Accepted, acceptedBy, atHand, PENDING, REFUSALS } from "./steering";

const { mutation } = operationsOf("Runs");

/** The run as it stands once it was told. */
export const ControlledRun = Run.extend({ run_id: z.string(), ...Accepted.shape });

/** What all commands to a run have in common. */
export const controlOperation = {
  needs: ["run", "read"],
  output: ControlledRun,
  problems: REFUSALS,
  audits: ["run_controlled"],
} as const;

export const route = (path: string, success: string) => ({
  route: `POST /runs/{id}/${path}` as const,
  success,
  pending: PENDING,
});

/** Tells a run something that fits, and answers how it stands then. Throws Rejection, also where it came too late. */
export async function sendCommand(services: Services, run_id: string, command: RunCommand, caller: Caller) {
  const { run, state } = atHand(services, run_id);
  const error = commandError(analyse(state.graph), state, command);
  if (run.status === "finished" && (error !== null || command.kind !== "retry_node"))
    throw new Rejection("run_ended", error ?? "This run has ended.", { final_status: run.final_status });
  const { kind } = command;
  const paused = kind === "step" || kind === "resume" ? pausedBelow(services, run_id) : undefined;
  if (error !== null && paused !== undefined)
    throw new Rejection(
      "not_now",
      `This run waits for its child run ${paused}, which is paused. Send the command to that run: POST /api/v1/runs/${paused}/${kind}.`,
      { status: run.status, child_run: paused },
    );
  if (error !== null) throw new Rejection("not_now", error, { status: run.status });
  const { by, untrusted } = senderOf(caller);
  const receipt = await services.host.steering.command(run_id, command, by, untrusted);
  caller.note("run_controlled", { run_id, workflow_id: run.workflow_id, command: command.kind });
  const accepted = acceptedBy(services, run_id, receipt);
  const now = known(services, run_id);
  return {
    run_id,
    ...accepted,
    ...toRun(now.run, now.run.last_seq, now.state, services.engine.place(run_id)),
  };
}

/** A paused run that this one waits for, at any depth. */
function pausedBelow(services: Services, run_id: string): string | undefined {
  for (const child of services.runs.openChildren(run_id)) {
    const isPaused = services.runs.find(child)?.status === "paused";
    const found = isPaused ? child : pausedBelow(services, child);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The activation that is named, or the newest of the node that is. */
const activationOf = (
  { nodes }: RunState,
  { activation_id, node_id }: { activation_id?: string | undefined; node_id?: string | undefined },
): string | undefined => activation_id ?? (node_id === undefined ? undefined : nodes[node_id]?.activation);

/** How people hold a run, go through it and change it on the way. */
export const controlOperations = {
  pause: mutation({
    ...controlOperation,
    name: "pauseRun",
    summary: "Pause a run",
    about:
      "Nothing new starts: no node, agent turn, model call or tool call. Active work finishes first, unless `now` is true: then model calls and read-only tool calls are aborted and repeated when the run resumes; a tool that may have side effects always finishes. A paused run survives restarts, its clocks stop, and its questions can be answered.",
    input: ByRun.extend({ now: z.boolean().optional() }),
    http: route("pause", "Paused"),
    cli: [{ form: "pause RUN [--now]" }],
    run: (services, { run_id, now }, caller) =>
      sendCommand(services, run_id, { kind: "pause", ...(now === undefined ? {} : { now }) }, caller),
  }),

  resume: mutation({
    ...controlOperation,
    name: "resumeRun",
    summary: "Resume a run",
    about: "Continues to its end or the next breakpoint.",
    input: ByRun,
    http: route("resume", "Resumed"),
    cli: [{ form: "resume RUN" }],
    run: (services, { run_id }, caller) => sendCommand(services, run_id, { kind: "resume" }, caller),
  }),

  step: mutation({
    ...controlOperation,
    name: "stepRun",
    summary: "Step a run",
    about:
      "`node`: to the next node, pausing before it starts. `turn`: to the next agent turn, or the next node if that comes first. While stepping, nodes start one at a time.",
    input: ByRun.extend({ granularity: z.enum(["node", "turn"]).default("node") }),
    http: route("step", "Resumed for one step"),
    cli: [{ form: "step RUN [--turn]", fields: { turn: () => ({ granularity: "turn" }) } }],
    run: (services, { run_id, granularity }, caller) =>
      sendCommand(services, run_id, { kind: "step", granularity }, caller),
  }),

  setBreakpoints: mutation({
    ...controlOperation,
    name: "setRunBreakpoints",
    summary: "Set a run's breakpoints",
    about:
      "Replaces all breakpoints. A condition is CEL over `state`, `nodes`, `input` and `run`; if it can't be evaluated, it counts as false.",
    input: ByRun.extend({ breakpoints: z.array(CheckedBreakpoint).max(MOST_BREAKPOINTS) }),
    http: route("breakpoints", "Breakpoints set"),
    run: (services, { run_id, breakpoints }, caller) =>
      sendCommand(services, run_id, { kind: "set_breakpoints", breakpoints }, caller),
  }),

  editState: mutation({
    ...controlOperation,
    name: "editRunState",
    summary: "Edit the state of a paused run",
    about:
      "Sets and removes keys. Values that violate the workflow's state schema or are too large are rejected. A running node that read one of these keys restarts when the run resumes, unless it has already called something outside the run; then it keeps the old value, as does a node whose output is based on it. `warnings` lists both.",
    input: ByRun.extend({
      set: z.record(StateKey, Json).default({}),
      remove: z.array(StateKey).max(1_000).default([]),
    }),
    http: route("state", "State edited"),
    cli: [
      { form: "set RUN KEY=VALUE...", summary: "Set a state key", fields: { "key=value": "set" } },
      { form: "remove RUN KEY...", summary: "Remove a state key", fields: { key: "remove" } },
    ],
    run: (services, { run_id, set, remove }, caller) =>
      sendCommand(services, run_id, { kind: "edit_state", set, remove }, caller),
  }),

  retry: mutation({
    ...controlOperation,
    name: "retryRunNode",
    summary: "Retry a node",
    about:
      "Retries a failed node, identified by `activation_id`, or by `node_id` for its latest activation. The next attempt starts over with the current state. A run that ended with `ERROR` because of the failure continues with all remaining work; a paused run retries the node once resumed; a node waiting for its next attempt starts immediately. 409 if the run took another route because of the failure: fork it instead.",
    input: ByRun.extend({ activation_id: z.string().optional(), node_id: z.string().optional() }),
    http: route("retry", "Retrying"),
    cli: [{ form: "retry RUN NODE" }],
    run(services, { run_id, ...which }, caller) {
      const activation_id = activationOf(known(services, run_id).state, which);
      if (activation_id === undefined) throw new Rejection("not_now", "Specify a failed node to retry.");
      return sendCommand(services, run_id, { kind: "retry_node", activation_id }, caller);
    },
  }),

  override: mutation({
    ...controlOperation,
    name: "overrideRunNext",
    summary: "Override what comes next",
    about:
      "With `to`: sets the node that follows an activation (identified by `activation_id` or `node_id`), regardless of what a router chooses. An edge must lead to that node, and nothing after the activation can have started. It applies when the activation ends, or immediately if the run is paused there. With `agent_id`: sets the next agent of a running crew: the agent that a swarm hands off to (even if it would end), that does the plan's next task, that receives the manager's next message, or whose pattern step is next. Voting crews can't be overridden, because all members are asked at once. An override that had no effect is reported in the run's warnings.",
    input: ByRun.extend({
      activation_id: z.string().optional(),
      node_id: z.string().optional(),
      to: z.string().optional(),
      agent_id: z.string().optional(),
    }),
    http: route("override", "Overridden"),
    cli: [
      {
        form: "next RUN NODE [TO] [--agent AGENT]",
        summary: "Override what follows a node: another node, or an agent of its crew",
        fields: { agent: "agent_id" },
      },
    ],
    run(services, { run_id, to: next, agent_id: agent, ...which }, caller) {
      const { state } = known(services, run_id);
      const activation_id = activationOf(state, which);
      // What is no node may be a member of the crew.
      const members = state.crews[activation_id ?? ""]?.members ?? [];
      const isMember = members.some((member) => member.agent_id === next);
      const isAgent = next !== undefined && !Object.hasOwn(state.graph.nodes, next) && isMember;
      const [to, agent_id] = isAgent && agent === undefined ? [undefined, next] : [next, agent];
      if (activation_id === undefined || (to === undefined) === (agent_id === undefined))
        throw new Rejection(
          "not_now",
          "Specify a node that has started, and what comes next: a node (`to`) or an agent (`agent_id`).",
        );
      return sendCommand(
        services,
        run_id,
        to === undefined
          ? { kind: "override_agent", activation_id, agent_id: agent_id ?? "" }
          : { kind: "override_next", activation_id, to },
        caller,
      );
    },
  }),

  signal: mutation({
    ...controlOperation,
    name: "signalRun",
    summary: "Send a signal",
    about:
      "Every `wait` node waiting for a signal of this name continues with `data` as its output: its output keys are taken from the object, or a single key gets all of it. If none is waiting yet, the signal is kept for the first one that does. 409 if no node in the workflow waits for it, or none will wait for it again.",
    input: ByRun.extend({ name: z.string().min(1).max(80), data: Json.default(null) }),
    http: route("signals", "Sent"),
    cli: [{ form: "signal RUN NAME [VALUE] [--data VALUE]", fields: { value: "data" } }],
    run: (services, { run_id, name, data }, caller) =>
      sendCommand(services, run_id, { kind: "signal", name, data }, caller),
  }),

  inject: mutation({
    ...controlOperation,
    name: "instructRun",
    summary: "Message agents in a run",
    about:
      "Sends a person's message to all agents of the run (`{\"run\": true}`), of a node, or to a single agent. Each agent reads it before its next model call, until the end of the run, even if the agent starts later; an agent that is answering now is called again. For agents' permissions, messages count as a person's own instructions. If the run ends before any agent reads the message, its warnings say so.",
    input: ByRun.extend({
      target: InstructionTarget,
      text: z.string().trim().min(1).max(LONGEST_INSTRUCTION),
    }),
    http: route("inject", "Message sent"),
    cli: [
      {
        form: "instruct RUN [@NAME] TEXT... [--node NODE] [--agent AGENT]",
        summary: "Message all agents of a run, all agents of a node, or a single agent",
        fields: {
          "@name": (name) => ({ target: { agent_id: name.slice(1) } }),
          node: (node_id) => ({ target: { node_id } }),
          agent: (agent_id) => ({ target: { agent_id } }),
        },
        defaults: { target: { run: true } },
      },
    ],
    run(services, { run_id, target: named, text }, caller) {
      const { graph } = known(services, run_id).state;
      const id = "agent_id" in named ? named.agent_id : "";
      const isAgent = Object.values(graph.nodes).some((node) => agentsOfNode(node).includes(id));
      // A target that isn't an agent may be a node.
      const target = !isAgent && Object.hasOwn(graph.nodes, id) ? { node_id: id } : named;
      return sendCommand(services, run_id, { kind: "inject", target, text }, caller);
    },
  }),

  skip: mutation({
    ...controlOperation,
    name: "skipRunNode",
    summary: "Skip a node",
    about:
      "Sets the output of a ready, running or waiting node instead of executing it. Identify the node by `activation_id`, or by `node_id` if it has only one active activation. The output is validated like the node's own; a router also needs the `labels` of the routes to take.",
    input: ByRun.extend({
      activation_id: z.string().optional(),
      node_id: z.string().optional(),
      output: z.record(StateKey, Json).default({}),
      labels: z.array(z.string()).optional(),
    }),
    http: route("skip", "Skipped with this output"),
    cli: [
      {
        form: "skip RUN NODE [OUTPUT] [--set KEY=VALUE]... [--label LABEL]",
        fields: { set: "output", label: "labels" },
      },
    ],
    run(services, { run_id, output, labels, ...which }, caller) {
      const activation_id = activationOf(known(services, run_id).state, which);
      if (activation_id === undefined)
        throw new Rejection("not_now", "Specify a node that is ready, running or waiting.");
      const labelled = labels ? { labels } : {};
      return sendCommand(services, run_id, { kind: "skip_node", activation_id, output, ...labelled }, caller);
    },
  }),
};
