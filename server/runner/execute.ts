import { RaisableLimit, type ReasonCode, type RunError } from "@/server/domain/agent/outcome";
import { Cancelled, type Durable, type DurableContext, type Settlement } from "@/server/domain/base/durable";
import { present } from "@/server/domain/base/must";
import { SIZES, sizeOf } from "@/server/domain/base/sizes";
import type { Json } from "@/server/domain/base/values";
import { WORK_LIMITS, workSoFar } from "@/server/domain/base/work-budget";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { startingState } from "@/server/domain/graph/run-input";
import { NodeFailure } from "@/server/domain/nodes";
import { durationText } from "@/server/domain/nodes/wait";
import type { RunState } from "@/server/domain/run";
import { isHeldByQuestion } from "@/server/domain/run/asking";
import { commandFault, RunCommand } from "@/server/domain/run/command";
import { canGoOn } from "@/server/domain/run/command-faults";
import type { RunEvent } from "@/server/domain/run/events";
import { overrideNext } from "@/server/domain/run/override";
import { complete } from "@/server/domain/run/schedule/outcomes";
import { unreachable } from "@/server/domain/run/schedule/reach";
import { begin, decide } from "@/server/domain/run/schedule/tokens";
import { waitersFor } from "@/server/domain/run/signals";
import { memberChanged } from "@/server/domain/run/team-edit";
import { analysisOf, heldBy, INLINE, NOTHING_TO_DO, planEditSignal, timeoutOf } from "./interpreter/attempts";
import {
  Command,
  limitRaised,
  planEdited,
  type SkipCommand,
  signalKey,
  stateEdited,
} from "./interpreter/commands";
import { outputOf } from "./interpreter/ends";
import { dueFork, forkedEvent, type MessageEdit, messageEdits, questionsMoved } from "./interpreter/forks";
import { Holding } from "./interpreter/holding";
import { LimitAsking } from "./interpreter/limit-asking";
import { limitsAskEverywhere, openLimitQuestion, raisedNow, raisedTo } from "./interpreter/limit-question";
import { limitError, limitValue } from "./interpreter/limits";
import { noteOf, questionsExtended, recovered, unread } from "./interpreter/notes";
import { leftOut, notFitting, Repeating } from "./interpreter/repeating";
import type { Task } from "./interpreter/tasks";
import type { Effects } from "./ports";
import { missIn } from "./recorded/recorded-answers";

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

export class Interpreter extends Holding {
  private control: Durable;
  /** A pause that the engine may use for other runs; units of work before the last answer. */
  private breath: Durable | null = null;
  private breaths = 0;
  private workBefore = 0;
  private controls = 1;
  private readonly edits: MessageEdit[] = [];
  /** It failed, and goes on only if a person tries the node again. */
  private isOver = false;
  /** What its failure stopped. */
  private stopped: readonly string[] = [];
  private readonly limitAsking = new LimitAsking(this);
  /** What people told the run that this one repeats. */
  private repeating: Repeating;

