import { createHash } from "node:crypto";
import {
  type ErrorCode,
  type InstallationRules,
  RaisableLimit,
  type ReasonCode,
  type RunError,
} from "@/server/domain/agent/outcome";
import { type AgentStep, findStuck } from "@/server/domain/agent/stuck";
import type { Version } from "@/server/domain/base/changes";
import {
  Cancelled,
  type Durable,
  type DurableContext,
  type Flow,
  type Settlement,
  type StepScope,
  type StepWork,
} from "@/server/domain/base/durable";
import { errorMessage } from "@/server/domain/base/guards";
import { must, present } from "@/server/domain/base/must";
import { cutText, SIZES, sizeOf, sizeText } from "@/server/domain/base/sizes";
import { canonicalJson, type Json, type JsonObject } from "@/server/domain/base/values";
import { WORK_LIMITS, Work, workSoFar } from "@/server/domain/base/work-budget";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import { type Analysis, analyse } from "@/server/domain/graph/analysis";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { isBeginning, startingState } from "@/server/domain/graph/run-input";
import { getNodeKind, NodeFailure, type NodeResult } from "@/server/domain/nodes";
import { durationText } from "@/server/domain/nodes/wait";
import { evolve, newRun, type RunState } from "@/server/domain/run";
import type { NewEvent, RunEvent } from "@/server/domain/run/events";
import { editPlan, PlanEdit } from "@/server/domain/run/plan-edit";
import {
  begin,
  complete,
  decide,
  fail,
  isWanted,
  passThrough,
  referring,
  unreachable,
} from "@/server/domain/run/schedule";
import { evaluateExpression } from "@/server/domain/text/expression";
import { wordsAdded } from "@/server/tools/own-words";
import { StepFailed } from "./flow";
import { asError, internalError } from "./internal-error";
import { NodeRun } from "./node-run";
import type { Effects, Engine } from "./ports";

/** The present version of the interpreter: what a run began with, it ends with. */
export const INTERPRETER_VERSION = 2;

/** One attempt of one activation, under way. */
interface Task {
  activationId: string;
  /** Null while it waits for its next attempt, whose number is `retry`. */
  flow: Flow<NodeResult> | null;
  waits: readonly Durable[];
  timeout: Durable | null;
  retry?: number;
  /** What became of an attempt that needed nothing from outside; it counts once its turn has come. */
  known?: Outcome;
}

type Outcome = { result: NodeResult } | { error: unknown };

const LIMIT_REASON: Record<RaisableLimit, ErrorCode> = {
  max_steps: "MAX_STEPS",
  max_global_iterations: "MAX_ITERATIONS",
  max_active_ms: "TIME_LIMIT",
  max_log_chars: "LOG_LIMIT",
  max_cost_usd: "BUDGET",
  max_total_tokens: "BUDGET",
};

/**
 * Carries a run from its creation to its end. `created` is the run's first event, already in the log.
 * Deterministic: on a replay it makes the same events in the same order. `ctx.next` is its only await.
 */
export async function execute(
  ctx: DurableContext,
  created: RunEvent,
  effects: Effects,
  watch?: (state: RunState) => void,
): Promise<void> {
  const interpreter = new Interpreter(ctx, created, effects);
  watch?.(interpreter.s);
  await interpreter.run();
}

export class Interpreter implements Engine {
  readonly s: RunState;
  readonly a: Analysis;
  private readonly tasks = new Map<string, Task>();
  /** Which task waits for which key; keys beginning with "gate:" are held here, not by the engine. */
  private readonly byKey = new Map<string, Task>();
  private readonly handles = new Map<string, Durable>();
  private readonly gates = new Set<string>();
  /** Waits for a change of a plan by a person, which nothing outside settles either. */
  private readonly bells = new Set<string>();
  private gateCount = 0;
  private timeouts = 0;
  private control: Durable;
  /** A pause that the engine may use for other runs; units of work before the last answer. */
  private breath: Durable | null = null;
  private breaths = 0;
  private workBefore = 0;
  private controls = 1;
  private limit: RaisableLimit | null = null;
  private readonly ended: { activationId: string; status: "COMPLETED" | "ERROR"; givesAll: boolean }[] = [];
  private terminated = false;
  private skippedTargets: string[] = [];
  private activeMs = 0;
  /** Results that are known and wait for their turn, in characters: the next node starts when they are fewer. */
  private heldChars = 0;
  /** What it has written down so far, in characters. */
  private logChars = 0;
  /** Rounds of loops with the state at their beginning. */
  private readonly rounds: AgentStep[] = [];
  /** Long values that the state had at the beginning of a round, numbered. */
  private readonly longValues = new WeakMap<Version, number>();
  private longCount = 0;
  private at: number;

