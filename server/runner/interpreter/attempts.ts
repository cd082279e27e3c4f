import type { RunError } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import type { Durable, Settlement } from "@/server/domain/base/durable";
import { must, present } from "@/server/domain/base/must";
import { sizeOf } from "@/server/domain/base/sizes";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, NodeFailure, type NodeResult } from "@/server/domain/nodes";
import { durationText } from "@/server/domain/nodes/wait";
import { isSince } from "@/server/domain/run/edition";
import type { StatePatch } from "@/server/domain/run/fork/lineage";
import { complete, fail, isWanted, passThrough } from "@/server/domain/run/schedule/outcomes";
import { referring } from "@/server/domain/run/schedule/state-write";
import { keptText, type Reader } from "@/server/domain/run/state-reads";
import { NodeRun } from "../node/node-run";
import type { ReachedEnd } from "./ends";
import type { Engine } from "./engine";
import { toRunError } from "./node-error";
import { readInput } from "./node-input";
import type { RunLog } from "./run-log";
import { INLINE, NOTHING_TO_DO, type Steps } from "./steps";
import type { OpenAttempt, Outcome, Tasks } from "./tasks";

/** The attempts of a run's nodes: begins them, hands them their answers, records what became of them. */
export class Attempts {
  readonly ended: ReachedEnd[] = [];
  terminated = false;
  /** Results that are known and wait for their turn, in characters: the next node starts when they are fewer. */
  heldChars = 0;
  private timeouts = 0;
  private changed: { reader: Reader; by: string }[] = [];

  constructor(
    private readonly log: RunLog,
    private readonly tasks: Tasks,
    private readonly steps: Steps,
    private readonly engine: Engine,
  ) {}

  /** Starts an activation's first attempt; true if it was over at once. */
  start(id: string, node: WorkflowNode): boolean {
    const wanted = isWanted(this.log.s, node, this.log.at);
    if (wanted === false) {
      const passed = passThrough(this.log.a, this.log.s, id, this.log.at);
      if ("error" in passed) this.refuse(id, node, passed.error);
      else this.log.applyAll(passed.events);
    } else if (wanted === true) this.begin(id, node);
    else this.refuse(id, node, wanted.error);
    return !this.tasks.has(id);
  }

  /** A node whose output is pinned gives that at once; every other makes its next attempt. */
  private begin(id: string, node: WorkflowNode): void {
    const pin = this.log.s.run.pins?.[node.id];
    const attempt = this.attemptsOf(id) + 1;
    if (!pin) return this.attempt(id, node, attempt);
    const { input } = readInput(this.log.s, node, this.log.at);
    const at = { node_id: node.id, activation_id: id };
    this.log.apply({
      type: "node_started",
      ...at,
      payload: { attempt, ...referring(this.log.s.state, input) },
    });
    this.log.applyAll(complete(this.log.a, this.log.s, id, { ...pin, pinned: true }, this.log.at));
  }

  /** A node fails before it could begin. No further attempt: the same state gives the same answer. */
  private refuse(id: string, node: WorkflowNode, error: RunError): void {
    const at = { node_id: node.id, activation_id: id };
    const attempt = this.attemptsOf(id) + 1;
    this.log.apply({ type: "node_started", ...at, payload: { attempt, input: {} } });
    this.log.applyAll(fail(this.log.a, this.log.s, id, error, this.log.at, false));
  }

  /** How many attempts it has made: none, unless a person has it tried again. */
  private attemptsOf(id: string): number {
    return must(this.log.s.activations, id).attempt;
  }

  attempt(id: string, node: WorkflowNode, attempt: number): void {
    const { s } = this.log;
    const read = readInput(s, node, this.log.at);
    this.log.apply({
      type: "node_started",
      node_id: node.id,
      activation_id: id,
      payload: { attempt, ...referring(s.state, read.input) },
    });
    if (read.error) {
      this.log.applyAll(fail(this.log.a, s, id, read.error, this.log.at));
      this.retryIfAsked(id);
      return;
    }
    const kind = getNodeKind(node.node_type);
    const run = new NodeRun(this.engine, id, node, attempt, read.input);
    const flow = must(kind, "run")(node.config, run);
    const first = settle(() => flow.next());
    if ("error" in first) return this.wasKnown(id, attempt, first);
    const { step } = first;
    if (step.done) return this.wasKnown(id, attempt, { result: step.value });
    const task: OpenAttempt = { activationId: id, flow, waits: [], timeout: null };
    this.tasks.add(task);
    this.armTimeout(task);
    this.tasks.waitForAll(task, step.value);
  }