  constructor(ctx: DurableContext<RunEvent>, created: RunEvent, effects: Effects) {
    super(ctx, created, effects);
    this.control = ctx.signal("control#1");
    this.repeating = new Repeating(this.s, created);
  }

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
        if (!this.isOver) this.advance();
        if (this.reached()) continue;
        if (
          !this.isOver &&
          !this.isPaused &&
          !this.breath &&
          !this.tasks.areMoving &&
          !this.isAskingAtLimit()
        ) {
          if (this.breakTie()) continue;
          if (!this.finish()) return;
          if (this.isOver) continue;
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
    this.tasks.expect(this.breath);
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
      if (s.running.size >= config.max_parallel_nodes && this.atWork() >= config.max_parallel_nodes)
        return false;
      if (this.heldChars >= SIZES.event || this.needsBreath()) return false;
      const limit = this.limitBeforeNode();
      const node = present(
        s.graph.nodes[present(s.activations[id], "s.activations[id]").node_id],
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

  /** What a person said about the limit that kept the run from starting a node. */
  private atLimit(answer: Settlement): void {
    if (this.isPaused && answer.key !== `answer:${this.limitAsking.id}`) return this.limitAsking.keep(answer);
    const decided = this.limitAsking.receive(answer);
    if (!decided) return;
    const { limit, answered } = decided;
    const to = raisedTo(answered, limit, this.s);
    if (to === null) this.limitAsking.stopAt(limit);
    else if (to > (limitValue(limit, this.s) ?? 0)) this.raiseNow(limit, to, answered.by);
  }

  protected override continueRun(...how: Parameters<Holding["continueRun"]>): void {
    super.continueRun(...how);
    const kept = this.limitAsking.takeKept();
    if (kept) this.atLimit(kept);
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

  private receive(answer: Settlement): void {
    const note = answer.key.slice(0, answer.key.indexOf("#"));
    // While the server was down nothing was at work.
    if (note !== "recovered" && this.isActive()) this.activeMs += Math.max(0, answer.at - this.at);
    this.at = Math.max(this.at, answer.at);
    this.logChars += sizeOf(answer.result);
    this.workBefore = workSoFar();
    if (answer.key === this.breath?.key) {
      this.tasks.forget(answer);
      this.breath = null;
      return;
    }
    if (answer.key === this.control.key) return this.command(answer);
    this.repeating.note(answer.key);
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

  protected hand(task: Task, answer: Settlement): void {
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
    const output = outputOf(this.a, s, this.ended);
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

  private cancelRun(by: string, reason: string): void {
    this.apply({ type: "run_cancel_requested", payload: { by, reason } });
    this.cancelTasks(reason || "The run was cancelled.");
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

  /** A person's command to the run. Unknown ones are passed over: a newer server may have sent them. */
  private command(answer: Settlement): void {
    this.control = this.ctx.signal(`control#${++this.controls}`);
    if (!answer.result.ok) return;
    const value = Command.parse(answer.result.value);
    const by = value.by ?? "user";
    if (value.kind === "edit_plan") return this.editPlan(value, by);
    if (value.kind === "raise_limit") return this.raiseLimit(value, by);
    const read = RunCommand.safeParse(answer.result.value);
    if (!read.success) return;
    // The run may have gone on since the person saw it.
    const fault = commandFault(this.a, this.s, read.data);
    if (fault === null) this.follow(read.data, by);
    else this.apply({ type: "warning", payload: { code: "COMMAND_TOO_LATE", message: fault } });
  }

  /** Gives the run what a person told the one that it repeats, where it has come to that place. True if it did. */
  private repeat(): boolean {
    const told = this.repeating.take(!this.tasks.areMoving);
    if (!told) return false;
    const { command, by } = told;
    if (command.kind === "cancel") throw new Cancelled(by, command.reason, this.at);
    if (command.kind === "edit_plan") this.editPlan(command, by);
    else if (command.kind === "raise_limit") this.raiseLimit(command, by);
    else {
      const fault = commandFault(this.a, this.s, command);
      if (fault === null) this.follow(command, by);
      else this.applyAll(notFitting(told, fault));
    }
    return true;
  }

  private follow(command: RunCommand, by: string): void {
    switch (command.kind) {
      case "pause":
        return this.pauseAt(by, "person", { point: "anywhere" }, command.now);
      case "resume":
        return this.continueRun(by, "resume");
      case "step":
        return this.continueRun(by, "step", command.granularity);
      case "set_breakpoints":
        return this.apply({ type: "breakpoints_set", payload: { breakpoints: command.breakpoints, by } });
      case "edit_state":
        return this.apply(stateEdited(this.s, command, by));
      case "override_next":
        return this.applyAll(overrideNext(this.a, this.s, command, by));
      case "override_agent":
        return this.chooseAgent(command, by);
      case "signal":
        return this.signal(command, by);
      case "retry_node":
        return this.retry(command.activation_id, by);
      case "inject": {
        const { target, text } = command;
        return this.apply({ type: "instruction_injected", payload: { target, text, by } });
      }
      case "skip_node":
        return this.skip(command, by);
      case "edit_team":
        return this.applyAll(memberChanged(this.s, command, by));
      default:
        return command satisfies never;
    }
  }

  /** A point at which nothing has begun yet that is about to: a fork that is due goes its own way. True if it did. */
  reached(): boolean {
    const fork = dueFork(this.s);
    if (!fork) return false;
    const paused = Math.max(0, fork.at - this.at);
    this.at += paused;
    this.activeMs = 0;
    this.edits.push(...messageEdits(this.s, fork.patches));
    this.apply(forkedEvent(fork));
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

  /** Every node that waits for this signal goes on. */
  private signal({ name, data }: { name: string; data: Json }, by: string): void {
    const waiting = waitersFor(this.s, name);
    this.apply({ type: "signal_received", payload: { name, data, by } });
    for (const id of waiting) {
      const key = signalKey(id);
      const task = this.tasks.suspend(key);
      if (!task) continue;
      this.tasks.settled(key);
      this.resume(task, { key, result: { ok: true, value: data }, at: this.at });
    }
  }

  private chooseAgent(
    { activation_id, agent_id }: { activation_id: string; agent_id: string },
    by: string,
  ): void {
    const { node_id } = present(this.s.activations[activation_id], "activation");
    this.apply({ type: "next_overridden", node_id, activation_id, payload: { agent_id, by } });
  }

  /** Lets a node that failed begin anew, and a run that failed with it go on, with whatever that stopped. */
  private retry(id: string, by: string): void {
    const task = this.tasks.get(id);
    if (task) this.tasks.release(task);
    const again = (activation_id: string, more: { along?: true } = {}) => {
      const { node_id } = present(this.s.activations[activation_id], "activation");
      this.apply({ type: "node_retried", node_id, activation_id, payload: { by, ...more } });
    };
    if (!this.isOver) return again(id);
    this.isOver = false;
    this.limit = null;
    this.apply({ type: "run_resumed", payload: { by } });
    for (const other of this.stopped) again(other, { along: true });
    again(id);
  }

  /** Ends an activation with the output that a person gives; what it had under way is given up. */
  private skip({ activation_id, output, labels }: SkipCommand, by: string): void {
    const task = this.tasks.get(activation_id);
    if (task) this.tasks.release(task);
    const { node_id } = present(this.s.activations[activation_id], "activation");
    const given = { output, ...(labels ? { labels } : {}) };
    this.apply({ type: "node_skipped_by", node_id, activation_id, payload: { ...given, by } });
    this.applyAll(complete(this.a, this.s, activation_id, given, this.at));
  }

  private editPlan(command: Command, by: string): void {
    const edited = planEdited(this.s, command, by);
    if (!edited) return;
    this.apply(edited.event);
    const key = planEditSignal(command.activation_id ?? "");
    const task = edited.isChanged && this.tasks.ring(key);
    if (task) this.resume(task, { key, result: { ok: true, value: null }, at: this.at });
  }

  private raiseLimit(command: Command, by: string): void {
    const events = limitRaised(this.s, command, by);
    if (!events) return;
    this.applyAll(events);
    if (limitsAskEverywhere(this.s)) this.answerByRaising(command, by);
    this.openLimits();
  }

  /** Whoever was asked about that limit need not answer any more: it was raised at another place. */
  private answerByRaising({ limit }: Command, by: string): void {
    const read = RaisableLimit.safeParse(limit);
    const asked = read.success ? openLimitQuestion(this.s, read.data) : undefined;
    if (!read.success || !asked) return;
    const key = `answer:${asked.id}`;
    const value = raisedNow(read.data, this.s, by);
    const answer: Settlement = { key, result: { ok: true, value }, at: this.at };
    this.ctx.abandon({ key });
    if (this.limitAsking.waitsFor(key)) return this.atLimit(answer);
    const task = this.tasks.settled(key);
    if (task) this.resume(task, answer);
  }

  /** Whoever waits at a limit goes on. */
  private openLimits(): void {
    this.isLimitOpened = false;
    this.limit = null;
    this.limitAsking.forget();
    for (const { task, key } of this.tasks.openGates("limit")) {
      if (!task.timeout && !this.isPaused) this.armTimeout(task);
      this.resume(task, { key, result: { ok: true, value: null }, at: this.at });
    }
  }
}
