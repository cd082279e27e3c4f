import type { RaisableLimit, ReasonCode, RunError } from "@/server/domain/agent/outcome";
import { Cancelled, type Durable, type DurableContext, type Settlement } from "@/server/domain/base/durable";
import { must, present } from "@/server/domain/base/must";
import { SIZES, sizeOf } from "@/server/domain/base/sizes";
import { WORK_LIMITS, workSoFar } from "@/server/domain/base/work-budget";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { startingState } from "@/server/domain/graph/run-input";
import { NodeFailure } from "@/server/domain/nodes";
import { durationText } from "@/server/domain/nodes/wait";
import type { RunState } from "@/server/domain/run";
import { dropped } from "@/server/domain/run/commands/command";
import { canGoOn } from "@/server/domain/run/commands/command-errors";
import { isSince } from "@/server/domain/run/edition";
import type { RunEvent } from "@/server/domain/run/events";
import { isHeldByQuestion } from "@/server/domain/run/questions/asking";
import { unreachable } from "@/server/domain/run/schedule/reach";
import { begin, decide } from "@/server/domain/run/schedule/tokens";
import type { Effects } from "../node/ports";
import { missIn } from "../recorded/recorded-answers";
import { analysisOf, heldBy, INLINE, NOTHING_TO_DO, timeoutOf } from "./attempts";
import { Commanding } from "./commanding";
import { keptOf, outputOf } from "./ends";
import { dueFork, forkedEvent, type MessageEdit, messageEdits, questionsMoved } from "./forks";
import { limitError } from "./limits";
import { noteOf, questionsExtended, recovered, unread } from "./notes";
import { leftOut, Repeating } from "./repeating";
import type { OpenAttempt } from "./tasks";

/** The present version of the interpreter: what a run began with, it ends with. */
export const INTERPRETER_VERSION = 2;

/**
 * Carries a run from its creation to its end. `created` is the run's first event, already in the log.
 * Deterministic: on a replay it makes the same events in the same order. `ctx.next` is its only await.
 */
export async function execute(
  ctx: DurableContext<RunEvent>,
  created: RunEvent,
  effects: Effects,
  watch?: (state: RunState) => void,
): Promise<void> {
  const interpreter = new Interpreter(ctx, created, effects);
  watch?.(interpreter.s);
  await interpreter.run();
}

export class Interpreter extends Commanding {
  /** A pause that the engine may use for other runs; units of work before the last answer. */
  private yieldPoint: Durable | null = null;
  private yieldCount = 0;
  private workBefore = 0;
  private readonly edits: MessageEdit[] = [];

  async run(): Promise<void> {
    this.workBefore = workSoFar();
    this.apply({ type: "run_started", payload: {} });
    const { state, defaults } = startingState(this.s.graph, this.s.input);
    this.apply({ type: "state_initialized", payload: { state, defaults_applied: defaults } });
    this.applyAll(begin(this.a, this.s));
    try {
      for (;;) {
        if (this.isOver && !this.repeating.isRetryNext && !this.ctx.isSent(this.control.key)) return;
        if (this.isLimitOpened) this.openLimits();
        this.readAgain();
        if (!this.isOver) this.advance();
        if (this.reached()) continue;
        if (
          !this.isOver &&
          !this.isPaused &&
          !this.yieldPoint &&
          !this.tasks.areMoving &&
          !this.isAskingAtLimit()
        ) {
          if (this.breakTie()) continue;
          if (!this.hasPendingCommand) {
            if (!this.finish()) return;
            if (this.isOver) continue;
          }
        }
        if (this.repeat()) continue;
        const next = this.ctx.next([
          ...this.tasks.pending,
          ...this.advice.pending,
          ...this.limitAsking.pending,
          this.control,
        ]);
        this.receive(next instanceof Promise ? await next : next);
        if (this.s.failing?.code === "NOT_RECORDED" && !this.isOver && !this.finish()) return;
      }
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
      this.at = error.at ?? this.at;
      this.cancelRun(error);
    }
  }

