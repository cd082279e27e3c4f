import { z } from "zod";
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
  needs: "run",
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
export async function sendCommand(
  services: Services,
  run_id: string,
  command: RunCommand,
  { by, note }: Caller,
) {
  const { run, state } = atHand(services, run_id);
  const error = commandError(analyse(state.graph), state, command);
  if (run.status === "finished" && (error !== null || command.kind !== "retry_node"))
    throw new Rejection("run_ended", error ?? "This run has ended.", { final_status: run.final_status });
  if (error !== null) throw new Rejection("not_now", error, { status: run.status });
  const receipt = await services.host.steering.command(run_id, command, by);
  note("run_controlled", { run_id, workflow_id: run.workflow_id, command: command.kind });
  const accepted = acceptedBy(services, run_id, receipt);
  const now = known(services, run_id);
  return {
    run_id,
    ...accepted,
    ...toRun(now.run, now.run.last_seq, now.state, services.engine.place(run_id)),
  };
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
    summary: "Pauses a run",
    about:
      "From then on nothing begins: no node, no turn of an agent, no call of a model or a tool. What is under way comes to its end, unless `now` is true: calls of models, and of tools that only read, are then given up, and made again when the run goes on; a tool that may change something comes to its end all the same. A paused run survives a restart, its clocks stand still, and its questions can be answered.",
    input: ByRun.extend({ now: z.boolean().optional() }),
    http: route("pause", "It is paused"),
    cli: [{ form: "pause RUN [--now]" }],
    run: (services, { run_id, now }, caller) =>
      sendCommand(services, run_id, { kind: "pause", ...(now === undefined ? {} : { now }) }, caller),
  }),

  resume: mutation({
    ...controlOperation,
    name: "resumeRun",
    summary: "Lets a paused run go on",
    about: "To its end, or to the next breakpoint.",
    input: ByRun,
    http: route("resume", "It goes on"),
    cli: [{ form: "resume RUN" }],
    run: (services, { run_id }, caller) => sendCommand(services, run_id, { kind: "resume" }, caller),
  }),

  step: mutation({
    ...controlOperation,
    name: "stepRun",
    summary: "Lets a paused run go on by one step",
    about:
      "`node`: to the next node, which is paused before it begins. `turn`: to the next turn of an agent, or the next node where that comes first. Nodes then begin one after the other.",
    input: ByRun.extend({ granularity: z.enum(["node", "turn"]).default("node") }),
    http: route("step", "It goes on by a step"),
    cli: [{ form: "step RUN [--turn]", fields: { turn: () => ({ granularity: "turn" }) } }],
    run: (services, { run_id, granularity }, caller) =>
      sendCommand(services, run_id, { kind: "step", granularity }, caller),
  }),

  setBreakpoints: mutation({
    ...controlOperation,
    name: "setRunBreakpoints",
    summary: "Sets the breakpoints of a run",
    about:
      "All of them: those that are not named any more are gone. A condition is CEL over `state`, `nodes`, `input` and `run`; where it cannot be evaluated it counts as false.",
    input: ByRun.extend({ breakpoints: z.array(CheckedBreakpoint).max(MOST_BREAKPOINTS) }),
    http: route("breakpoints", "They hold from now on"),
    run: (services, { run_id, breakpoints }, caller) =>
      sendCommand(services, run_id, { kind: "set_breakpoints", breakpoints }, caller),
  }),

  editState: mutation({
    ...controlOperation,
    name: "editRunState",
    summary: "Changes the state of a paused run",
    about:
      "Sets and removes keys. What does not fit the workflow's schema of the state, or is too large, is refused. A running node that read one of these keys begins again when the run continues, unless something outside was asked already: then it keeps what it read, and so does a node whose output is of the old value. `warnings` names both.",
    input: ByRun.extend({
      set: z.record(StateKey, Json).default({}),
      remove: z.array(StateKey).max(1_000).default([]),
    }),
    http: route("state", "The state is changed"),
    cli: [
      { form: "set RUN KEY=VALUE...", summary: "Sets a key of the state", fields: { "key=value": "set" } },
      { form: "remove RUN KEY...", summary: "Removes a key of the state", fields: { key: "remove" } },
    ],
    run: (services, { run_id, set, remove }, caller) =>
      sendCommand(services, run_id, { kind: "edit_state", set, remove }, caller),
  }),

  retry: mutation({
    ...controlOperation,
    name: "retryRunNode",
    summary: "Tries a failed node again",
    about:
      "A node that failed and with it the run, by `activation_id`, or by `node_id` for its newest activation. Its next attempt begins anew, with the state as it is now. A run that had ended with `ERROR` because of it goes on, with all else that it had yet to do; one that is paused tries it once it goes on. One that waits for its next attempt begins it at once. 409 where the run took another way because of the failure: fork it instead.",
    input: ByRun.extend({ activation_id: z.string().optional(), node_id: z.string().optional() }),
    http: route("retry", "It is tried again"),
    cli: [{ form: "retry RUN NODE" }],
    run(services, { run_id, ...which }, caller) {
      const activation_id = activationOf(known(services, run_id).state, which);
      if (activation_id === undefined)
        throw new Rejection("not_now", "Say which node to try again: one that failed.");
      return sendCommand(services, run_id, { kind: "retry_node", activation_id }, caller);
    },
  }),

  override: mutation({
    ...controlOperation,
    name: "overrideRunNext",
    summary: "Chooses what comes next",
    about:
      "With `to`: the node to which the run goes after an activation, by `activation_id` or `node_id`, whatever a router chooses. It has to be one that a way leads to, and nothing may have begun after it yet: at its end, or right now where the run is paused there. With `agent_id`: the next agent of a crew at work: to whom the work is handed (also instead of its end) in a swarm, who does the next task of a plan, to whom a manager's next message goes, whose step of a pattern is next. Members of a vote are all asked at once, so none is next. A choice that nothing came of is told in the run's warnings.",
    input: ByRun.extend({
      activation_id: z.string().optional(),
      node_id: z.string().optional(),
      to: z.string().optional(),
      agent_id: z.string().optional(),
    }),
    http: route("override", "It is chosen"),
    cli: [
      {
        form: "next RUN NODE [TO] [--agent AGENT]",
        summary: "Chooses what comes after a node: another node, or an agent of its crew",
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
          "Say after which node, one that has begun, and what comes next: a node (`to`) or an agent (`agent_id`).",
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
    summary: "Sends a run a signal",
    about:
      "Every `wait` node that waits for a signal of this name goes on, with `data` as its output: its output keys are taken from the object, or the one key gets all of it. Where none waits yet the signal is kept for the first that comes to it. 409 where nothing in the workflow waits for it, or not any more.",
    input: ByRun.extend({ name: z.string().min(1).max(80), data: Json.default(null) }),
    http: route("signals", "It is sent"),
    cli: [{ form: "signal RUN NAME [VALUE] [--data VALUE]", fields: { value: "data" } }],
    run: (services, { run_id, name, data }, caller) =>
      sendCommand(services, run_id, { kind: "signal", name, data }, caller),
  }),

  inject: mutation({
    ...controlOperation,
    name: "instructRun",
    summary: "Instructs agents of a run",
    about:
      "A person's words to everybody in the run (`{\"run\": true}`), to a node or to an agent. Each agent that is meant reads them before its next call of a model, to the end of the run, also where it begins later; one that was just answering is asked once more. They count as a person's own words where it is judged what agents may do. A run that ends before anybody read them says so in its warnings.",
    input: ByRun.extend({
      target: InstructionTarget,
      text: z.string().trim().min(1).max(LONGEST_INSTRUCTION),
    }),
    http: route("inject", "It is told"),
    cli: [
      {
        form: "instruct RUN [@NAME] TEXT... [--node NODE] [--agent AGENT]",
        summary: "Instructs all agents of a run, those of a node, or one",
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
    summary: "Gives a node its output instead of carrying it out",
    about:
      "A node that is ready, at work or waiting, by `activation_id`, or by `node_id` where it is under way once. The output is checked as the node's own would be; a router also needs the `labels` that it chooses.",
    input: ByRun.extend({
      activation_id: z.string().optional(),
      node_id: z.string().optional(),
      output: z.record(StateKey, Json).default({}),
      labels: z.array(z.string()).optional(),
    }),
    http: route("skip", "It has that output"),
    cli: [
      {
        form: "skip RUN NODE [OUTPUT] [--set KEY=VALUE]... [--label LABEL]",
        fields: { set: "output", label: "labels" },
      },
    ],
    run(services, { run_id, output, labels, ...which }, caller) {
      const activation_id = activationOf(known(services, run_id).state, which);
      if (activation_id === undefined)
        throw new Rejection("not_now", "Say which node to skip: one that is ready, at work or waiting.");
      const labelled = labels ? { labels } : {};
      return sendCommand(services, run_id, { kind: "skip_node", activation_id, output, ...labelled }, caller);
    },
  }),
};