  /** An attempt that needed nothing external can be recomputed, so it needs no record of its own. */
  private wasKnown(id: string, attempt: number, known: Outcome): void {
    this.heldChars += heldBy(known);
    const handle = this.engine.context.step(`${id}/${attempt}`, NOTHING_TO_DO, INLINE);
    const task: OpenAttempt = { activationId: id, flow: null, waits: [handle], timeout: null, known };
    this.tasks.add(task);
    this.tasks.wait(task, handle);
  }

  /** Begins the time that an attempt may take. */
  armTimeout(task: OpenAttempt): void {
    const node = this.nodeOf(task.activationId);
    const ms = timeoutOf(node);
    if (!ms || this.engine.escalation.isAsking) return;
    task.timeout = this.engine.context.timeout(`${task.activationId}/timeout${++this.timeouts}`, ms);
    this.tasks.wait(task, task.timeout);
  }

  /** Gives a task an answer that it waits for. */
  hand(task: OpenAttempt, answer: Settlement): void {
    if (task.timeout?.key === answer.key) {
      const node = this.nodeOf(task.activationId);
      this.over(task, {
        error: new NodeFailure(
          "TIMEOUT",
          `${node.name || node.id} timed out after ${durationText(timeoutOf(node))}.`,
          { retryable: true, user_action: "retry" },
        ),
      });
      return;
    }
    if (task.retry !== undefined) {
      this.tasks.release(task);
      this.attempt(task.activationId, this.nodeOf(task.activationId), task.retry);
      return;
    }
    if (task.known) {
      this.heldChars -= heldBy(task.known);
      this.over(task, task.known);
    } else this.resume(task, answer);
  }

  resume(task: OpenAttempt, answer: Settlement): void {
    const { flow } = task;
    if (!flow) return;
    const next = settle(() => flow.next(answer));
    if ("error" in next) this.over(task, { error: next.error });
    else if (next.step.done) this.over(task, { result: next.step.value });
    else this.tasks.waitForAll(task, next.step.value);
  }

  /** An attempt is over: records what follows. */
  private over(task: OpenAttempt, outcome: Outcome): void {
    const { activationId: id } = task;
    this.tasks.release(task);
    this.abandonCalls(id);
    const node = this.nodeOf(id);
    if ("result" in outcome) {
      this.log.applyAll(complete(this.log.a, this.log.s, id, outcome.result, this.log.at));
      const end = getNodeKind(node.node_type).ends?.(node.config, node);
      if (end && must(this.log.s.activations, id).status === "completed") {
        this.ended.push({ activationId: id, status: end.status, givesAll: end.givesAll });
        if (end.terminate) this.terminate();
      }
    } else this.log.applyAll(fail(this.log.a, this.log.s, id, toRunError(outcome.error, node), this.log.at));
    this.retryIfAsked(id);
  }

  /** An attempt fails, and the whole run with it: no way for errors, no further attempt and no stand-in counts. */
  failRun(task: OpenAttempt, cause: RunError): void {
    const { activationId: activation_id } = task;
    this.tasks.release(task);
    const { node_id, attempt } = must(this.log.s.activations, activation_id);
    const error = { ...cause, node_id, activation_id };
    this.log.apply({
      type: "node_failed",
      node_id,
      activation_id,
      payload: { attempt, error, next: "fail_run" },
    });
  }

  /** After a failure: if there is to be another attempt, waits for the back-off; receive() starts it. */
  private retryIfAsked(id: string): void {
    const { status, waiting, attempt } = must(this.log.s.activations, id);
    if (status === "waiting" && waiting?.for === "retry") this.retryLater(id, attempt + 1);
  }

  private retryLater(id: string, attempt: number): void {
    const until = must(this.log.s.activations, id).waiting?.until ?? this.log.at;
    const handle = this.engine.context.sleep(`${id}/${attempt}/retry`, Math.max(0, until - this.log.at));
    const task: OpenAttempt = { activationId: id, flow: null, waits: [], timeout: null, retry: attempt };
    this.tasks.add(task);
    this.tasks.waitForAll(task, [handle]);
  }