  constructor(
    private readonly ctx: DurableContext,
    created: RunEvent,
    readonly effects: Effects,
  ) {
    this.at = ctx.begunAt;
    this.s = evolve(newRun(ctx.runId), created);
    this.logChars = sizeOf(created.payload);
    this.a = analysisOf(this.s.graph);
    this.control = ctx.signal("control#1");
  }

  async run(): Promise<void> {
    this.workBefore = workSoFar();
    this.apply({ type: "run_started", payload: {} });
    const { state, defaults } = startingState(this.s.graph, this.s.input);
    this.apply({ type: "state_initialized", payload: { state, defaults_applied: defaults } });
    this.applyAll(begin(this.a, this.s));
    try {
      for (;;) {
        this.advance();
        if (!this.isMoving()) {
          if (this.breakTie()) continue;
          if (!this.finish()) return;
        }
        const next = this.ctx.next([...this.handles.values(), this.control]);
        this.receive(next instanceof Promise ? await next : next);
      }
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
      this.at = error.at ?? this.at;
      this.cancelRun(error.by, error.reason);
    }
  }

  /**
   * Whether what was evaluated since the last answer is as much as one evaluation may be. Then the rest waits for a turn of
   * its own, so that many nodes side by side hold the thread no longer than one. Counted, so a replay pauses alike.
   */
  private needsBreath(): boolean {
    if (this.breath) return true;
    if (workSoFar() - this.workBefore < WORK_LIMITS.units) return false;
    this.breath = this.ctx.step(`breath#${++this.breaths}`, NOTHING_TO_DO, INLINE);
    this.handles.set(this.breath.key, this.breath);
    return true;
  }

  /** Whether anything will come from outside by itself; held tasks wait for a person to raise a limit. */
  private isMoving(): boolean {
    if (this.breath) return true;
    if (this.gates.size === 0) return this.handles.size > 0;
    for (const { waits } of this.tasks.values())
      if (waits.some(({ key }) => !this.gates.has(key) && !this.bells.has(key))) return true;
    return false;
  }

  /**
   * Gives an event its place in the log, folds it, and hands it to the engine. Throws NodeFailure where it is larger
   * than any log takes; then nothing has happened.
   */
  apply(event: NewEvent): void {
    const size = sizeOf(event.payload);
    if (size > SIZES.event) throw tooLarge(`What is to be recorded here (${event.type})`, size, SIZES.event);
    this.logChars += size + EVENT_CHARS;
    // Who made the event hands it over, so it need not be copied.
    const placed = event as RunEvent;
    placed.seq = this.s.seq + 1;
    placed.ts = this.at;
    evolve(this.s, placed);
    this.ctx.emit(placed);
    if (event.type === "edge_skipped") this.skippedTargets.push(present(event.node_id, "event.node_id"));
    if (event.type === "loop_iteration") this.watchLoop(present(event.node_id, "event.node_id"));
  }

  /** Says so where a loop goes round without changing anything. It may be waiting for the world, so it goes on. */
  private watchLoop(node_id: string): void {
    this.rounds.push({ kind: "iteration", node_id, state_hash: hashOf(this.fingerprints()) });
    const stuck = findStuck(this.rounds);
    if (stuck?.severity !== "nudge") return;
    this.rounds.push({ kind: "nudge", pattern: stuck.pattern });
    this.apply({ type: "warning", node_id, payload: { code: "LOOP_UNCHANGED", message: stuck.message } });
  }

  /** The state, with a number in place of each long value: another one whenever that changes. */
  private fingerprints(): JsonObject {
    const { state, versions } = this.s;
    return Object.fromEntries(
      Object.keys(state).map((key) => {
        if (sizeOf(state[key]) < LONG_VALUE) return [key, present(state[key], "state[key]")];
        const version = present(versions[key], "versions[key]");
        const known = this.longValues.get(version) ?? ++this.longCount;
        this.longValues.set(version, known);
        return [key, known];
      }),
    );
  }

  private applyAll(events: readonly NewEvent[]): void {
    for (const event of events) this.apply(event);
  }

