import { WorkError } from "@/server/domain/base/work-budget";
import { compileRegex, PatternError } from "@/server/domain/regex/regex";
import { Work } from "@/server/domain/regex/work";
import { runInSandbox } from "./sandbox";

/** Steps that one pattern may take on this thread: some 50 ms. */
const MAX_WORK = 2_000_000;

/**
 * Null where the pattern matches the text, else why not. Nearly all patterns run at once, in time that grows with
 * the text only; what takes an engine that searches runs in the sandbox, where a search that never ends is stopped.
 */
export async function matchesSafely(
  pattern: string,
  text: string,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    return compileRegex(pattern).test(text, new Work(MAX_WORK)) ? null : `It does not match ${pattern}.`;
  } catch (error) {
    if (error instanceof PatternError && !error.isValid)
      return `The pattern could not be tried: ${error.message}.`;
    if (!(error instanceof PatternError || error instanceof WorkError)) throw error;
  }
  const result = await runInSandbox(
    { code: 'return new RegExp(input.pattern, "u").test(input.text);', input: { pattern, text } },
    { signal },
  );
  if (!result.ok) return `The pattern could not be tried: ${result.error?.message ?? "it took too long"}.`;
  return result.value === true ? null : `It does not match ${pattern}.`;
}
