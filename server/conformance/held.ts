import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

const server = path.resolve(import.meta.dirname, "..");

/** A test by its file (from `server`) and the beginning of its title. */
export type Held = readonly [file: string, title: string];

/** The listed tests that don't exist. */
export const missingIn = (tests: readonly Held[]): Held[] =>
  tests.filter(([file, title]) => {
    const whole = path.join(server, file);
    return !existsSync(whole) || !isTitleIn(readFileSync(whole, "utf8"), title);
  });

const isTitleIn = (text: string, title: string): boolean =>
  ['"', "'", "`"].some((quote) => text.includes(`${quote}${title}`));
