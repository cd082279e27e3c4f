import type { RaisableLimit, ReasonCode, RunError } from "@/server/domain/agent/outcome";
import { Cancelled, type Durable, type DurableContext, type Settlement } from "@/server/domain/base/durable";
import { must, present } from "@/server/domain/base/must";
import { SIZES, sizeOf } from "@/server/domain/base/sizes";
import { WORK_LIMITS, workSoFar } from "@/server/domain/base/work-budget";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { startingState } from "@/server/domain/graph/run-input";
import { getNodeKind } from "@/server/domain/nodes";
import type { RunState } from "@/server/domain/run";
import { dropped } from "@/server/domain/run/commands/command";
import { isSince } from "@/server/domain/run/edition";
import type { RunEvent } from "@/server/domain/run/events";
import { isHeldByQuestion } from "@/server/domain/run/questions/asking";
import { unreachable } from "@/server/domain/run/schedule/reach";
import { begin, decide } from "@/server/domain/run/schedule/tokens";
import {
  dueFork,
  forkedEvent,
  type MessageEdit,
  messageEdits,
  questionsMoved,
  senderOf,
} from "../fork/apply-fork";
import type { Effects } from "../node/ports";
import { missIn } from "../replay/recorded-answers";
import { Advice } from "./advice";
import { Attempts } from "./attempts";
import { CommandHandler } from "./command-handler";
import { keptOf, outputOf } from "./ends";
import type { Engine } from "./engine";
import { Escalation } from "./escalation";
import { limitError } from "./limits";
import { noteOf, questionsExtended, recovered, unread } from "./notes";
import { isActive, Pauses } from "./pauses";
import { leftOut } from "./repeating";
import { RunLimits } from "./run-limits";
import { RunLog } from "./run-log";
import { INLINE, NOTHING_TO_DO, Steps } from "./steps";
import { Tasks } from "./tasks";

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
  watch?.(interpreter.log.s);
  await interpreter.run();
}

/** A run from its creation to its end: moves tokens, starts nodes, delivers answers. */
class Interpreter implements Engine {
  readonly log: RunLog;
  readonly attempts: Attempts;
  readonly steps: Steps;
  readonly pauses: Pauses;
  readonly limits: RunLimits;
  readonly escalation: Escalation;
  readonly advice: Advice;
  readonly tasks: Tasks;
  private readonly commands: CommandHandler;
  /** A pause that the engine may use for other runs; units of work before the last answer. */
  private yieldPoint: Durable | null = null;
  private yieldCount = 0;
  private workBefore = 0;
  private readonly edits: MessageEdit[] = [];

  constructor(
    readonly context: DurableContext<RunEvent>,
    created: RunEvent,
    readonly effects: Effects,
  ) {
    this.log = new RunLog(context, created);
    this.tasks = new Tasks(context);
    this.advice = new Advice(context);
    this.steps = new Steps(context, this.tasks);
    this.attempts = new Attempts(this.log, this.tasks, this.steps, this);
    this.pauses = new Pauses(this.log, this.tasks, this.steps, this.attempts);
    this.limits = new RunLimits(this.log, this.tasks, this.attempts, this);
    this.escalation = new Escalation(this, this);
    this.commands = new CommandHandler(context, created, this);
  }

  /** Whether people told the run something that it has not come to. */
  private get hasPendingCommand(): boolean {
    return [this.commands.control, ...this.advice.pending].some(({ key }) => this.context.isSent(key));
  }