  /** Moves tokens and starts what may start, until nothing changes any more. */
  private advance(): void {
    if (this.terminated) return;
    for (;;) {
      const events = decide(this.a, this.s);
      this.applyAll(events);
      if (events.length === 0 && !this.startReady()) break;
    }
    if (this.skippedTargets.length > 0) {
      const targets = this.skippedTargets;
      this.skippedTargets = [];
      this.applyAll(unreachable(this.a, this.s, targets));
    }
  }

  /** Starts ready activations; true if one of them moved tokens at once. */
  private startReady(): boolean {
    const { s } = this;
    if (s.failing || s.ready.length === 0) return false;
    const { config } = s.run;
    for (const id of [...s.ready]) {
      if (s.running.size >= config.max_parallel_nodes && this.atWork() >= config.max_parallel_nodes)
        return false;
      if (this.heldChars >= SIZES.event || this.needsBreath()) return false;
      if (s.totals.steps >= config.max_steps) {
        this.limit = "max_steps";
        return false;
      }
      if (this.activeMs >= config.max_active_ms) {
        this.limit = "max_active_ms";
        return false;
      }
      if (this.logChars >= config.max_log_chars) {
        this.limit = "max_log_chars";
        return false;
      }
      const node = present(
        s.graph.nodes[present(s.activations[id], "s.activations[id]").node_id],
        "s.graph.nodes[s.activations[id]!.node_id]",
      );
      if (this.isBusy(node)) continue;
      if (this.start(id, node)) return true;
    }
    return false;
  }

  /** How many activations are at work; one that waits for a time or a person takes nobody's place. */
  private atWork(): number {
    let count = 0;
    for (const id of this.s.running) if (this.s.activations[id]?.status === "running") count++;
    return count;
  }

  private isBusy(node: WorkflowNode): boolean {
    for (const id of this.s.running) {
      const other = present(
        this.s.graph.nodes[present(this.s.activations[id], "this.s.activations[id]").node_id],
        "this.s.graph.nodes[this.s.activations[id]!.node_id]",
      );
      if (other.id === node.id) return true;
      if (node.concurrency_key !== undefined && other.concurrency_key === node.concurrency_key) return true;
    }
    return false;
  }

  /** Starts an activation's first attempt; true if it was over at once. */
  private start(id: string, node: WorkflowNode): boolean {
    const wanted = isWanted(this.s, node, this.at);
    if (wanted === false) {
      const passed = passThrough(this.a, this.s, id, this.at);
      if ("error" in passed) this.refuse(id, node, passed.error);
      else this.applyAll(passed.events);
    } else if (wanted === true) this.attempt(id, node, 1);
    else this.refuse(id, node, wanted.error);
    return !this.tasks.has(id);
  }

  /** A node fails before it could begin. No further attempt: the same state gives the same answer. */
  private refuse(id: string, node: WorkflowNode, error: RunError): void {
    const at = { node_id: node.id, activation_id: id };
    this.apply({ type: "node_started", ...at, payload: { attempt: 1, input: {} } });
    this.applyAll(fail(this.a, this.s, id, error, this.at, false));
  }

  private attempt(id: string, node: WorkflowNode, attempt: number): void {
    const { s, ctx } = this;
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
    const flow = present(kind.run, "kind.run")(node.config, run);
    const first = settle(() => flow.next());
    if ("step" in first && !first.step.done) {
      const task: Task = { activationId: id, flow, waits: [], timeout: null };
      this.tasks.set(id, task);
      this.armTimeout(task);
      this.waitForAll(task, first.step.value);
      return;
    }
    // It needed nothing from outside: it can be computed again, so it needs no record of its own.
    const known: Outcome = "error" in first ? first : { result: first.step.value as NodeResult };
    this.heldChars += heldBy(known);
    const handle = ctx.step(`${id}/${attempt}`, NOTHING_TO_DO, INLINE);
    const task: Task = { activationId: id, flow: null, waits: [handle], timeout: null, known };
    this.tasks.set(id, task);
    this.wait(task, handle);
  }

  /** Begins the time that an attempt may take. */
  private armTimeout(task: Task): void {
    const node = this.nodeOf(task.activationId);
    const ms = timeoutOf(node);
    if (!ms) return;
    task.timeout = this.ctx.timeout(`${task.activationId}/timeout${++this.timeouts}`, ms);
    this.wait(task, task.timeout);
  }

  private wait(task: Task, handle: Durable): void {
    this.byKey.set(handle.key, task);
    if (!this.gates.has(handle.key) && !this.bells.has(handle.key)) this.handles.set(handle.key, handle);
  }

