import type { Durable, DurableContext, Settlement, StepScope, StepWork } from "@/server/domain/base/durable";
import { namedError } from "@/server/domain/base/named-error";
import { cutText, SIZES, sizeOf, sizeText } from "@/server/domain/base/sizes";
import type { Json } from "@/server/domain/base/values";
import { NodeFailure } from "@/server/domain/nodes";
import { attemptOf } from "@/server/domain/run/state-reads";
import type { StepOptions } from "../node/ports";
import type { OpenAttempt, Tasks } from "./tasks";

/** An inline step that only marks where the turn of what is known already comes. */
export const NOTHING_TO_DO: StepWork = () => null;
export const INLINE = { inline: true };

export const tooLarge = (what: string, size: number, most: number): NodeFailure =>
  new NodeFailure(
    "TOO_LARGE",
    `${what} is too large: ${sizeText(size)}; the maximum is ${sizeText(most)}. Store less data: an excerpt, a summary or a file.`,
    { user_action: "edit_graph" },
  );

/** A step's work with an answer that a run can keep; a larger one, or endless words of an error, are an error that says so. */
export function bounded(work: StepWork, scope: StepScope): Promise<Json> | Json {
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
    `The response is too large to store: ${sizeText(size)}; the maximum is ${sizeText(SIZES.event)}. Request less data.`,
  );
}

function boundedError(error: unknown): never {
  if (error instanceof Error) {
    if (error.message.length > SIZES.error) error.message = cutText(error.message);
    if ("detail" in error && sizeOf(error.detail) > 16 * SIZES.error) error.detail = null;
  }
  throw error;
}

class OversizedAnswer extends namedError("OversizedAnswer") {}

/** A step that can be given up and made again. */
interface Repeatable {
  work: StepWork;
  options: StepOptions;
}

/** The steps of a run: which can be given up and made again, and which attempts are bound to what they read. */
export class Steps {
  private readonly repeatable = new Map<string, Repeatable>();
  private suspended: { key: string; step: Repeatable; task: OpenAttempt }[] = [];
  /** Attempts of which something was heard outside, or that heard something: they keep what they read. */
  private readonly bound = new Set<string>();

  constructor(
    private readonly ctx: Pick<DurableContext, "step">,
    private readonly tasks: Tasks,
  ) {}

  /** A step whose answer a run can keep; a larger one, or endless words of an error, are an error that says so. */
  step(key: string, work: StepWork, options: StepOptions = {}): Durable {
    if (options.request && !options.isRepeatable) this.bound.add(attemptOf(key));
    if (options.isRepeatable) this.repeatable.set(key, { work, options });
    return this.make(key, work, options);
  }

  private make(key: string, work: StepWork, { request }: StepOptions): Durable {
    return this.ctx.step(key, (scope) => bounded(work, scope), request ? { request } : undefined);
  }

  /** Gives up what can be made again. */
  suspend(): void {
    for (const [key, step] of this.repeatable) {
      const task = this.tasks.suspend(key);
      if (task) this.suspended.push({ key, step, task });
      else this.repeatable.delete(key);
    }
  }

  /** Makes again what was given up. */
  resume(): void {
    for (const { key, step, task } of this.suspended.splice(0))
      if (this.tasks.waiterOf(key) === task) this.tasks.wait(task, this.make(key, step.work, step.options));
  }

  /** An answer has come, which its attempt cannot forget where it came from outside. */
  heard({ key, result }: Settlement): void {
    if (result.request !== undefined || key.startsWith("answer:")) this.bound.add(attemptOf(key));
  }

  /** The engine answered this key: it cannot be given up any more. */
  answered(key: string): void {
    this.repeatable.delete(key);
  }

  /** This attempt keeps what it read. */
  bind(attempt: string): void {
    this.bound.add(attempt);
  }
  isBound(attempt: string): boolean {
    return this.bound.has(attempt);
  }
}
