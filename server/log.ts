import { randomBytes } from "node:crypto";
import { format } from "node:util";
import { redact } from "./secrets/redact";

/** Writes one line of JSON to the server's log, without secrets and without control characters. */
export function log(
  level: "info" | "warn" | "error",
  message: string,
  about: Record<string, unknown> = {},
): void {
  const line = JSON.stringify({ at: new Date().toISOString(), level, message, ...about });
  process.stderr.write(`${redact(line).replace(UNESCAPED, escaped)}\n`);
}

/** Control characters that JSON leaves as they are: a terminal acts on them. */
const UNESCAPED = /[\u007f-\u009f\u2028\u2029]/g;
const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

/**
 * Redirects what packages print to the log, as lines of JSON: it may repeat untrusted text, and a terminal would
 * interpret its control sequences.
 */
export function logConsole(
  target: Pick<Console, "debug" | "error" | "info" | "log" | "trace" | "warn"> = console,
) {
  const levels = [
    ["debug", "info"],
    ["error", "error"],
    ["info", "info"],
    ["log", "info"],
    ["trace", "info"],
    ["warn", "warn"],
  ] as const;
  for (const [method, level] of levels) target[method] = (...args: unknown[]) => log(level, format(...args));
}

/** Logs an unexpected error; returns the id to quote when asking about it. */
export function logUnexpected(error: unknown, where: string): string {
  const id = `err_${randomBytes(6).toString("hex")}`;
  log("error", "An unexpected error occurred.", {
    id,
    where,
    error: error instanceof Error ? (error.stack ?? String(error)) : String(error),
  });
  return id;
}