  private waitForAll(task: Task, waits: readonly Durable[]): void {
    const wanted = new Set(waits.map(({ key }) => key));
    for (const old of task.waits) if (!wanted.has(old.key)) this.drop(old);
    task.waits = waits;
    for (const handle of waits) if (this.byKey.get(handle.key) !== task) this.wait(task, handle);
  }

  /** Gives up a handle that was still being waited for. */
  private drop(handle: Durable): void {
    if (!this.byKey.delete(handle.key)) return;
    if (this.gates.delete(handle.key) || this.bells.delete(handle.key)) return;
    this.handles.delete(handle.key);
    this.ctx.abandon(handle);
  }

  private receive(answer: Settlement): void {
    const note = answer.key.slice(0, answer.key.indexOf("#"));
    // While the server was down nothing was at work.
    if (note !== "recovered" && this.isActive()) this.activeMs += Math.max(0, answer.at - this.at);
    this.at = answer.at;
    this.logChars += sizeOf(answer.result);
    this.workBefore = workSoFar();
    if (answer.key === this.breath?.key) {
      this.handles.delete(answer.key);
      this.breath = null;
      return;
    }
    if (answer.key === this.control.key) return this.command(answer);
    if (note === "recovered" || note === "clock") return this.note(note, answer);
    const task = this.byKey.get(answer.key);
    this.byKey.delete(answer.key);
    this.handles.delete(answer.key);
    if (!task) return;
    if (task.timeout?.key === answer.key) {
      const node = this.nodeOf(task.activationId);
      this.over(task, {
        error: new NodeFailure(
          "TIMEOUT",
          `${node.name || node.id} did not finish within ${durationText(timeoutOf(node))}.`,
          { retryable: true, user_action: "retry" },
        ),
      });
      return;
    }
    if (task.retry !== undefined) {
      this.release(task);
      this.attempt(task.activationId, this.nodeOf(task.activationId), task.retry);
      return;
    }
    if (task.known) {
      this.heldChars -= heldBy(task.known);
      this.over(task, task.known);
    } else this.resume(task, answer);
  }

  /** A note of the engine: it was down, or its machine slept, or the clock was set. */
  private note(note: "recovered" | "clock", { result }: Settlement): void {
    const value = (result.ok ? result.value : {}) as {
      worker_id?: string;
      rules?: InstallationRules;
      ms?: number;
    };
    if (note === "recovered") {
      const { installation = {} } = this.s.run;
      const { rules = installation } = value;
      const haveChanged = canonicalJson(rules) !== canonicalJson(installation);
      this.apply({
        type: "run_recovered",
        payload: {
          worker_id: value.worker_id ?? "",
          requeued: [...this.tasks.keys()],
          ...(haveChanged ? { installation: rules } : {}),
        },
      });
    }
    if (note === "clock") {
      const ms = value.ms ?? 0;
      if (this.isActive()) this.activeMs = Math.max(0, this.activeMs - ms);
      this.apply({ type: "clock_jumped", payload: { ms } });
      if (ms <= 0) return;
    }
    this.extendQuestions();
  }

  /** Whoever was to answer could not: the question stays open a little longer. */
  private extendQuestions(): void {
    const expires_at = this.at + ANSWER_AFTER_WAKING_MS;
    for (const id of this.s.asking) {
      const { requested, activation_id, node_id } = present(
        this.s.interactions[id],
        "this.s.interactions[id]",
      );
      if (requested.expires_at >= expires_at) continue;
      this.apply({
        type: "interaction_extended",
        node_id,
        activation_id,
        payload: { interaction_id: id, expires_at },
      });
    }
  }

  /** Whether the run's clock ticks: some task is at work, not only waiting for a time or a person. */
  private isActive(): boolean {
    for (const id of this.s.running) if (this.s.activations[id]?.status === "running") return true;
    return false;
  }

  private resume(task: Task, answer: Settlement): void {
    const { flow } = task;
    if (!flow) return;
    const next = settle(() => flow.next(answer));
    if ("error" in next) this.over(task, { error: next.error });
    else if (next.step.done) this.over(task, { result: next.step.value });
    else this.waitForAll(task, next.step.value);
  }

  /** An attempt is over: records what follows. */
  private over(task: Task, outcome: Outcome): void {
    const { activationId: id } = task;
    this.release(task);
    const node = this.nodeOf(id);
    if ("result" in outcome) {
      this.applyAll(complete(this.a, this.s, id, outcome.result, this.at));
      const end = getNodeKind(node.node_type).ends?.(node.config, node);
      if (end && present(this.s.activations[id], "this.s.activations[id]").status === "completed") {
        this.ended.push({ activationId: id, status: end.status, givesAll: end.givesAll });
        if (end.terminate) this.terminate();
      }
    } else this.applyAll(fail(this.a, this.s, id, toRunError(outcome.error, node), this.at));
    this.retryIfAsked(id);
  }

