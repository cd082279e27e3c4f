import { z } from "zod";
import { FINAL_STATUS_LABELS, FinalStatus, RunError } from "@/server/domain/agent/outcome";
import { Json, type JsonObject } from "@/server/domain/base/values";
import { BisectReport } from "@/server/domain/run/bisect/report";
import {
  engineLabel,
  loadLabel,
  outboxLabel,
  stalledRunText,
  WORKER_STATE_LABELS,
} from "@/server/domain/run/engine-labels";
import type { WorkerState } from "@/server/domain/run/engine-state";
import { differenceLines, missOf } from "@/server/domain/run/request-difference";
import { Engine } from "@/server/operations/runs/run-schemas";
import { Trigger } from "@/server/operations/triggers/trigger-schemas";
import type { Ask, ServerTerminal } from "../server-ask";

/** Prints a response of the server and returns the exit code. */
export type Outcome = (
  answer: unknown,
  context: { input: JsonObject; json: boolean; ask: Ask; terminal: ServerTerminal },
) => number | Promise<number>;

const RunAnswer = z.looseObject({
  status: z.string().optional(),
  final_status: z.string().nullish(),
  applied: z.boolean().optional(),
  cancelled: z.boolean().optional(),
});

const idOf = ({ run_id }: JsonObject) => (typeof run_id === "string" ? run_id : "");

/** The default: the state of the run after the command. */
export const runOutcome: Outcome = (answer, { input, json, terminal }) => {
  const run = RunAnswer.parse(answer);
  const id = idOf(input);
  if (json) terminal.print(JSON.stringify(run, null, 2));
  else if (run.applied === false)
    terminal.log(`${id} accepted the command and will apply it when it resumes.`);
  else if (run.cancelled === false) terminal.log(`${id} has already ended.`);
  else terminal.log(`${id} is ${run.final_status ?? run.status ?? "cancelled"}.`);
  return 0;
};

const StringList = z.array(z.string()).default([]);
const NewRun = z.object({ run_id: z.string(), repeats: StringList, not_repeated: StringList });

const newRunOutcome =
  (kind: string): Outcome =>
  (answer, context) => {
    const { run_id, repeats, not_repeated } = NewRun.parse(answer);
    const { log } = context.terminal;
    log(`${kind} of ${idOf(context.input)}: ${run_id}`);
    if (repeats.length > 0) log(`Repeats what people did: ${repeats.join(", ")}.`);
    if (not_repeated.length > 0) log(`Not repeated: ${not_repeated.join("; ")}.`);
    return follow(run_id, context);
  };

/** By operation. Reports have lines of their own, and a new run is followed to its end. */
export const outcomes: Readonly<Record<string, Outcome>> = {
  forkRun: newRunOutcome("Fork"),
  replayRun: newRunOutcome("Replay"),

  getEngine(answer, { json, terminal }) {
    const engine = Engine.parse(answer);
    if (json) terminal.print(JSON.stringify(engine, null, 2));
    else for (const line of engineLines(engine, Date.now())) terminal.print(line);
    return engine.ok ? 0 : 1;
  },

  listTriggers(answer, { json, terminal }) {
    const { triggers } = z.object({ triggers: z.array(Trigger) }).parse(answer);
    if (json) terminal.print(JSON.stringify(triggers, null, 2));
    else for (const trigger of triggers) terminal.print(triggerLine(trigger));
    return 0;
  },

  updateTrigger(answer, { json, terminal }) {
    if (json) terminal.print(JSON.stringify(answer, null, 2));
    else terminal.print(triggerLine(Trigger.parse(answer)));
    return 0;
  },

  bisectRun(answer, { json, terminal }) {
    const report = BisectReport.parse(answer);
    if (json) terminal.print(JSON.stringify(report, null, 2));
    else for (const line of bisectLines(report)) terminal.print(line);
    return report.verdict === "found" ? 0 : 1;
  },
};

