import { defined } from "@/server/domain/base/defined";
import type { Settled } from "@/server/domain/base/durable";
import { namedError } from "@/server/domain/base/named-error";
import type { Json } from "@/server/domain/base/values";

/** How long the JSON of a step's result may be, in characters, where the host says nothing. */
const LONGEST_RESULT = 32 * 1024 * 1024;

class ResultTooLarge extends namedError("ResultTooLarge") {}

/** A failure as a log keeps it. */
export function asStepError(error: unknown): { name: string; message: string; detail?: Json } {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  // Whoever throws with a detail gives JSON; what cannot be kept is found where the failure is written.
  const { detail } = error as { detail?: Json };
  return { name: error.name, message: error.message, ...defined({ detail }) };
}

/**
 * A result with its text, of at most this many characters. A result that can't be stored becomes its step's failure.
 */
export function storedResult(result: Settled, most = LONGEST_RESULT): { result: Settled; text: string } {
  try {
    const text = JSON.stringify(result);
    if (text.length <= most) return { result, text };
    const sizes = [text.length, most].map((chars) => `${Math.round(chars / 1024 / 1024)} MiB`);
    throw new ResultTooLarge(`it is too large (${sizes.join(", at most ")})`);
  } catch (error) {
    const { message } = asStepError(error);
    const failed: Settled = {
      ok: false,
      error: {
        name: error instanceof ResultTooLarge ? error.name : "Unkeepable",
        message: `The result can't be stored: ${message}.`,
      },
    };
    return { result: failed, text: JSON.stringify(failed) };
  }
}