  /**
   * Whether what was evaluated since the last answer is as much as one evaluation may be. Then the rest waits for a turn of
   * its own, so that many nodes side by side hold the thread no longer than one. Counted, so a replay pauses alike.
   */
  private needsYield(): boolean {
    if (this.yieldPoint) return true;
    if (workSoFar() - this.workBefore < WORK_LIMITS.units) return false;
    this.yieldPoint = this.ctx.step(`breath#${++this.yieldCount}`, NOTHING_TO_DO, INLINE);
    this.tasks.expect(this.yieldPoint);
    return true;
  }

  /** Moves tokens and starts what may start, until nothing changes any more. */
  private advance(): void {
    if (this.terminated) return;
    for (;;) {
      if (this.isHeldNow()) return;
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
    if (s.failing || s.ready.length === 0 || isHeldByQuestion(s)) return false;
    const { config } = s.run;
    for (const id of [...s.ready]) {
      if (this.reached()) return true;
      if (s.running.size >= config.max_parallel_nodes && this.activeCount() >= config.max_parallel_nodes)
        return false;
      if (this.heldChars >= SIZES.event || this.needsYield()) return false;
      const limit = this.limitBeforeNode();
      const node = present(
        s.graph.nodes[must(s.activations, id).node_id],
        "s.graph.nodes[s.activations[id]!.node_id]",
      );
      if (limit !== null) {
        if (!this.limitAsking.ask(limit, node.id)) this.limit = limit;
        return false;
      }
      if (this.isBusy(node)) continue;
      if (this.isHeldBefore(id, node)) return false;
      if (this.start(id, node)) return true;
      if (this.isHeldNow()) return false;
    }
    return false;
  }

  /** The limit that forbids another node now, if any. */
  private limitBeforeNode(): RaisableLimit | null {
    const { totals, run } = this.s;
    if (totals.steps >= run.config.max_steps) return "max_steps";
    if (this.activeMs >= run.config.max_active_ms) return "max_active_ms";
    return this.logChars >= run.config.max_log_chars ? "max_log_chars" : null;
  }

  /** Whether a person is asked about a limit, and anything can still come of it. */
  private isAskingAtLimit(): boolean {
    return this.limitAsking.isOpen && !this.terminated && !this.s.failing;
  }

  /** How many activations are at work; one that waits for a time or a person takes nobody's place. */
  private activeCount(): number {
    let count = 0;
    for (const id of this.s.running) if (this.s.activations[id]?.status === "running") count++;
    return count;
  }

  private isBusy(node: WorkflowNode): boolean {
    for (const id of this.s.running) {
      const other = present(
        this.s.graph.nodes[must(this.s.activations, id).node_id],
        "this.s.graph.nodes[this.s.activations[id]!.node_id]",
      );
      if (other.id === node.id) return true;
      if (node.concurrency_key !== undefined && other.concurrency_key === node.concurrency_key) return true;
    }
    return false;
  }

  private receive(answer: Settlement): void {
    const note = answer.key.slice(0, answer.key.indexOf("#"));
    // While the server was down nothing was at work.
    if (note !== "recovered" && this.isActive()) this.activeMs += Math.max(0, answer.at - this.at);
    this.at = Math.max(this.at, answer.at);
    this.logChars += sizeOf(answer.result);
    this.workBefore = workSoFar();
    if (answer.key === this.yieldPoint?.key) {
      this.tasks.forget(answer);
      this.yieldPoint = null;
      return;
    }
    if (answer.key === this.control.key) return this.command(answer);
    this.repeating.note(answer.key);
    this.heard(answer);
    if (note === "recovered" || note === "clock") return this.note(note, answer);
    if (this.limitAsking.waitsFor(answer.key)) return this.atLimit(answer);
    const advised = this.advice.receive(answer, this.s);
    if (advised) return this.applyAll(advised);
    const task = this.tasks.settled(answer.key);
    this.answered(answer.key);
    if (!task) return;
    const miss = missIn(answer.result);
    if (miss) return this.failRun(task, miss);
    if (!this.isKept(task, answer)) this.hand(task, answer);
  }

  protected hand(task: OpenAttempt, answer: Settlement): void {
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
      this.tasks.release(task);
      this.attempt(task.activationId, this.nodeOf(task.activationId), task.retry);
      return;
    }
    if (task.known) {
      this.heldChars -= heldBy(task.known);
      this.over(task, task.known);
    } else this.resume(task, answer);
  }