  async run(): Promise<void> {
    this.workBefore = workSoFar();
    this.log.apply({ type: "run_started", payload: {} });
    const { graph, input, run } = this.log.s;
    const { state, defaults } = startingState(graph, input, run.variables);
    this.log.apply({ type: "state_initialized", payload: { state, defaults_applied: defaults } });
    this.log.applyAll(begin(this.log.a, this.log.s));
    try {
      for (;;) {
        const outcome = this.proceed();
        if (outcome === "ended") return;
        if (outcome === "again") continue;
        const next = this.context.next([
          ...this.tasks.pending,
          ...this.advice.pending,
          ...this.limits.pending,
          ...this.escalation.pending,
          this.commands.control,
        ]);
        this.receive(next instanceof Promise ? await next : next);
        if (this.log.s.failing?.code === "NOT_RECORDED" && !this.commands.isOver && !this.finish()) return;
      }
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
      this.log.at = error.at ?? this.log.at;
      this.cancelRun(error, isSince(this.log.s.run, 3) ? { command_id: "cancel" } : {});
    }
  }

  /** Does what needs no further answer: the run has ended, there may be more of it, or it waits for an answer. */
  private proceed(): "ended" | "again" | "waits" {
    const { isOver, repeating, control } = this.commands;
    if (isOver && !repeating.isRetryNext && !this.context.isSent(control.key)) return "ended";
    if (this.escalation.stopped) {
      this.cancelRun(this.escalation.stopped, {});
      return "ended";
    }
    this.limits.openIfDue();
    this.attempts.readAgain();
    if (!isOver) this.advance();
    if (this.reached()) return "again";
    if (this.isIdle) {
      if (this.breakTie()) return "again";
      if (!this.hasPendingCommand) {
        if (!this.finish()) return "ended";
        if (this.commands.isOver) return "again";
      }
    }
    return this.commands.repeat() ? "again" : "waits";
  }

  /** Whether nothing more happens without an external event. */
  private get isIdle(): boolean {
    return (
      !this.commands.isOver &&
      !this.log.isPaused &&
      !this.yieldPoint &&
      !this.tasks.areMoving &&
      !this.isAsking()
    );
  }

  /**
   * Whether what was evaluated since the last answer is as much as one evaluation may be. Then the rest waits for a turn of
   * its own, so that many nodes side by side hold the thread no longer than one. Counted, so a replay pauses alike.
   */
  private needsYield(): boolean {
    if (this.yieldPoint) return true;
    if (workSoFar() - this.workBefore < WORK_LIMITS.units) return false;
    this.yieldPoint = this.context.step(`breath#${++this.yieldCount}`, NOTHING_TO_DO, INLINE);
    this.tasks.expect(this.yieldPoint);
    return true;
  }

  /** Moves tokens and starts what may start, until nothing changes any more. */
  private advance(): void {
    if (this.attempts.terminated) return;
    for (;;) {
      if (this.pauses.isHeldNow()) return;
      const events = decide(this.log.a, this.log.s);
      this.log.applyAll(events);
      if (events.length === 0 && !this.startReady()) break;
    }
    const targets = this.log.takeSkipped();
    if (targets.length > 0) this.log.applyAll(unreachable(this.log.a, this.log.s, targets));
  }

  /** Starts ready activations; true if one of them moved tokens at once. */
  private startReady(): boolean {
    const { s } = this.log;
    if (s.failing || s.ready.length === 0 || isHeldByQuestion(s)) return false;
    for (const id of [...s.ready]) {
      if (this.reached()) return true;
      if (this.isFull || this.attempts.heldChars >= SIZES.event || this.needsYield()) return false;
      const limit = this.limits.beforeNode();
      const node = present(
        s.graph.nodes[must(s.activations, id).node_id],
        "s.graph.nodes[s.activations[id]!.node_id]",
      );
      // Nothing is left to stop before an end.
      if (!getNodeKind(node.node_type).ends && this.escalation.holds(node.id)) return false;
      if (limit !== null) {
        this.limits.stopBefore(node.id, limit);
        return false;
      }
      if (this.isBusy(node)) continue;
      if (this.pauses.isHeldBefore(id, node)) return false;
      if (this.attempts.start(id, node)) return true;
      if (this.pauses.isHeldNow()) return false;
    }
    return false;
  }

