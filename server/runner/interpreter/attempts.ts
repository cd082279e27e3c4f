import type { RaisableLimit, RunError } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import type { Durable, DurableContext, Flow, Settlement, StepWork } from "@/server/domain/base/durable";
import { must, present } from "@/server/domain/base/must";
import { SIZES, sizeOf } from "@/server/domain/base/sizes";
import { type Analysis, analyse } from "@/server/domain/graph/analysis";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, type NodeResult } from "@/server/domain/nodes";
import { evolve, newRun, type RunState } from "@/server/domain/run";
import type { NewEvent, RunEvent } from "@/server/domain/run/events";
import { complete, fail, isWanted, passThrough } from "@/server/domain/run/schedule/outcomes";
import { referring } from "@/server/domain/run/schedule/state-write";
import { StateReads } from "@/server/domain/run/state-reads";
import { NodeRun } from "../node/node-run";
import type { Effects, Engine, StepOptions } from "../node/ports";
import { Advice } from "./advice";
import { limitRaised } from "./commands";
import type { ReachedEnd } from "./ends";
import type { MessageEdit } from "./forks";
import { LoopWatch } from "./loop-watch";
import { toRunError } from "./node-error";
import { readInput } from "./node-input";
import type { Place } from "./places";
import { bounded, tooLarge } from "./steps";
import { type OpenAttempt, type Outcome, Tasks } from "./tasks";

/** The attempts of a run's nodes: begins them, hands them their answers, records what became of them. */
export abstract class Attempts implements Engine {
  readonly s: RunState;
  a: Analysis;
  protected readonly tasks: Tasks;
  protected readonly advice: Advice;
  private timeouts = 0;
  /** A person has let go on whoever waits at a limit. */
  protected isLimitOpened = false;
  /** The limit that keeps the run from going on. */
  protected limit: RaisableLimit | null = null;
  protected readonly ended: ReachedEnd[] = [];
  protected terminated = false;
  protected skippedTargets: string[] = [];
  protected activeMs = 0;
  /** Results that are known and wait for their turn, in characters: the next node starts when they are fewer. */
  protected heldChars = 0;
  /** What it has written down so far, in characters. */
  protected logChars = 0;
  private readonly loops = new LoopWatch();
  protected readonly reads = new StateReads();
  protected at: number;

  constructor(
    protected readonly ctx: DurableContext<RunEvent>,
    created: RunEvent,
    readonly effects: Effects,
  ) {
    this.tasks = new Tasks(ctx);
    this.advice = new Advice(ctx);
    this.at = ctx.begunAt;
    this.s = evolve(newRun(ctx.runId), created);
    this.logChars = sizeOf(created.payload);
    this.a = analysisOf(this.s.graph);
  }

  /**
   * Gives an event its place in the log, folds it, and hands it to the engine. Throws NodeFailure where it is larger
   * than any log takes; then nothing has happened.
   */
  apply(event: NewEvent): void {
    const size = sizeOf(event.payload);
    if (size > SIZES.event) throw tooLarge(`What is to be recorded here (${event.type})`, size, SIZES.event);
    this.logChars += size + EVENT_CHARS;
    // Who made the event hands it over, so it need not be copied on this hot path; the type cannot say that it gets its place here.
    const placed = event as RunEvent;
    placed.seq = this.s.seq + 1;
    placed.ts = this.at;
    evolve(this.s, placed);
    this.reads.note(placed, placed.seq);
    this.ctx.emit(placed);
    if (event.type === "edge_skipped") this.skippedTargets.push(must(event, "node_id"));
    if (event.type === "loop_iteration") this.watchLoop(must(event, "node_id"));
  }

  /** Says so where a loop goes round without changing anything. It may be waiting for the world, so it goes on. */
  protected watchLoop(node_id: string): void {
    const message = this.loops.round(node_id, this.s);
    if (message !== null)
      this.apply({ type: "warning", node_id, payload: { code: "LOOP_UNCHANGED", message } });
  }

  protected applyAll(events: readonly NewEvent[]): void {
    for (const event of events) this.apply(event);
  }

  /** Starts an activation's first attempt; true if it was over at once. */
  protected start(id: string, node: WorkflowNode): boolean {
    const wanted = isWanted(this.s, node, this.at);
    if (wanted === false) {
      const passed = passThrough(this.a, this.s, id, this.at);
      if ("error" in passed) this.refuse(id, node, passed.error);
      else this.applyAll(passed.events);
    } else if (wanted === true) this.begin(id, node);
    else this.refuse(id, node, wanted.error);
    return !this.tasks.has(id);
  }

