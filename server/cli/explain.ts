import { CODES, explain } from "@/server/domain/errors/catalog";
import { nearest } from "@/server/domain/problems/nearest";
import { callOf } from "./called";
import type { Stdio } from "./output/stdio";

const USAGE = `Explains the code of an error or diagnostic: its meaning, cause and fix.

  ${callOf("explain")} CODE

Example: ${callOf("explain")} OUTPUT_INVALID
`;

/** `explain CODE`: prints a code's entry of the catalog. Returns the exit code: 2 for an unknown code. */
export function explainCommand(argv: readonly string[], stdio: Stdio): number {
  const [code = "--help", ...more] = argv;
  if (code === "--help" && more.length === 0) {
    stdio.out(USAGE);
    return 0;
  }
  const entry = more.length === 0 ? explain(code) : null;
  if (!entry) {
    const meant = nearest(code, CODES);
    stdio.err(
      `Unknown code ${argv.join(" ")}.${meant ? ` Did you mean ${meant}?` : ""} See docs/errors.md for all codes.\n`,
    );
    return 2;
  }
  stdio.out(`${code.toUpperCase()}: ${entry.title}\n\nCause: ${entry.cause}\nFix: ${entry.fix}\n`);
  return 0;
}