  /** A note of the engine: it was down, or its machine slept, or the clock was set. */
  private note(note: "recovered" | "clock", answer: Settlement): void {
    const value = noteOf(answer);
    if (note === "recovered") this.apply(recovered(this.s, value, this.tasks.ids));
    if (note === "clock") {
      const ms = value.ms ?? 0;
      if (this.isActive()) this.activeMs = Math.max(0, this.activeMs - ms);
      this.apply({ type: "clock_jumped", payload: { ms } });
      if (ms <= 0) return;
    }
    this.applyAll(questionsExtended(this.s, this.at));
  }

  /** In graphs whose loops have two entries, tokens can wait for each other: the first goes on. */
  private breakTie(): boolean {
    if (
      this.terminated ||
      this.limit ||
      this.s.failing ||
      this.tasks.hasGates ||
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

  /** Ends the run; true if it may go on: after a limit was raised, or where a person tries again what failed. */
  private finish(): boolean {
    const { s } = this;
    const output = { ...keptOf(s), ...outputOf(this.a, s, this.ended) };
    if (!this.limit || this.terminated) this.applyAll([...unread(s), ...leftOut(this.repeating)]);
    const finished = (
      final_status: "COMPLETED" | "ERROR" | "INCOMPLETE",
      reason_code: ReasonCode,
      more: { error?: RunError; resumable?: RaisableLimit[] } = {},
    ) =>
      this.apply({
        type: "run_finished",
        payload: { final_status, reason_code, output, warnings: [...s.run.warnings], ...more },
      });

    if (s.failing) {
      this.stopped = this.tasks.ids;
      this.cancelTasks("The run failed.");
      finished("ERROR", s.failing.code, { error: s.failing });
      this.isOver = canGoOn(s);
      return this.isOver;
    }
    if (this.limit && !this.terminated) {
      const error = limitError(this.limit, s);
      finished("INCOMPLETE", error.code, { error, resumable: [this.limit] });
      // The time a person takes is not the node's.
      for (const task of this.tasks.all) this.tasks.stopTimeout(task);
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

  private cancelRun({ by, reason, untaken }: Cancelled): void {
    const isNamed = isSince(this.s.run, 3);
    const id = isNamed ? { command_id: "cancel" } : {};
    this.apply({ type: "run_cancel_requested", payload: { by, reason }, ...id });
    this.cancelTasks(reason || "The run was cancelled.");
    if (isNamed) this.applyAll(untaken.map(dropped));
    this.apply({
      type: "run_finished",
      payload: {
        final_status: "CANCELLED",
        reason_code: "CANCELLED",
        output: outputOf(this.a, this.s, this.ended),
        warnings: [...this.s.run.warnings],
      },
    });
  }

  /** A point at which nothing has begun yet that is about to: a fork that is due goes its own way. True if it did. */
  reached(): boolean {
    const fork = dueFork(this.s);
    if (!fork) return false;
    const paused = Math.max(0, fork.at - this.at);
    this.at += paused;
    this.activeMs = 0;
    this.edits.push(...messageEdits(this.s, fork.patches));
    const { state, messages = [], plan = [] } = fork.patches;
    const isPatched = (id: string) =>
      messages.some(({ agent }) => agent.startsWith(`${id}/`)) ||
      plan.some(({ activation_id }) => activation_id === id);
    if (state) this.changing(state, fork.by, isPatched);
    const repeated = fork.replay ? undefined : this.repeating.taken;
    this.apply(forkedEvent(fork, repeated));
    if (fork.latest) this.a = analysisOf(this.s.graph);
    // What a fork of a replay comes to is its own.
    if (!fork.replay) this.repeating = new Repeating(this.s);
    for (const event of questionsMoved(this.s, paused)) this.apply(event);
    for (const patch of fork.patches.plan ?? []) this.editPlan(patch, fork.by);
    return true;
  }

  /** What messages of an agent's transcript say since a fork. */
  editsOf(agent: string): readonly MessageEdit[] {
    return this.edits.filter((edit) => edit.agent === agent);
  }
}