  /** A node whose output is pinned gives that at once; every other makes its next attempt. */
  private begin(id: string, node: WorkflowNode): void {
    const pin = this.s.run.pins?.[node.id];
    const attempt = this.attemptsOf(id) + 1;
    if (!pin) return this.attempt(id, node, attempt);
    const { input } = readInput(this.s, node, this.at);
    const at = { node_id: node.id, activation_id: id };
    this.apply({ type: "node_started", ...at, payload: { attempt, ...referring(this.s.state, input) } });
    this.applyAll(complete(this.a, this.s, id, { ...pin, pinned: true }, this.at));
  }

  /** A node fails before it could begin. No further attempt: the same state gives the same answer. */
  protected refuse(id: string, node: WorkflowNode, error: RunError): void {
    const at = { node_id: node.id, activation_id: id };
    const attempt = this.attemptsOf(id) + 1;
    this.apply({ type: "node_started", ...at, payload: { attempt, input: {} } });
    this.applyAll(fail(this.a, this.s, id, error, this.at, false));
  }

  /** How many attempts it has made: none, unless a person has it tried again. */
  private attemptsOf(id: string): number {
    return must(this.s.activations, id).attempt;
  }

  protected attempt(id: string, node: WorkflowNode, attempt: number): void {
    const { s } = this;
    const read = readInput(s, node, this.at);
    this.apply({
      type: "node_started",
      node_id: node.id,
      activation_id: id,
      payload: { attempt, ...referring(s.state, read.input) },
    });
    if (read.error) {
      this.applyAll(fail(this.a, s, id, read.error, this.at));
      this.retryIfAsked(id);
      return;
    }
    const kind = getNodeKind(node.node_type);
    const run = new NodeRun(this, id, node, attempt, read.input);
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

  /** An attempt needed nothing from outside: it can be computed again, so it needs no record of its own. */
  private wasKnown(id: string, attempt: number, known: Outcome): void {
    this.heldChars += heldBy(known);
    const handle = this.ctx.step(`${id}/${attempt}`, NOTHING_TO_DO, INLINE);
    const task: OpenAttempt = { activationId: id, flow: null, waits: [handle], timeout: null, known };
    this.tasks.add(task);
    this.tasks.wait(task, handle);
  }

  /** Begins the time that an attempt may take. */
  protected armTimeout(task: OpenAttempt): void {
    const node = this.nodeOf(task.activationId);
    const ms = timeoutOf(node);
    if (!ms) return;
    task.timeout = this.ctx.timeout(`${task.activationId}/timeout${++this.timeouts}`, ms);
    this.tasks.wait(task, task.timeout);
  }

  protected resume(task: OpenAttempt, answer: Settlement): void {
    const { flow } = task;
    if (!flow) return;
    const next = settle(() => flow.next(answer));
    if ("error" in next) this.over(task, { error: next.error });
    else if (next.step.done) this.over(task, { result: next.step.value });
    else this.tasks.waitForAll(task, next.step.value);
  }

  /** An attempt is over: records what follows. */
  protected over(task: OpenAttempt, outcome: Outcome): void {
    const { activationId: id } = task;
    this.tasks.release(task);
    this.abandonCalls(id);
    const node = this.nodeOf(id);
    if ("result" in outcome) {
      this.applyAll(complete(this.a, this.s, id, outcome.result, this.at));
      const end = getNodeKind(node.node_type).ends?.(node.config, node);
      if (end && must(this.s.activations, id).status === "completed") {
        this.ended.push({ activationId: id, status: end.status, givesAll: end.givesAll });
        if (end.terminate) this.terminate();
      }
    } else this.applyAll(fail(this.a, this.s, id, toRunError(outcome.error, node), this.at));
    this.retryIfAsked(id);
  }

  /** An attempt fails, and the whole run with it: no way for errors, no further attempt and no stand-in counts. */
  protected failRun(task: OpenAttempt, cause: RunError): void {
    const { activationId: activation_id } = task;
    this.tasks.release(task);
    const { node_id, attempt } = must(this.s.activations, activation_id);
    const error = { ...cause, node_id, activation_id };
    this.apply({
      type: "node_failed",
      node_id,
      activation_id,
      payload: { attempt, error, next: "fail_run" },
    });
  }

  /** After a failure: where there is to be another attempt, waits out the back-off; receive() begins it. */
  protected retryIfAsked(id: string): void {
    const { status, waiting, attempt } = must(this.s.activations, id);
    if (status === "waiting" && waiting?.for === "retry") this.retryLater(id, attempt + 1);
  }

  protected retryLater(id: string, attempt: number): void {
    const until = must(this.s.activations, id).waiting?.until ?? this.at;
    const handle = this.ctx.sleep(`${id}/${attempt}/retry`, Math.max(0, until - this.at));
    const task: OpenAttempt = { activationId: id, flow: null, waits: [], timeout: null, retry: attempt };
    this.tasks.add(task);
    this.tasks.waitForAll(task, [handle]);
  }

  protected nodeOf(activationId: string): WorkflowNode {
    return present(this.s.graph.nodes[must(this.s.activations, activationId).node_id], "node_id");
  }

  /** An End that terminates: whatever else is under way is cancelled. */
  protected terminate(): void {
    this.cancelTasks("An end was reached that stops everything else.");
    this.terminated = true;
  }

  /** Calls of tools that an attempt leaves in flight as it ends may have happened: the log says so. */
  protected abandonCalls(activation_id: string): void {
    for (const call_id of this.s.calling) {
      const call = must(this.s.tool_calls, call_id);
      if (call.activation_id !== activation_id || !call.on_crash) continue;
      const { node_id, agent_id, task_id, tool_name } = call;
      const message = `${tool_name} was abandoned in flight: it may have happened (idempotency key ${this.s.run.id}/${call_id}).`;
      this.apply({
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

  protected cancelTasks(reason: string): void {
    for (const task of this.tasks.all) {
      this.tasks.release(task);
      this.abandonCalls(task.activationId);
      const { node_id } = must(this.s.activations, task.activationId);
      this.apply({ type: "node_cancelled", node_id, activation_id: task.activationId, payload: { reason } });
    }
  }

  /** A handle that is settled when a person changes this activation's plan. */
  planEdited(activationId: string): Durable {
    return this.tasks.newSignal(planEditSignal(activationId));
  }

  /** Holds a task until a limit is raised. */
  *hold(activationId: string, limit: RaisableLimit): Flow<void> {
    const gate = this.tasks.newGate("limit");
    this.limit = limit;
    const { node_id } = must(this.s.activations, activationId);
    this.apply({ type: "node_waiting", node_id, activation_id: activationId, payload: { for: "limit" } });
    yield [gate];
  }

  /** The time that a person takes to answer is not the node's. */
  stopClock(activationId: string): void {
    const task = this.tasks.get(activationId);
    if (task) this.tasks.stopTimeout(task);
  }

  /** The node has its whole time again. */
  startClock(activationId: string): void {
    const task = this.tasks.get(activationId);
    if (task && !task.timeout && this.s.activations[activationId]?.status === "running")
      this.armTimeout(task);
  }

  raiseNow(limit: RaisableLimit, to: number, by: string): void {
    this.applyAll(limitRaised(this.s, { limit, to }, by) ?? []);
    this.openLimit();
  }
  /** Not at once: whoever asks is in the middle of its own answer. */
  openLimit(): void {
    this.isLimitOpened = true;
  }

  adviseLater(interactionId: string): void {
    this.advice.expect(interactionId);
  }

  /** The limit that stands in the way of another model call, if any. */
  limitBeforeCall(): RaisableLimit | null {
    const { config } = this.s.run;
    if (this.s.totals.global_iterations >= config.max_global_iterations) return "max_global_iterations";
    if (this.activeMs >= config.max_active_ms) return "max_active_ms";
    if (this.logChars >= config.max_log_chars) return "max_log_chars";
    return null;
  }

  /** A step whose answer a run can keep; a larger one, or endless words of an error, are an error that says so. */
  step(key: string, work: StepWork, options?: StepOptions): Durable {
    const { request } = options ?? {};
    return this.ctx.step(key, (scope) => bounded(work, scope), request ? { request } : undefined);
  }

  abstract arrive(place: Place): Flow<void>;
  abstract reached(): boolean;
  abstract editsOf(agent: string): readonly MessageEdit[];

  get context(): DurableContext {
    return this.ctx;
  }
  get now(): number {
    return this.at;
  }
}

const analyses = new WeakMap<WorkflowGraph, Analysis>();

/** What a graph means; worked out once for all runs that share it, since no run changes it. */
export function analysisOf(graph: WorkflowGraph): Analysis {
  let known = analyses.get(graph);
  if (!known) analyses.set(graph, (known = analyse(graph)));
  return known;
}

/** How long an attempt of a node may take, in milliseconds; 0: as long as it likes. */
export const timeoutOf = (node: WorkflowNode): number =>
  node.run_timeout_ms ?? getNodeKind(node.node_type).timeoutMs ?? 0;

/** What an event takes beside its payload. */
const EVENT_CHARS = 120;

export const planEditSignal = (activationId: string) => `${activationId}/plan_edited`;

/** An inline step that only marks where the turn of what is known already comes. */
export const NOTHING_TO_DO: StepWork = () => null;
export const INLINE = { inline: true };

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
