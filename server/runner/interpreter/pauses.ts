import { defined } from "@/server/domain/base/defined";
import type { Flow, Settlement } from "@/server/domain/base/durable";
import { must } from "@/server/domain/base/must";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import type { RunState } from "@/server/domain/run";
import type { PausedPlace, PauseReason, StepGranularity } from "@/server/domain/run/events/control-events";
import { isHeldByQuestion } from "@/server/domain/run/questions/asking";
import { isWanted } from "@/server/domain/run/schedule/outcomes";
import type { Attempts } from "./attempts";
import type { Place } from "./places";
import type { RunLog } from "./run-log";
import type { Steps } from "./steps";
import type { OpenAttempt, Tasks } from "./tasks";

/**
 * Pauses a run: on request, before each step, at breakpoints. While it is paused nothing starts, no token moves and its
 * clocks stop; running work finishes, and its flows wait at the next pause point.
 */
export class Pauses {
  /** Activations that it paused before: they start when the run resumes. */
  private readonly passed = new Set<string>();
  /** Timer results that arrived while the run was paused: they take effect when it resumes. */
  private kept: { task: OpenAttempt; answer: Settlement }[] = [];

  constructor(
    private readonly log: RunLog,
    private readonly tasks: Tasks,
    private readonly steps: Steps,
    private readonly attempts: Attempts,
  ) {}

  /** A flow waits while the run is paused. True if it had to. */
  *whilePaused(): Flow<boolean> {
    let hasStood = false;
    while (this.isHeldNow()) {
      hasStood = true;
      yield [this.tasks.newGate("pause")];
    }
    return hasStood;
  }

  /** A flow comes to a place: it waits there while the run is paused, and where this very place holds it. */
  *arrive(place: Place): Flow<void> {
    const hasStood = yield* this.whilePaused();
    const hold = this.log.pausePoints.isWatching ? this.log.pausePoints.at(place, hasStood) : null;
    if (!hold) return;
    this.pauseAt("run", hold.reason, hold.at);
    while (this.log.isPaused) yield [this.tasks.newGate("pause")];
  }

  /** Whether the run is paused, now that an event may have led to where it is to be held. */
  isHeldNow(): boolean {
    const { due } = this.log.pausePoints;
    if (this.log.isPaused || !due) return this.log.isPaused;
    this.log.pausePoints.due = null;
    this.pauseAt("run", due.reason, due.at);
    return true;
  }

  /** Whether a node must wait before it starts: the run pauses there, or another node must finish first. */
  isHeldBefore(activation_id: string, node: WorkflowNode): boolean {
    if (!this.log.pausePoints.isWatching || this.passed.delete(activation_id)) return false;
    // Step by step, one node at a time: running work finishes first.
    if (this.log.s.run.stepping && isActive(this.log.s)) return true;
    // One that its condition passes over does not begin.
    if (isWanted(this.log.s, node, this.log.at) === false) return false;
    const hold = this.log.pausePoints.at({ point: "node_start", node_id: node.id, activation_id });
    if (!hold) return false;
    this.passed.add(activation_id);
    this.pauseAt("run", hold.reason, hold.at);
    return true;
  }

  pauseAt(by: string, reason: PauseReason, at: PausedPlace, now = false): void {
    this.log.apply({
      type: "run_paused",
      payload: { by, reason, at, ...defined({ now: now || undefined }) },
    });
    for (const task of this.tasks.all) this.tasks.stopTimeout(task);
    if (now) this.steps.suspend();
  }

  continueRun(by: string, as: "resume" | "step", granularity?: StepGranularity): void {
    const { since } = must(this.log.s.run, "paused_at");
    this.log.apply({ type: "run_continued", payload: { by, as, ...defined({ granularity }) } });
    this.lengthenQuestions(this.log.at - since);
    for (const task of this.tasks.all) if (task.flow) this.attempts.startClock(task.activationId);
    this.steps.resume();
    for (const { task, answer } of this.kept.splice(0))
      if (this.tasks.get(task.activationId) === task) this.attempts.hand(task, answer);
    for (const { task, key } of this.tasks.openGates("pause")) {
      this.attempts.resume(task, { key, result: { ok: true, value: null }, at: this.log.at });
      // Flows that still wait continue at the next step.
      if (this.log.isPaused) break;
    }
  }

  /** Time in which the run was paused doesn't count towards answering. */
  private lengthenQuestions(ms: number): void {
    for (const id of [...this.log.s.asking]) {
      const { requested, activation_id, node_id } = must(this.log.s.interactions, id);
      const expires_at = requested.expires_at + ms;
      const at = { node_id, activation_id };
      this.log.apply({ type: "interaction_extended", ...at, payload: { interaction_id: id, expires_at } });
    }
  }

  /** Whether a timer result must wait until the run resumes. */
  isKept(task: OpenAttempt, answer: Settlement): boolean {
    if (!this.log.isPaused) return false;
    const isTime =
      task.retry !== undefined || [...this.log.s.asking].some((id) => answer.key.startsWith(`${id}/`));
    if (isTime) this.kept.push({ task, answer });
    return isTime;
  }
}

/** Whether the run's clock ticks: some task is running, not only waiting for a time or a person. */
export function isActive(s: RunState): boolean {
  if (s.run.paused_at !== undefined || isHeldByQuestion(s)) return false;
  for (const id of s.running) if (s.activations[id]?.status === "running") return true;
  return false;
}