  /** After a failure: where there is to be another attempt, waits out the back-off; receive() begins it. */
  private retryIfAsked(id: string): void {
    const { status, waiting, attempt } = present(this.s.activations[id], "this.s.activations[id]");
    if (status === "waiting" && waiting?.for === "retry") this.retryLater(id, attempt + 1);
  }

  private retryLater(id: string, attempt: number): void {
    const until = present(this.s.activations[id], "this.s.activations[id]").waiting?.until ?? this.at;
    const handle = this.ctx.sleep(`${id}/${attempt}/retry`, Math.max(0, until - this.at));
    const task: Task = { activationId: id, flow: null, waits: [], timeout: null, retry: attempt };
    this.tasks.set(id, task);
    this.waitForAll(task, [handle]);
  }

  private release(task: Task): void {
    this.tasks.delete(task.activationId);
    for (const handle of task.waits) this.drop(handle);
    if (task.timeout) this.drop(task.timeout);
    task.waits = [];
  }

  private nodeOf(activationId: string): WorkflowNode {
    return present(
      this.s.graph.nodes[
        present(this.s.activations[activationId], "this.s.activations[activationId]").node_id
      ],
      "node_id",
    );
  }

  /** An End that terminates: whatever else is under way is cancelled. */
  private terminate(): void {
    this.cancelTasks("An end was reached that stops everything else.");
    this.terminated = true;
  }

  private cancelTasks(reason: string): void {
    for (const task of [...this.tasks.values()]) {
      this.release(task);
      const { node_id } = present(
        this.s.activations[task.activationId],
        "this.s.activations[task.activationId]",
      );
      this.apply({ type: "node_cancelled", node_id, activation_id: task.activationId, payload: { reason } });
    }
  }

  /** In graphs whose loops have two entries, tokens can wait for each other: the first goes on. */
  private breakTie(): boolean {
    if (
      this.terminated ||
      this.limit ||
      this.s.failing ||
      this.gates.size > 0 ||
      this.s.parked.size === 0 ||
      this.s.ready.length > 0
    )
      return false;
    const events = decide(this.a, this.s, true);
    this.applyAll(events);
    if (events.length > 0)
      this.apply({
        type: "warning",
        payload: {
          code: "TIE",
          message: "Branches waited for each other at a loop with two entries; the first went on.",
        },
      });
    return events.length > 0;
  }

  /** Ends the run; true if it may go on after a limit was raised. */
  private finish(): boolean {
    const { s } = this;
    const output = this.output();
    const warnings = [...s.run.warnings];
    const finished = (
      final_status: "COMPLETED" | "ERROR" | "INCOMPLETE",
      reason_code: ReasonCode,
      more: { error?: RunError; resumable?: RaisableLimit[] } = {},
    ) =>
      this.apply({ type: "run_finished", payload: { final_status, reason_code, output, warnings, ...more } });

    if (s.failing) {
      this.cancelTasks("The run failed.");
      finished("ERROR", s.failing.code, { error: s.failing });
      return false;
    }
    if (this.limit && !this.terminated) {
      const error: RunError = {
        code: LIMIT_REASON[this.limit],
        message: limitText(this.limit, s),
        retryable: true,
        user_action: "raise_limit",
      };
      finished("INCOMPLETE", error.code, { error, resumable: [this.limit] });
      // The time a person takes is not the node's.
      for (const task of this.tasks.values())
        if (task.timeout) {
          this.drop(task.timeout);
          task.timeout = null;
        }
      return true;
    }
    if (this.ended.length === 0)
      finished("INCOMPLETE", "NO_END_REACHED", {
        error: {
          code: "NO_END_REACHED",
          message: "Every branch ended before it reached an end node.",
          retryable: false,
          user_action: "edit_graph",
        },
      });
    else finished(this.ended.some(({ status }) => status === "ERROR") ? "ERROR" : "COMPLETED", "END_REACHED");
    return false;
  }

