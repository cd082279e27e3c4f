import { runInSandbox } from "./sandbox";

/** Null where the pattern matches the text, else why not. In the sandbox: there a pattern that never ends is stopped. */
export async function matchesInSandbox(
  pattern: string,
  text: string,
  signal: AbortSignal,
): Promise<string | null> {
  const result = await runInSandbox(
    { code: 'return new RegExp(input.pattern, "u").test(input.text);', input: { pattern, text } },
    { signal },
  );
  if (!result.ok) return `The pattern could not be tried: ${result.error?.message ?? "it took too long"}.`;
  return result.value === true ? null : `It does not match ${pattern}.`;
}
