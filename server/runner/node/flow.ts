import type { Durable, Flow, Settlement, StepError, Wait } from "@/server/domain/base/durable";
import { namedError } from "@/server/domain/base/named-error";
import type { Json } from "@/server/domain/base/values";

/** A step's failure, thrown inside the flow that waited for it. */
export class StepFailed extends namedError("StepFailed") {
  constructor(readonly error: StepError) {
    super(error.message);
  }
}

/** Waits for one handle; gives its value or throws StepFailed. */
export function* waitFor(handle: Durable): Flow<Json> {
  const { result } = yield [handle];
  if (!result.ok) throw new StepFailed(result.error);
  return result.value;
}

export type ChildOutcome<T> = { id: string; ok: true; value: T } | { id: string; ok: false; error: unknown };

/** Several flows that run side by side inside one: add some, ask for the next that is done, stop those that are left. */
export class Children<T> {
  private readonly flows = new Map<string, { flow: Flow<T>; waits: Wait }>();
  private readonly done: ChildOutcome<T>[] = [];

  get size(): number {
    return this.flows.size + this.done.length;
  }

  add(id: string, flow: Flow<T>): void {
    this.flows.set(id, { flow, waits: [] });
    this.advance(id, flow, () => flow.next());
  }

  /** The next child that is done; at least one must have been added. Null: `or` was settled before. */
  next(): Flow<ChildOutcome<T>>;
  next(or: Durable): Flow<ChildOutcome<T> | null>;
  *next(or?: Durable): Flow<ChildOutcome<T> | null> {
    for (;;) {
      const done = this.done.shift();
      if (done) return done;
      const settlement: Settlement = yield [...this.flows.values()]
        .flatMap(({ waits }) => waits)
        .concat(or ?? []);
      if (or && settlement.key === or.key) return null;
      for (const [id, { flow, waits }] of this.flows)
        if (waits.some(({ key }) => key === settlement.key)) {
          this.advance(id, flow, () => flow.next(settlement));
          break;
        }
    }
  }

  /** Ends those that are left where they stand: what they say in `finally` is still heard. */
  stop(): void {
    const left = [...this.flows.values()];
    this.flows.clear();
    // The type requires a return value; the stopped flow's is never read.
    for (const { flow } of left) flow.return(undefined as never);
  }

  private advance(id: string, flow: Flow<T>, go: () => IteratorResult<Wait, T>) {
    try {
      const step = go();
      if (!step.done) {
        this.flows.set(id, { flow, waits: step.value });
        return;
      }
      this.flows.delete(id);
      this.done.push({ id, ok: true, value: step.value });
    } catch (error) {
      this.flows.delete(id);
      this.done.push({ id, ok: false, error });
    }
  }
}
