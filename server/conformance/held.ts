import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

const server = path.resolve(import.meta.dirname, "..");

/** A test by its file (from `server`) and the beginning of its title. */
export type Held = readonly [file: string, title: string];

/** Those of the tests that don't exist (any more). */
export const missingIn = (tests: readonly Held[]): Held[] =>
  tests.filter(([file, title]) => {
    const whole = path.join(server, file);
    return !existsSync(whole) || !isTitleIn(readFileSync(whole, "utf8"), title);
  });

function isTitleIn(text: string, title: string): boolean {
  const escaped = title.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`[([,]\\s*["'\`]${escaped}`).test(text);
}
