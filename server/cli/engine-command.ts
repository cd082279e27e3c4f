import type { z } from "zod";
import {
  engineLabel,
  loadLabel,
  outboxLabel,
  stalledRunText,
  WORKER_STATE_LABELS,
} from "@/server/domain/run/engine-labels";
import type { WorkerState } from "@/server/domain/run/engine-state";
import { Engine } from "@/server/operations/run-schemas";
import { parseOptions, UsageError } from "./arguments";
import { callOf } from "./called";
import { newAsk, type ServerTerminal } from "./server-ask";

const ENGINE_USAGE = `Says who carries out the runs of a Troupe that is at work, and how that stands.

  ${callOf("run")} engine

  --url URL  where the server is; TROUPE_URL, or http://127.0.0.1:3000
  --json     prints it as JSON

The server's API token is read from TROUPE_API_TOKEN.
Exit code: 0 nothing is amiss, 1 something is, 2 refused or unusable arguments.
`;

const OPTIONS = { url: { type: "string" }, json: { type: "boolean" } } as const;

/** Carries the command out; answers the exit code. Throws UsageError. */
export async function engineCommand(
  [, ...rest]: readonly string[],
  terminal: ServerTerminal,
): Promise<number> {
  const { values, positionals } = parseOptions(rest, OPTIONS);
  if (values.help) {
    terminal.print(ENGINE_USAGE);
    return 0;
  }
  if (positionals.length > 0) throw new UsageError(`"${positionals[0]}" is one too many.`);
  const found = await newAsk({ url: values.url }, terminal)("GET", "/engine");
  if ("error" in found) {
    terminal.log(found.error);
    return 2;
  }
  const engine = Engine.parse(found.answer);
  if (values.json) terminal.print(JSON.stringify(engine, null, 2));
  else for (const line of engineLines(engine, Date.now())) terminal.print(line);
  return engine.ok ? 0 : 1;
}

/** How engine and workers stand, line by line, as of `now` in Unix milliseconds. */
export function engineLines(engine: z.output<typeof Engine>, now: number): string[] {
  const { kind, message, workers, at_work, outbox, troubled } = engine;
  const lines = [`Carried out by: ${engineLabel(engine)}`, ...(message === null ? [] : [message])];
  if (kind === "embedded" && at_work === 0) return lines;
  const since = outbox.oldest_at === null ? "" : `; the oldest came ${ago(outbox.oldest_at, now)}`;
  return [
    ...lines,
    `At work there: ${at_work === 1 ? "1 run" : `${at_work} runs`}`,
    `Outbox: ${outboxLabel(outbox.waiting)}${since}`,
    ...(workers.length > 0 ? ["Workers:"] : []),
    ...workers.map((worker) => `  ${workerLine(worker, now)}`),
    ...(troubled.length > 0 ? ["Runs that do not get on:"] : []),
    ...troubled.map(
      (one) => `  ${one.run_id} (${one.workflow_name || "a workflow"}): ${stalledRunText(one)}`,
    ),
  ];
}

function workerLine(worker: WorkerState, now: number): string {
  const { name, version, labels, state, memory_bytes, seen_at } = worker;
  const load = state === "gone" ? [] : [loadLabel(worker), `${(memory_bytes / 1e6).toFixed(0)} MB`];
  const about = [
    WORKER_STATE_LABELS[state],
    ...load,
    `Troupe ${version}`,
    `last heard of ${ago(seen_at, now)}`,
    ...(labels.length > 0 ? [labels.join(", ")] : []),
  ];
  return `${name}: ${about.join("; ")}`;
}

function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1_000));
  if (seconds < 120) return `${seconds} s ago`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds / 3_600)} h ago`;
}
