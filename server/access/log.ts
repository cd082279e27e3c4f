import { redact } from "./redact";

/** Writes one line of JSON to the server's log, without secrets and without control characters. */
export function log(level: "info" | "warn" | "error", message: string, about: Record<string, unknown> = {}): void {
  const line = JSON.stringify({ at: new Date().toISOString(), level, message, ...about });
  process.stderr.write(`${redact(line)}\n`);
}
