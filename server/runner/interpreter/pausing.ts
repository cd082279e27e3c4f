import { defined } from "@/server/domain/base/defined";
import type { Durable, DurableContext, Flow, Settlement, StepWork } from "@/server/domain/base/durable";
import { must } from "@/server/domain/base/must";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { isSince } from "@/server/domain/run/edition";
import type { NewEvent, RunEvent } from "@/server/domain/run/events";
import type { PausedPlace, PauseReason, StepGranularity } from "@/server/domain/run/events/control-events";
import type { StatePatch } from "@/server/domain/run/lineage";
import { isHeldByQuestion } from "@/server/domain/run/questions/asking";
import { isWanted } from "@/server/domain/run/schedule/outcomes";
import { attemptOf, keptText, type Reader } from "@/server/domain/run/state-reads";
import type { Effects, StepOptions } from "../node/ports";
import { Attempts, heldBy } from "./attempts";
import { PausePoints } from "./pause-points";
import type { Place } from "./places";
import type { OpenAttempt } from "./tasks";

/** A step that can be given up and made again. */
interface Repeatable {
  work: StepWork;
  options: StepOptions;
}

/**
 * Holds a run for people: where they ask for it, before each step, at breakpoints. While it is paused nothing begins, no
 * token moves and no clock of it ticks; what is under way comes to its end, and its flows wait at the next place.
 */
export abstract class Pausing extends Attempts {
  protected readonly holds: PausePoints;
  /** Activations that were stood before: they begin once the run goes on. */
  private readonly passed = new Set<string>();
  /** Answers that came while the run was paused and that time brought: they count once it goes on. */
  private kept: { task: OpenAttempt; answer: Settlement }[] = [];
  /** Steps that can be given up and made again, by their keys. */
  private readonly repeatable = new Map<string, Repeatable>();
  private suspended: { key: string; step: Repeatable; task: OpenAttempt }[] = [];
  /** Attempts of which something was heard outside, or that heard something: they keep what they read. */
  private readonly bound = new Set<string>();
  private changed: { reader: Reader; by: string }[] = [];

  constructor(ctx: DurableContext<RunEvent>, created: RunEvent, effects: Effects) {
    super(ctx, created, effects);
    this.holds = new PausePoints(this.s, () => this.at);
  }

  get isPaused(): boolean {
    return this.s.run.paused_at !== undefined;
  }

  override apply(event: NewEvent): void {
    super.apply(event);
    this.holds.heed(event);
  }

  /** A flow comes to a place: it waits there while the run is paused, and where this very place holds it. */
  *arrive(place: Place): Flow<void> {
    let hasStood = false;
    while (this.isHeldNow()) {
      hasStood = true;
      yield [this.tasks.newGate("pause")];
    }
    const hold = this.holds.isWatching ? this.holds.at(place, hasStood) : null;
    if (!hold) return;
    this.pauseAt("run", hold.reason, hold.at);
    while (this.isPaused) yield [this.tasks.newGate("pause")];
  }

  /** Whether the run is paused, now that an event may have led to where it is to be held. */
  protected isHeldNow(): boolean {
    const { due } = this.holds;
    if (this.isPaused || !due) return this.isPaused;
    this.holds.due = null;
    this.pauseAt("run", due.reason, due.at);
    return true;
  }

  /** Whether a node has to wait before it starts: it is held there, or another one has to be done first. */
  protected isHeldBefore(activation_id: string, node: WorkflowNode): boolean {
    if (!this.holds.isWatching || this.passed.delete(activation_id)) return false;
    // Step by step, one after the other: what is at work comes to its end first.
    if (this.s.run.stepping && this.isActive()) return true;
    // One that its condition passes over does not begin.
    if (isWanted(this.s, node, this.at) === false) return false;
    const hold = this.holds.at({ point: "node_start", node_id: node.id, activation_id });
    if (!hold) return false;
    this.passed.add(activation_id);
    this.pauseAt("run", hold.reason, hold.at);
    return true;
  }

  /** Whether the run's clock ticks: some task is at work, not only waiting for a time or a person. */
  protected isActive(): boolean {
    if (this.isPaused || isHeldByQuestion(this.s)) return false;
    for (const id of this.s.running) if (this.s.activations[id]?.status === "running") return true;
    return false;
  }

