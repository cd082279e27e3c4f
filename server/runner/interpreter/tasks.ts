import type { Durable, DurableContext, Flow } from "@/server/domain/base/durable";
import type { NodeResult } from "@/server/domain/nodes";

/** A running attempt of an activation. */
export interface OpenAttempt {
  activationId: string;
  /** Null while it waits for its next attempt, whose number is `retry`. */
  flow: Flow<NodeResult> | null;
  waits: readonly Durable[];
  timeout: Durable | null;
  retry?: number;
  /** What became of an attempt that needed nothing from outside; it counts once its turn has come. */
  known?: Outcome;
}

export type Outcome = { result: NodeResult } | { error: unknown };

/** What keeps a gate shut: a limit, a pause of the run, or a question of the run. */
type GateKind = "limit" | "pause" | "question";

/** The tasks of a run, and which of them waits for what. */
export class Tasks {
  private readonly tasks = new Map<string, OpenAttempt>();
  /** Which task waits for which key; keys of gates and bells are held here, not by the engine. */
  private readonly byKey = new Map<string, OpenAttempt>();
  private readonly handles = new Map<string, Durable>();
  /** Waits until a person raises a limit or resumes the run. */
  private readonly gates = new Map<string, GateKind>();
  /** Waits for a change of a plan by a person, which nothing outside settles either. */
  private readonly signals = new Set<string>();
  private gateCount = 0;

  constructor(private readonly ctx: Pick<DurableContext, "abandon">) {}

  add(task: OpenAttempt): void {
    this.tasks.set(task.activationId, task);
  }
  get(activationId: string): OpenAttempt | undefined {
    return this.tasks.get(activationId);
  }
  has(activationId: string): boolean {
    return this.tasks.has(activationId);
  }
  get ids(): string[] {
    return [...this.tasks.keys()];
  }
  get all(): OpenAttempt[] {
    return [...this.tasks.values()];
  }

  /** What the engine is to settle. */
  get pending(): Durable[] {
    return [...this.handles.values()];
  }
  /** A handle that no task waits for. */
  expect(handle: Durable): void {
    this.handles.set(handle.key, handle);
  }
  forget({ key }: Durable): void {
    this.handles.delete(key);
  }

  wait(task: OpenAttempt, handle: Durable): void {
    this.byKey.set(handle.key, task);
    if (!this.isInside(handle)) this.handles.set(handle.key, handle);
  }

  /** From now on the task waits for these, and for nothing else but its timeout. */
  waitForAll(task: OpenAttempt, waits: readonly Durable[]): void {
    const wanted = new Set(waits.map(({ key }) => key));
    for (const old of task.waits) if (!wanted.has(old.key)) this.drop(old);
    task.waits = waits;
    for (const handle of waits) if (this.byKey.get(handle.key) !== task) this.wait(task, handle);
  }

  /** Gives up a handle that was still being waited for. */
  drop(handle: Durable): void {
    if (!this.byKey.delete(handle.key)) return;
    if (this.gates.delete(handle.key) || this.signals.delete(handle.key)) return;
    this.handles.delete(handle.key);
    this.ctx.abandon(handle);
  }

  release(task: OpenAttempt): void {
    this.tasks.delete(task.activationId);
    for (const handle of task.waits) this.drop(handle);
    this.stopTimeout(task);
    task.waits = [];
  }

  stopTimeout(task: OpenAttempt): void {
    if (!task.timeout) return;
    this.drop(task.timeout);
    task.timeout = null;
  }

  /** The engine settled this key: the task that waited for it. */
  settled(key: string): OpenAttempt | undefined {
    const task = this.byKey.get(key);
    this.byKey.delete(key);
    this.handles.delete(key);
    return task;
  }

  waiterOf(key: string): OpenAttempt | undefined {
    return this.byKey.get(key);
  }

  /**
   * Aborts what a task waits for; the task keeps waiting, and the step is repeated later. Undefined if nothing waits
   * for it.
   */
  suspend(key: string): OpenAttempt | undefined {
    const handle = this.handles.get(key);
    const task = this.byKey.get(key);
    if (!handle || !task) return undefined;
    this.handles.delete(key);
    this.ctx.abandon(handle);
    return task;
  }

  newGate(kind: GateKind): Durable {
    const key = `gate:${++this.gateCount}`;
    this.gates.set(key, kind);
    return { key };
  }
  get hasGates(): boolean {
    return this.gates.size > 0;
  }
  /** Opens the gates of a kind; waiting tasks continue in this order. */
  *openGates(wanted: GateKind): Generator<{ task: OpenAttempt; key: string }> {
    for (const [key, kind] of [...this.gates]) {
      if (kind !== wanted) continue;
      const task = this.byKey.get(key);
      this.gates.delete(key);
      this.byKey.delete(key);
      if (task) yield { task, key };
    }
  }

  newSignal(key: string): Durable {
    this.signals.add(key);
    return { key };
  }
  /** Rings a bell: the task that waited for it. */
  ring(key: string): OpenAttempt | undefined {
    const task = this.byKey.get(key);
    if (!task || !this.signals.delete(key)) return undefined;
    this.byKey.delete(key);
    return task;
  }

  /** Whether an external result is still to come; waiting at a gate or for a plan change doesn't count. */
  get areMoving(): boolean {
    if (this.gates.size === 0) return this.handles.size > 0;
    return this.all.some(({ waits }) => waits.some((handle) => !this.isInside(handle)));
  }

  private isInside({ key }: Durable): boolean {
    return this.gates.has(key) || this.signals.has(key);
  }
}