const triggerLine = ({ id, kind, enabled, disabled_reason }: z.output<typeof Trigger>) =>
  `${id}  ${kind}  ${enabled ? "on" : "off"}${disabled_reason === null ? "" : `  ${disabled_reason}`}`;

const EXIT: Record<FinalStatus, number> = { COMPLETED: 0, ERROR: 1, INCOMPLETE: 3, CANCELLED: 130 };
const REJECTED = 2;
const ASKS = 4;
const POLL_MS = 300;

const FollowedRun = z.looseObject({
  status: z.string(),
  final_status: FinalStatus.nullable(),
  waits_for: z.string().nullish(),
  cost_usd: z.number().nullable(),
  error: RunError.nullish(),
  output: z.record(z.string(), Json).nullish(),
});

async function follow(run_id: string, { json, ask, terminal }: Parameters<Outcome>[1]): Promise<number> {
  const { print, log, wait } = terminal;
  for (let stood = 0; ; ) {
    const found = await ask("GET", `/runs/${run_id}`);
    if ("error" in found) {
      log(found.error);
      return REJECTED;
    }
    const run = FollowedRun.parse(found.value);
    const stands = run.status === "paused" || run.status === "held" || run.waits_for === "person";
    // A replay gives itself the answers of people: it stands only if it still does a moment later.
    stood = stands ? stood + 1 : 0;
    if (run.status === "finished" || stood > 1) {
      if (json) print(JSON.stringify(run, null, 2));
      else if (run.final_status) print(JSON.stringify(run.output ?? {}, null, 2));
      log(
        run.final_status
          ? FINAL_STATUS_LABELS[run.final_status]
          : `It is ${run.status}. Handle it in the app to continue.`,
      );
      if (run.error) log(run.error.message);
      for (const line of missLines(run.error)) log(`  ${line}`);
      return run.final_status ? EXIT[run.final_status] : ASKS;
    }
    await wait(POLL_MS);
  }
}

function missLines(error: z.infer<typeof RunError> | null | undefined): string[] {
  const miss = error ? missOf(error) : null;
  return miss ? differenceLines(miss) : [];
}

/** How engine and workers stand, line by line, as of `now` in Unix milliseconds. */
export function engineLines(engine: z.output<typeof Engine>, now: number): string[] {
  const { kind, message, workers, at_work, outbox, troubled } = engine;
  const lines = [`Engine: ${engineLabel(engine)}`, ...(message === null ? [] : [message])];
  if (kind === "embedded" && at_work === 0) return lines;
  const since = outbox.oldest_at === null ? "" : `; the oldest arrived ${ago(outbox.oldest_at, now)}`;
  return [
    ...lines,
    `Active on workers: ${at_work === 1 ? "1 run" : `${at_work} runs`}`,
    `Outbox: ${outboxLabel(outbox.waiting)}${since}`,
    ...(workers.length > 0 ? ["Workers:"] : []),
    ...workers.map((worker) => `  ${workerLine(worker, now)}`),
    ...(troubled.length > 0 ? ["Stalled runs:"] : []),
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
    `last heartbeat ${ago(seen_at, now)}`,
    ...(labels.length > 0 ? [labels.join(", ")] : []),
  ];
  return `${name}: ${about.join("; ")}`;
}

function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1_000));
  if (seconds < 120) return `${seconds} s ago`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds / 3_600)} h ago`;
}

function bisectLines({ sentence, step, between = [], differences, tries }: BisectReport): string[] {
  const places = step === undefined ? between : [step];
  return [
    sentence,
    ...places.flatMap((at) => {
      const difference = differences[at];
      if (!difference) return [];
      return [
        `  ${difference.title}`,
        `    good: ${difference.good ?? "nothing"}`,
        `    bad:  ${difference.bad ?? "nothing"}`,
      ];
    }),
    `${tries.length} ${tries.length === 1 ? "replay" : "replays"} tried, ${differences.length} ${differences.length === 1 ? "difference" : "differences"}.`,
  ];
}
