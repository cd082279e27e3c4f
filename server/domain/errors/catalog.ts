import type { ErrorCode } from "@/server/domain/agent/outcome";
import catalog from "./catalog.json";

/** What a code means and what to do about it, for people who have only the code. */
export interface Explanation {
  title: string;
  cause: string;
  fix: string;
}

/**
 * All codes that people meet: errors of runs and nodes, diagnostics of workflows (`E_` keeps them from running, `W_` doesn't), and
 * errors of the HTTP API. The message of one error, with its names and numbers, is written where it occurs; the sentences of
 * events are in `components/run/timeline`.
 */
export const CATALOG: {
  run_errors: Readonly<Record<ErrorCode, Explanation>>;
  diagnostics: Readonly<Record<string, Explanation>>;
  api_errors: Readonly<Record<keyof (typeof catalog)["api_errors"], Explanation>>;
} = catalog;

const all = new Map<string, Explanation>(
  [CATALOG.api_errors, CATALOG.diagnostics, CATALOG.run_errors].flatMap((group) => Object.entries(group)),
);
export const CODES: readonly string[] = [...all.keys()];

/** The explanation of a code in any case, or null. */
export function explain(code: string): Explanation | null {
  const name = CODES.find((known) => known.toLowerCase() === code.toLowerCase());
  return name === undefined ? null : (all.get(name) ?? null);
}