  /** What the ends that were reached give, in the order of the drawing, whichever was reached first. */
  private output(): JsonObject {
    const output: JsonObject = {};
    const place = ({ activationId }: { activationId: string }) => {
      const { node_id, order } = present(
        this.s.activations[activationId],
        "this.s.activations[activationId]",
      );
      return [must(this.a.position, node_id), order] as const;
    };
    const ended = this.ended.toSorted((one, other) => {
      const [[x, k], [y, n]] = [place(one), place(other)];
      return x - y || k - n;
    });
    // What branches wrote after such an end was reached belongs to the state that it gives.
    for (const { activationId, givesAll } of ended)
      Object.assign(
        output,
        givesAll
          ? this.s.state
          : present(this.s.activations[activationId], "this.s.activations[activationId]").output,
      );
    return output;
  }

  private cancelRun(by: string, reason: string): void {
    this.apply({ type: "run_cancel_requested", payload: { by, reason } });
    this.cancelTasks(reason || "The run was cancelled.");
    this.apply({
      type: "run_finished",
      payload: {
        final_status: "CANCELLED",
        reason_code: "CANCELLED",
        output: this.output(),
        warnings: [...this.s.run.warnings],
      },
    });
  }

  /** A person's command to the run. Unknown ones are passed over: a newer server may have sent them. */
  private command(answer: Settlement): void {
    this.control = this.ctx.signal(`control#${++this.controls}`);
    if (!answer.result.ok) return;
    const value = answer.result.value as Command;
    const by = value.by ?? "user";
    if (value.kind === "edit_plan") return this.editPlan(value, by);
    if (value.kind === "raise_limit") this.raiseLimit(value, by);
  }

  /** Checked once more: the plan may have gone on since the person saw it. */
  private editPlan({ activation_id = "", edit }: Command, by: string): void {
    const read = PlanEdit.safeParse(edit);
    const crew = this.s.crews[activation_id];
    const plan = this.s.plans[activation_id];
    if (!read.success || !crew || !plan) return;
    const { node_id } = present(this.s.activations[activation_id], "this.s.activations[activation_id]");
    const refuse = (message: string) =>
      this.apply({
        type: "warning",
        node_id,
        activation_id,
        payload: { code: "PLAN_EDIT_REFUSED", message: `A change of the plan came too late: ${message}` },
      });
    if (crew.status !== "running") return refuse("The crew's work is over.");
    const edited = editPlan(plan, crew, read.data);
    if (!edited.ok) return refuse(edited.message);
    if (edited.cancelled)
      this.apply({
        type: "task_status_changed",
        node_id,
        activation_id,
        task_id: edited.cancelled.task_id,
        payload: { from: edited.cancelled.status, to: "cancelled", by },
      });
    else
      this.apply({
        type: "plan_changed",
        node_id,
        activation_id,
        payload: { version: plan.version + 1, by, ...edited.change, words: writtenIn(read.data, plan) },
      });
    const key = planEditSignal(activation_id);
    const task = this.byKey.get(key);
    if (!task || !this.bells.delete(key)) return;
    this.byKey.delete(key);
    this.resume(task, { key, result: { ok: true, value: null }, at: this.at });
  }

  /** A handle that is settled when a person changes this activation's plan. */
  planEdited(activationId: string): Durable {
    const key = planEditSignal(activationId);
    this.bells.add(key);
    return { key };
  }

  private raiseLimit(value: Command, by: string): void {
    const limit = RaisableLimit.safeParse(value.limit);
    if (!limit.success || typeof value.to !== "number") return;
    this.apply({
      type: "run_limit_raised",
      payload: { limit: limit.data, from: limitValue(limit.data, this.s), to: value.to, by },
    });
    if (this.s.run.status === "finished") this.apply({ type: "run_resumed", payload: { by } });
    this.limit = null;
    for (const key of [...this.gates]) {
      const task = this.byKey.get(key);
      this.gates.delete(key);
      this.byKey.delete(key);
      if (!task) continue;
      if (!task.timeout) this.armTimeout(task);
      this.resume(task, { key, result: { ok: true, value: null }, at: this.at });
    }
  }

  /** Holds a task until a limit is raised. */
  *hold(activationId: string, limit: RaisableLimit): Flow<void> {
    const key = `gate:${++this.gateCount}`;
    this.gates.add(key);
    this.limit = limit;
    const { node_id } = present(this.s.activations[activationId], "this.s.activations[activationId]");
    this.apply({ type: "node_waiting", node_id, activation_id: activationId, payload: { for: "limit" } });
    yield [{ key }];
  }

