import type { StepScope, StepWork } from "@/server/domain/base/durable";
import { cutText, SIZES, sizeOf, sizeText } from "@/server/domain/base/sizes";
import type { Json } from "@/server/domain/base/values";
import { NodeFailure } from "@/server/domain/nodes";

export const tooLarge = (what: string, size: number, most: number): NodeFailure =>
  new NodeFailure(
    "TOO_LARGE",
    `${what} is too large: ${sizeText(size)}, and at most ${sizeText(most)} fit. Keep less of it: a part, a summary, or a file.`,
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
    `The answer is too large to be kept: ${sizeText(size)}, and at most ${sizeText(SIZES.event)} fit. Ask for less of it.`,
  );
}

function boundedError(error: unknown): never {
  if (error instanceof Error) {
    if (error.message.length > SIZES.error) error.message = cutText(error.message);
    if ("detail" in error && sizeOf(error.detail) > 16 * SIZES.error) error.detail = null;
  }
  throw error;
}

class OversizedAnswer extends Error {
  override name = "OversizedAnswer";
}
