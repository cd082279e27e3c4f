import { compileRegex, PatternError } from "@/server/domain/regex/regex";

const MAX_LENGTH = 1000;

/** What is wrong with a pattern, as a hint for its author; null if it is valid. */
export function validatePattern(pattern: string): string | null {
  if (pattern === "") return "Enter a pattern, for example ^[A-Z].";
  if (pattern.length > MAX_LENGTH) return `A pattern can have at most ${MAX_LENGTH} characters.`;
  try {
    compileRegex(pattern);
    return null;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return error.isValid ? syntaxError(pattern) : `Invalid pattern: ${error.message}.`;
  }
}

/** What the language says of a pattern that only its own engine can run. */
function syntaxError(pattern: string): string | null {
  try {
    new RegExp(pattern, "u");
    return null;
  } catch (error) {
    const why = error instanceof Error ? error.message.split(": ").at(-1) : undefined;
    return `Invalid pattern${why ? `: ${why.toLowerCase()}` : ""}.`;
  }
}