  /** Whether a person is asked whether the run continues, and anything can still come of it. */
  private isAsking(): boolean {
    return (
      (this.limits.isAsking || this.escalation.isAsking) && !this.attempts.terminated && !this.log.s.failing
    );
  }

  /** Whether no other node may start now; a node that waits for a time or a person doesn't count. */
  private get isFull(): boolean {
    const { running, activations, run } = this.log.s;
    const most = run.config.max_parallel_nodes;
    if (running.size < most) return false;
    let count = 0;
    for (const id of running) if (activations[id]?.status === "running") count++;
    return count >= most;
  }

  private isBusy(node: WorkflowNode): boolean {
    for (const id of this.log.s.running) {
      const other = present(
        this.log.s.graph.nodes[must(this.log.s.activations, id).node_id],
        "this.log.s.graph.nodes[this.log.s.activations[id]!.node_id]",
      );
      if (other.id === node.id) return true;
      if (node.concurrency_key !== undefined && other.concurrency_key === node.concurrency_key) return true;
    }
    return false;
  }

  private receive(answer: Settlement): void {
    const note = answer.key.slice(0, answer.key.indexOf("#"));
    // Nothing ran while the server was down.
    if (note !== "recovered") this.limits.passed(Math.max(0, answer.at - this.log.at), isActive(this.log.s));
    this.log.at = Math.max(this.log.at, answer.at);
    this.log.chars += sizeOf(answer.result);
    this.workBefore = workSoFar();
    if (answer.key === this.yieldPoint?.key) {
      this.tasks.forget(answer);
      this.yieldPoint = null;
      return;
    }
    if (answer.key === this.commands.control.key) return this.commands.receive(answer);
    this.commands.repeating.note(answer.key);
    this.steps.heard(answer);
    if (note === "recovered" || note === "clock") return this.note(note, answer);
    if (this.limits.waitsFor(answer.key)) return this.limits.receive(answer);
    if (this.escalation.waitsFor(answer.key)) return this.escalation.receive(answer);
    const advised = this.advice.receive(answer, this.log.s);
    if (advised) return this.log.applyAll(advised);
    const task = this.tasks.settled(answer.key);
    this.steps.answered(answer.key);
    if (!task) return;
    const miss = missIn(answer.result);
    if (miss) return this.attempts.failRun(task, miss);
    if (!this.pauses.isKept(task, answer) && !this.escalation.keeps(task, answer))
      this.attempts.hand(task, answer);
  }

  /** A note of the engine: it was down, or its machine slept, or the clock was set. */
  private note(note: "recovered" | "clock", answer: Settlement): void {
    const value = noteOf(answer);
    if (note === "recovered") this.log.apply(recovered(this.log.s, value, this.tasks.ids));
    if (note === "clock") {
      const ms = value.ms ?? 0;
      this.limits.passed(-ms, isActive(this.log.s));
      this.log.apply({ type: "clock_jumped", payload: { ms } });
      if (ms <= 0) return;
    }
    this.log.applyAll(questionsExtended(this.log.s, this.log.at));
  }

  /** In graphs with loops that have two entries, tokens can wait for each other: the first one continues. */
  private breakTie(): boolean {
    if (
      this.attempts.terminated ||
      this.limits.reached ||
      this.log.s.failing ||
      this.tasks.hasGates ||
      this.log.s.parked.size === 0 ||
      this.log.s.ready.length > 0
    )
      return false;
    const events = decide(this.log.a, this.log.s, true);
    this.log.applyAll(events);
    if (events.length > 0)
      this.log.apply({
        type: "warning",
        payload: {
          code: "TIE",
          message: "Branches waited for each other at a loop with two entry points; the first one continued.",
        },
      });
    return events.length > 0;
  }