  /** The time that a person takes to answer is not the node's. */
  stopClock(activationId: string): void {
    const task = this.tasks.get(activationId);
    if (!task?.timeout) return;
    this.drop(task.timeout);
    task.timeout = null;
  }

  /** The node has its whole time again. */
  startClock(activationId: string): void {
    const task = this.tasks.get(activationId);
    if (task && !task.timeout && this.s.activations[activationId]?.status === "running")
      this.armTimeout(task);
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
  step(key: string, work: StepWork): Durable {
    return this.ctx.step(key, (scope) => bounded(work, scope));
  }

  get context(): DurableContext {
    return this.ctx;
  }
  get now(): number {
    return this.at;
  }
}

const analyses = new WeakMap<WorkflowGraph, Analysis>();

/** What a graph means; worked out once for all runs that share it, since no run changes it. */
function analysisOf(graph: WorkflowGraph): Analysis {
  let known = analyses.get(graph);
  if (!known) analyses.set(graph, (known = analyse(graph)));
  return known;
}

const hashOf = (state: object): string => createHash("sha256").update(canonicalJson(state)).digest("hex");

const timeoutOf = (node: WorkflowNode): number =>
  node.run_timeout_ms ?? getNodeKind(node.node_type).timeoutMs ?? 0;

/** A question that was open while the server slept or was down is open at least so long afterwards. */
const ANSWER_AFTER_WAKING_MS = 5 * 60_000;

/** A value so long is compared by where it came from, not by what it says. */
const LONG_VALUE = 10_000;

/** What an event takes beside its payload. */
const EVENT_CHARS = 120;

const tooLarge = (what: string, size: number, most: number): NodeFailure =>
  new NodeFailure(
    "TOO_LARGE",
    `${what} is too large: ${sizeText(size)}, and at most ${sizeText(most)} fit. Keep less of it: a part, a summary, or a file.`,
    { user_action: "edit_graph" },
  );

function bounded(work: StepWork, scope: StepScope): Promise<Json> | Json {
  try {
    const value = work(scope);
    return value instanceof Promise ? value.then(boundedAnswer, boundedError) : boundedAnswer(value);
  } catch (error) {
    return boundedError(error);
  }
}

function boundedAnswer(value: Json): Json {
  const size = sizeOf(value);
  if (size <= SIZES.event) return value;
  throw new OversizedAnswer(
    `The answer is too large to be kept: ${sizeText(size)}, and at most ${sizeText(SIZES.event)} fit. Ask for less of it.`,
  );
}

function boundedError(error: unknown): never {
  if (error instanceof Error) {
    if (error.message.length > SIZES.error) error.message = cutText(error.message);
    const about = error as { detail?: Json };
    if (sizeOf(about.detail) > 16 * SIZES.error) about.detail = null;
  }
  throw error;
}

class OversizedAnswer extends Error {
  override name = "OversizedAnswer";
}

/** What a person wrote in an edit themselves: where they changed a description, only what stood there not before. */
function writtenIn(edit: PlanEdit, { tasks }: ExecutionPlan): string[] {
  if (edit.kind === "cancel") return [];
  const before = edit.kind === "change" && tasks.find(({ task_id }) => task_id === edit.task_id);
  const { description = "" } = edit.kind === "add" ? edit.task : edit.patch;
  return wordsAdded(description, before ? before.description : "");
}

const planEditSignal = (activationId: string) => `${activationId}/plan_edited`;

/** What a person may tell a run; read with care, for it comes from the store. */
interface Command {
  kind?: string;
  by?: string;
  limit?: string;
  to?: number;
  activation_id?: string;
  edit?: unknown;
}

/** An inline step that only marks where the turn of what is known already comes. */
const NOTHING_TO_DO: StepWork = () => null;
const INLINE = { inline: true };

/** How many characters an outcome holds while it waits for its turn. */
const heldBy = (outcome: Outcome): number => ("result" in outcome ? sizeOf(outcome.result) : 0);

type First = { step: IteratorResult<readonly Durable[], NodeResult> } | { error: unknown };

function settle(go: () => IteratorResult<readonly Durable[], NodeResult>): First {
  try {
    return { step: go() };
  } catch (error) {
    return { error };
  }
}

/** What a node reads, unless it is more than the state may be: a mapping can say the same thing many times. */
function readInput(s: RunState, node: WorkflowNode, now: number): { input: JsonObject; error?: RunError } {
  const read = pickInput(s, node, now);
  const size = sizeOf(read.input);
  const most = s.run.config.max_state_chars;
  if (size <= most) return read;
  return { input: {}, error: tooLarge(`The input of ${node.name || node.id}`, size, most).toRunError() };
}

/** Its mapping, or its keys picked from the state. */
function pickInput(s: RunState, node: WorkflowNode, now: number): { input: JsonObject; error?: RunError } {
  if (node.input_mapping) {
    const scope = { state: s.state, nodes: s.outputs, input: s.input, run: { id: s.run.id }, now };
    const work = new Work();
    try {
      return {
        input: Object.fromEntries(
          Object.entries(node.input_mapping).map(([name, expression]) => [
            name,
            evaluateExpression(expression, scope, work),
          ]),
        ),
      };
    } catch (error) {
      return {
        input: {},
        error: {
          code: "INPUT_MISSING",
          message: `The inputs of ${node.name || node.id} cannot be computed: ${messageOf(error)}`,
          retryable: false,
          user_action: "edit_graph",
        },
      };
    }
  }
  const input: JsonObject = {};
  const missing: string[] = [];
  for (const key of node.input_keys) {
    const value = s.state[key];
    if (value === undefined) missing.push(key);
    else input[key] = value;
  }
  for (const key of node.optional_input_keys) {
    const value = s.state[key];
    if (value !== undefined) input[key] = value;
  }
  if (missing.length === 0 || isBeginning(node)) return { input };
  return {
    input,
    error: {
      code: "INPUT_MISSING",
      message: missingText(s, node, missing),
      retryable: false,
      user_action: "edit_graph",
    },
  };
}

function missingText(s: RunState, node: WorkflowNode, missing: readonly string[]): string {
  const producers = Object.values(s.graph.nodes).filter(
    (other) => other.id !== node.id && other.output_keys.some((key) => missing.includes(key)),
  );
  const skippedOnes = producers
    .filter((other) => s.nodes[other.id]?.status === "skipped")
    .map((other) => other.name || other.id);
  const who =
    skippedOnes.length > 0 ? ` ${skippedOnes.join(", ")} would have written it but was skipped.` : "";
  return `${node.name || node.id} needs ${missing.map((key) => `"${key}"`).join(", ")}, which nothing has written.${who}`;
}

function limitValue(limit: RaisableLimit, s: RunState): number | null {
  const { config } = s.run;
  return limit === "max_cost_usd" || limit === "max_total_tokens"
    ? (config.budget[limit] ?? null)
    : config[limit];
}

function limitText(limit: RaisableLimit, s: RunState): string {
  const value = limitValue(limit, s);
  switch (limit) {
    case "max_steps":
      return `The run used up its ${value} node runs. Raise the limit to go on.`;
    case "max_global_iterations":
      return `The run used up its ${value} model calls. Raise the limit to go on.`;
    case "max_active_ms":
      return `The run was at work for ${Math.round((value ?? 0) / 1000)} s, which is its limit. Raise the limit to go on.`;
    case "max_log_chars":
      return `The run has written down ${sizeText(value ?? 0)}, which is its limit. Raise the limit to go on, or let its nodes keep less.`;
    case "max_cost_usd":
      return `The next model call could exceed the budget of $${value}. Raise the budget to go on.`;
    case "max_total_tokens":
      return `The next model call could exceed the budget of ${value} tokens. Raise the budget to go on.`;
  }
}

const messageOf = (error: unknown) => cutText(errorMessage(error));

/** An error of a node's behaviour as data for people. */
function toRunError(error: unknown, node: WorkflowNode): RunError {
  if (error instanceof NodeFailure) return error.toRunError();
  if (error instanceof StepFailed) {
    const detail = error.error.detail as { error?: RunError } | undefined;
    if (detail?.error) return detail.error;
    if (error.error.name === "OversizedAnswer")
      return { code: "TOO_LARGE", message: error.message, retryable: false, user_action: "edit_graph" };
    if (error.error.name === "TimeoutError")
      return { code: "TIMEOUT", message: error.message, retryable: true, user_action: "retry" };
    return internalError(error.error, `${node.name || node.id} failed`);
  }
  const name = error instanceof Error ? error.name : "";
  if (name !== "ExpressionError" && name !== "TemplateError")
    return internalError(asError(error), `${node.name || node.id} failed`);
  const routes = getNodeKind(node.node_type).routes;
  return {
    code: routes ? "ROUTER_FAILED" : "CONFIG",
    message: `${node.name || node.id}${routes ? " could not decide" : ""}: ${messageOf(error)}`,
    retryable: false,
    user_action: "edit_graph",
  };
}
