import process from "node:process";
import { createInterface } from "node:readline/promises";
import { defined } from "@/server/domain/base/defined";
import type { Screen } from "./progress";

/** Where a command is called from: what it puts out, what it tells beside that, and whether anybody sits there. */
export interface Stdio {
  /** The outcome, for whoever reads it: a person, or a program behind a pipe. */
  out(text: string): void;
  /** What a person is told beside the outcome. */
  err(text: string): void;
  /** What the progress of a run is drawn on. */
  screen: Screen;
  /** Whether somebody can answer. */
  isInteractive: boolean;
  /** Asks whoever sits there; answers the line that was typed. */
  ask(prompt: string): Promise<string>;
}

/** The streams of this process. */
export function processStdio(): Stdio {
  const { stdin, stdout, stderr, env } = process;
  const isDrawn = stderr.isTTY && env.TERM !== "dumb";
  const err = (text: string) => void stderr.write(text);
  return {
    out: (text) => void stdout.write(text),
    err,
    screen: {
      write: err,
      colours: isDrawn && !env.NO_COLOR,
      ...defined({
        size: isDrawn ? () => ({ columns: stderr.columns || 80, rows: stderr.rows || 24 }) : undefined,
      }),
    },
    isInteractive: stdin.isTTY && stderr.isTTY,
    async ask(prompt) {
      const lines = createInterface({ input: stdin, output: stderr });
      try {
        return await lines.question(prompt);
      } finally {
        lines.close();
      }
    },
  };
}