  /** Ends the run; true if it can continue, when a limit is raised or a person retries what failed. */
  private finish(): boolean {
    const { s } = this.log;
    const output = { ...keptOf(s), ...outputOf(this.log.a, s, this.attempts.ended) };
    if (!this.limits.reached || this.attempts.terminated)
      this.log.applyAll([...unread(s), ...leftOut(this.commands.repeating)]);
    const finished = (
      final_status: "COMPLETED" | "ERROR" | "INCOMPLETE",
      reason_code: ReasonCode,
      more: { error?: RunError; resumable?: RaisableLimit[] } = {},
    ) =>
      this.log.apply({
        type: "run_finished",
        payload: {
          ...{ final_status, reason_code, output, warnings: [...s.run.warnings] },
          ...this.activeTime,
          ...more,
        },
      });

    if (s.failing) {
      const stopped = this.tasks.ids;
      this.attempts.cancelTasks("The run failed.");
      finished("ERROR", s.failing.code, { error: s.failing });
      return this.commands.runFailed(stopped);
    }
    if (this.limits.reached && !this.attempts.terminated) {
      const error = limitError(this.limits.reached, s);
      finished("INCOMPLETE", error.code, { error, resumable: [this.limits.reached] });
      // The time a person takes is not the node's.
      for (const task of this.tasks.all) this.tasks.stopTimeout(task);
      return true;
    }
    if (this.attempts.ended.length === 0)
      finished("INCOMPLETE", "NO_END_REACHED", {
        error: {
          code: "NO_END_REACHED",
          message: "Every branch ended before it reached an end node.",
          retryable: false,
          user_action: "edit_graph",
        },
      });
    else
      finished(
        this.attempts.ended.some(({ status }) => status === "ERROR") ? "ERROR" : "COMPLETED",
        "END_REACHED",
      );
    return false;
  }

  private cancelRun(
    { by, reason, untaken = [] }: Pick<Cancelled, "by" | "reason"> & { untaken?: readonly string[] },
    id: { command_id?: string },
  ): void {
    this.log.apply({ type: "run_cancel_requested", payload: { by, reason }, ...id });
    this.attempts.cancelTasks(reason || "The run was cancelled.");
    if (isSince(this.log.s.run, 3)) this.log.applyAll(untaken.map(dropped));
    this.log.apply({
      type: "run_finished",
      payload: {
        final_status: "CANCELLED",
        reason_code: "CANCELLED",
        output: outputOf(this.log.a, this.log.s, this.attempts.ended),
        warnings: [...this.log.s.run.warnings],
        ...this.activeTime,
      },
    });
  }

  /** What the run that started this one is told of its time. */
  private get activeTime(): { active_ms?: number } {
    return this.log.s.run.parent ? { active_ms: this.limits.activeMs } : {};
  }

  /** A point at which nothing has begun yet that is about to: a fork that is due goes its own way. True if it did. */
  reached(): boolean {
    const fork = dueFork(this.log.s);
    if (!fork) return false;
    const paused = Math.max(0, fork.at - this.log.at);
    this.log.at += paused;
    this.limits.restart();
    this.escalation.restart();
    this.edits.push(...messageEdits(this.log.s, fork.patches));
    const { state, messages = [], plan = [] } = fork.patches;
    const isPatched = (id: string) =>
      messages.some(({ agent }) => agent.startsWith(`${id}/`)) ||
      plan.some(({ activation_id }) => activation_id === id);
    if (state) this.attempts.changing(state, fork.by, isPatched);
    const repeated = fork.replay ? undefined : this.commands.repeating.taken;
    this.log.apply(forkedEvent(fork, repeated));
    if (fork.latest) this.log.graphChanged();
    if (!fork.replay) this.commands.stopRepeating();
    for (const event of questionsMoved(this.log.s, paused)) this.log.apply(event);
    for (const patch of fork.patches.plan ?? []) this.commands.editPlan(patch, senderOf(fork));
    return true;
  }

  /** What messages of an agent's transcript say since a fork. */
  editsOf(agent: string): readonly MessageEdit[] {
    return this.edits.filter((edit) => edit.agent === agent);
  }
}