  nodeOf(activationId: string): WorkflowNode {
    return present(this.log.s.graph.nodes[must(this.log.s.activations, activationId).node_id], "node_id");
  }

  /** A terminating End node: cancels everything that is still running. */
  private terminate(): void {
    this.cancelTasks("An end node that stops everything else was reached.");
    this.terminated = true;
  }

  /** Calls of tools that an attempt leaves in flight as it ends may have happened: the log says so. */
  abandonCalls(activation_id: string): void {
    for (const call_id of this.log.s.calling) {
      const call = must(this.log.s.tool_calls, call_id);
      if (call.activation_id !== activation_id || !call.on_crash) continue;
      const { node_id, agent_id, task_id, tool_name } = call;
      const message = `${tool_name} was abandoned in flight: it may have been executed (idempotency key ${this.log.s.run.id}/${call_id}).`;
      this.log.apply({
        type: "tool_call_abandoned",
        ...{
          node_id,
          activation_id,
          call_id,
          ...defined({ agent_id: agent_id || undefined, task_id: task_id || undefined }),
        },
        payload: { tool_name, message },
      });
    }
  }

  cancelTasks(reason: string): void {
    for (const task of this.tasks.all) {
      this.tasks.release(task);
      this.abandonCalls(task.activationId);
      const { node_id } = must(this.log.s.activations, task.activationId);
      this.log.apply({
        type: "node_cancelled",
        node_id,
        activation_id: task.activationId,
        payload: { reason },
      });
    }
  }

  /** Values of the state are about to change: by `readAgain` those who read them begin again where they can. */
  changing(change: StatePatch, by: string, keeps: (activationId: string) => boolean = () => false): void {
    if (!isSince(this.log.s.run, 3)) return;
    for (const reader of this.log.reads.readersOf(this.log.s, change)) {
      const { id, attempt } = reader.activation;
      if (keeps(id)) this.steps.bind(`${id}/${attempt}`);
      this.changed.push({ reader, by });
    }
  }

  readAgain(): void {
    for (const { reader, by } of this.changed.splice(0)) {
      const { id, node_id, attempt } = reader.activation;
      const task = this.tasks.get(id);
      const at = { node_id, activation_id: id };
      if (task && !this.steps.isBound(`${id}/${attempt}`)) {
        if (task.known) this.heldChars -= heldBy(task.known);
        this.tasks.release(task);
        this.log.apply({ type: "node_retried", ...at, payload: { by } });
      } else {
        const payload = { code: "STATE_READ_BEFORE", message: keptText(this.log.s, reader) };
        this.log.apply({ type: "warning", ...at, payload });
      }
    }
  }

  /** A handle that is settled when a person changes this activation's plan. */
  planEdited(activationId: string): Durable {
    return this.tasks.newSignal(planEditSignal(activationId));
  }

  /** The time that a person takes to answer is not the node's. */
  stopClock(activationId: string): void {
    const task = this.tasks.get(activationId);
    if (task) this.tasks.stopTimeout(task);
  }

  /** The node has its whole time again. */
  startClock(activationId: string): void {
    // All of them restart when the run resumes.
    if (this.log.isPaused) return;
    const task = this.tasks.get(activationId);
    const { status, waiting } = this.log.s.activations[activationId] ?? {};
    if (task && !task.timeout && (status === "running" || waiting?.for === "run")) this.armTimeout(task);
  }
}

/** How long an attempt of a node may take, in milliseconds; 0: as long as it likes. */
export const timeoutOf = (node: WorkflowNode): number =>
  node.run_timeout_ms ?? getNodeKind(node.node_type).timeoutMs ?? 0;

export const planEditSignal = (activationId: string) => `${activationId}/plan_edited`;

/** How many characters an outcome holds while it waits for its turn. */
export const heldBy = (outcome: Outcome): number => ("result" in outcome ? sizeOf(outcome.result) : 0);

type First = { step: IteratorResult<readonly Durable[], NodeResult> } | { error: unknown };

function settle(go: () => IteratorResult<readonly Durable[], NodeResult>): First {
  try {
    return { step: go() };
  } catch (error) {
    return { error };
  }
}
