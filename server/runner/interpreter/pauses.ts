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
 * Holds a run for people: where they ask for it, before each step, at breakpoints. While it is paused nothing begins, no
 * token moves and no clock of it ticks; what is under way comes to its end, and its flows wait at the next place.
 */
export class Pauses {
  /** Activations that were stood before: they begin once the run goes on. */
  private readonly passed = new Set<string>();
  /** Answers that came while the run was paused and that time brought: they count once it goes on. */
  private kept: { task: OpenAttempt; answer: Settlement }[] = [];

  constructor(
    private readonly log: RunLog,
    private readonly tasks: Tasks,
    private readonly steps: Steps,
    private readonly attempts: Attempts,
  ) {}

  /** A flow comes to a place: it waits there while the run is paused, and where this very place holds it. */
  *arrive(place: Place): Flow<void> {
    let hasStood = false;
    while (this.isHeldNow()) {
      hasStood = true;
      yield [this.tasks.newGate("pause")];
    }
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

  /** Whether a node has to wait before it starts: it is held there, or another one has to be done first. */
  isHeldBefore(activation_id: string, node: WorkflowNode): boolean {
    if (!this.log.pausePoints.isWatching || this.passed.delete(activation_id)) return false;
    // Step by step, one after the other: what is at work comes to its end first.
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
      // Whoever still waits goes on with the next.
      if (this.log.isPaused) break;
    }
  }

  /** The time in which the run stood still was nobody's to answer in. */
  private lengthenQuestions(ms: number): void {
    for (const id of [...this.log.s.asking]) {
      const { requested, activation_id, node_id } = must(this.log.s.interactions, id);
      const expires_at = requested.expires_at + ms;
      const at = { node_id, activation_id };
      this.log.apply({ type: "interaction_extended", ...at, payload: { interaction_id: id, expires_at } });
    }
  }

  /** Whether an answer has to wait until the run goes on: it is time that brought it. */
  isKept(task: OpenAttempt, answer: Settlement): boolean {
    if (!this.log.isPaused) return false;
    const isTime =
      task.retry !== undefined || [...this.log.s.asking].some((id) => answer.key.startsWith(`${id}/`));
    if (isTime) this.kept.push({ task, answer });
    return isTime;
  }
}

/** Whether the run's clock ticks: some task is at work, not only waiting for a time or a person. */
export function isActive(s: RunState): boolean {
  if (s.run.paused_at !== undefined || isHeldByQuestion(s)) return false;
  for (const id of s.running) if (s.activations[id]?.status === "running") return true;
  return false;
}