  protected pauseAt(by: string, reason: PauseReason, at: PausedPlace, now = false): void {
    this.apply({ type: "run_paused", payload: { by, reason, at, ...defined({ now: now || undefined }) } });
    for (const task of this.tasks.all) this.tasks.stopTimeout(task);
    if (now) this.giveUp();
  }

  /** While the run is paused no time of a node begins; all of them begin anew when it goes on. */
  override startClock(activationId: string): void {
    if (!this.isPaused) super.startClock(activationId);
  }

  /** Gives up what can be made again. */
  private giveUp(): void {
    for (const [key, step] of this.repeatable) {
      const task = this.tasks.suspend(key);
      if (task) this.suspended.push({ key, step, task });
      else this.repeatable.delete(key);
    }
  }

  protected continueRun(by: string, as: "resume" | "step", granularity?: StepGranularity): void {
    const { since } = must(this.s.run, "paused_at");
    this.apply({ type: "run_continued", payload: { by, as, ...defined({ granularity }) } });
    this.lengthenQuestions(this.at - since);
    for (const task of this.tasks.all) if (task.flow) this.startClock(task.activationId);
    for (const { key, step, task } of this.suspended.splice(0))
      if (this.tasks.waiterOf(key) === task) this.tasks.wait(task, super.step(key, step.work, step.options));
    for (const { task, answer } of this.kept.splice(0))
      if (this.tasks.get(task.activationId) === task) this.hand(task, answer);
    for (const { task, key } of this.tasks.openGates("pause")) {
      this.resume(task, { key, result: { ok: true, value: null }, at: this.at });
      // Whoever still waits goes on with the next.
      if (this.isPaused) break;
    }
  }

  /** The time in which the run stood still was nobody's to answer in. */
  private lengthenQuestions(ms: number): void {
    for (const id of [...this.s.asking]) {
      const { requested, activation_id, node_id } = must(this.s.interactions, id);
      const expires_at = requested.expires_at + ms;
      const at = { node_id, activation_id };
      this.apply({ type: "interaction_extended", ...at, payload: { interaction_id: id, expires_at } });
    }
  }

  /** Whether an answer has to wait until the run goes on: it is time that brought it. */
  protected isKept(task: OpenAttempt, answer: Settlement): boolean {
    if (!this.isPaused) return false;
    const isTime =
      task.retry !== undefined || [...this.s.asking].some((id) => answer.key.startsWith(`${id}/`));
    if (isTime) this.kept.push({ task, answer });
    return isTime;
  }

  /** Values of the state are about to change: by `readAgain` those who read them begin again where they can. */
  protected changing(
    change: StatePatch,
    by: string,
    keeps: (activationId: string) => boolean = () => false,
  ): void {
    if (!isSince(this.s.run, 3)) return;
    for (const reader of this.reads.readersOf(this.s, change)) {
      const { id, attempt } = reader.activation;
      if (keeps(id)) this.bound.add(`${id}/${attempt}`);
      this.changed.push({ reader, by });
    }
  }

  protected readAgain(): void {
    for (const { reader, by } of this.changed.splice(0)) {
      const { id, node_id, attempt } = reader.activation;
      const task = this.tasks.get(id);
      const at = { node_id, activation_id: id };
      if (task && !this.bound.has(`${id}/${attempt}`)) {
        if (task.known) this.heldChars -= heldBy(task.known);
        this.tasks.release(task);
        this.apply({ type: "node_retried", ...at, payload: { by } });
      } else {
        const payload = { code: "STATE_READ_BEFORE", message: keptText(this.s, reader) };
        this.apply({ type: "warning", ...at, payload });
      }
    }
  }

  /** An answer has come, which its attempt cannot forget where it came from outside. */
  protected heard({ key, result }: Settlement): void {
    if (result.request !== undefined || key.startsWith("answer:")) this.bound.add(attemptOf(key));
  }

  override step(key: string, work: StepWork, options: StepOptions = {}): Durable {
    if (options.request && !options.isRepeatable) this.bound.add(attemptOf(key));
    if (options.isRepeatable) this.repeatable.set(key, { work, options });
    return super.step(key, work, options);
  }

  /** The engine answered this key: it cannot be given up any more. */
  protected answered(key: string): void {
    this.repeatable.delete(key);
  }

  /** Gives a task an answer that it waits for. */
  protected abstract hand(task: OpenAttempt, answer: Settlement): void;
}
