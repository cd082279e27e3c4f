import type { RaisableLimit } from "@/server/domain/agent/outcome";
import type { Durable, DurableContext, Flow, Settlement } from "@/server/domain/base/durable";
import { must } from "@/server/domain/base/must";
import type { Answered } from "../people/ask";
import type { Advice } from "./advice";
import type { Attempts } from "./attempts";
import { limitRaised } from "./commands";
import {
  limitQuestion,
  limitsAskEverywhere,
  limitValue,
  mayRaise,
  openLimitQuestion,
  raisedTo,
} from "./limits";
import { RunAsk } from "./run-ask";
import type { RunLog } from "./run-log";
import type { Tasks } from "./tasks";

/** The limits of a run: which one it has reached, who waits for it to be raised, and what people say about it. */
export class RunLimits {
  /** The limit that keeps the run from continuing. */
  reached: RaisableLimit | null = null;
  activeMs = 0;
  /** Time since a child run last ended in which nothing here was active; milliseconds. */
  private idleMs = 0;
  /** A person let those continue that wait at a limit. */
  private isOpened = false;
  /** The question that is open where a limit keeps a node from starting. It belongs to no activation: none has begun. */
  private readonly question: RunAsk;
  private asked: RaisableLimit | null = null;
  private questionCount = 0;
  /** Limits at which a person let the run stop. */
  private readonly stopped = new Set<RaisableLimit>();

  constructor(
    private readonly log: RunLog,
    private readonly tasks: Tasks,
    private readonly attempts: Attempts,
    engine: { context: DurableContext; advice: Pick<Advice, "expect"> },
  ) {
    this.question = new RunAsk(log, engine);
  }

  get isAsking(): boolean {
    return this.question.isOpen;
  }
  get pending(): readonly Durable[] {
    return this.question.pending;
  }
  waitsFor(key: string): boolean {
    return this.question.waitsFor(key);
  }

  /** Time has passed, in milliseconds; less than none where a clock had jumped. */
  passed(ms: number, isActive: boolean): void {
    if (isActive) this.activeMs = Math.max(0, this.activeMs + ms);
    else this.idleMs = Math.max(0, this.idleMs + ms);
  }

  /** A child run has ended: its active time counts once, however many of them ran side by side. */
  childEnded(activeMs: number): void {
    this.activeMs += Math.min(activeMs, this.idleMs);
    this.idleMs = 0;
  }

  /** A fork begins to count at its own first event. */
  restart(): void {
    this.activeMs = 0;
    this.idleMs = 0;
  }

  /** The limit that forbids another model call now, if any. */
  beforeCall(): RaisableLimit | null {
    const { config } = this.log.s.run;
    if (this.log.s.totals.global_iterations >= config.max_global_iterations) return "max_global_iterations";
    return this.beforeWork();
  }

  /** The limit that forbids another node now, if any. */
  beforeNode(): RaisableLimit | null {
    const { totals, run } = this.log.s;
    return totals.steps >= run.config.max_steps ? "max_steps" : this.beforeWork();
  }

  private beforeWork(): RaisableLimit | null {
    const { config } = this.log.s.run;
    if (this.activeMs >= config.max_active_ms) return "max_active_ms";
    return this.log.chars >= config.max_log_chars ? "max_log_chars" : null;
  }

  /** A limit keeps this node from starting: a person is asked, or the run stops there. */
  stopBefore(node_id: string, limit: RaisableLimit): void {
    if (!this.ask(limit, node_id)) this.reached = limit;
  }

  /** Holds a task until a limit is raised. */
  *hold(activationId: string, limit: RaisableLimit): Flow<void> {
    const gate = this.tasks.newGate("limit");
    this.reached = limit;
    const { node_id } = must(this.log.s.activations, activationId);
    this.log.apply({ type: "node_waiting", node_id, activation_id: activationId, payload: { for: "limit" } });
    yield [gate];
  }

  raise(limit: RaisableLimit, to: number, by: string): void {
    this.log.applyAll(limitRaised(this.log.s, { limit, to }, by) ?? []);
    this.openLater();
  }

  /** Deferred: the caller is in the middle of handling its own answer. */
  openLater(): void {
    this.isOpened = true;
  }
  openIfDue(): void {
    if (this.isOpened) this.open();
  }

  /** Whoever waits at a limit continues. */
  open(): void {
    this.isOpened = false;
    this.reached = null;
    this.stopped.clear();
    for (const { task, key } of this.tasks.openGates("limit")) {
      if (!task.timeout && !this.log.isPaused) this.attempts.armTimeout(task);
      this.attempts.resume(task, { key, result: { ok: true, value: null }, at: this.log.at });
    }
  }

  /** What a person said about the limit that kept the run from starting a node. */
  receive(answer: Settlement): void {
    this.follow(this.question.receive(answer));
  }

  /** Takes in what came by time while the run was paused. */
  receiveKept(): void {
    this.follow(this.question.receiveKept());
  }

  private follow(answered: Answered | null): void {
    const { asked: limit } = this;
    if (!answered || !limit) return;
    const to = raisedTo(answered, limit, this.log.s);
    if (to === null) this.stopped.add(limit);
    else if (to > (limitValue(limit, this.log.s) ?? 0)) this.raise(limit, to, answered.by);
  }

  /** Asks whether the run is to continue; false where it is to stop without a question. */
  private ask(limit: RaisableLimit, node_id: string): boolean {
    const { s } = this.log;
    if (s.run.config.on_limit !== "ask" || !limitsAskEverywhere(s)) return false;
    if (openLimitQuestion(s, limit)) return true;
    if (this.stopped.has(limit) || !mayRaise(limit, limitValue(limit, s) ?? 0)) return false;
    this.asked = limit;
    const id = `limit/${limit}/${++this.questionCount}`;
    this.question.ask(id, node_id, limitQuestion(limit, s, "The run reached a limit"));
    return true;
  }
}
