import type { Settled } from "@/server/domain/base/durable";
import { asStored } from "@/server/domain/base/json";
import type { RunEventOf } from "@/server/domain/run/events";
import type { Cassette, CassetteAnswer } from "@/server/domain/scenario/cassette";
import type { Journal } from "../durable/embedded-contract";
import { interpreters } from "../interpreter/interpreters";
import { type RetracedCall, retracedCalls } from "../recorded/retrace";

/** Whether a run's answers can be made a cassette here: its interpreter is there, and its beginning. */
export const isRecordable = ({ version, turns }: Journal & { version: number }): boolean =>
  interpreters[version] !== undefined && turns[0]?.events[0]?.type === "run_created";

/** The answers that models and tools gave a run, with what they were asked. `redact` blacks out secrets. */
export function cassetteOf(
  runId: string,
  journal: Journal & { version: number },
  redact: <T>(value: T) => T = (value) => value,
): Cassette {
  const created = journal.turns[0]?.events[0];
  const execute = interpreters[journal.version];
  const calls = execute && created?.type === "run_created" ? retracedCalls(runId, journal, execute) : [];
  const about =
    created?.type === "run_created" ? aboutRun(runId, created, journal, calls) : { run_id: runId };
  return {
    format: "troupe.cassette",
    version: 1,
    recorded: { ...redact(about), run_id: runId },
    answers: calls.map((call) => {
      const { request, kind, took_ms, ...words } = answerOf(call);
      // Hashes are no secrets, and what was asked is found by them.
      return { request, kind, ...redact(words), ...(took_ms === undefined ? {} : { took_ms }) };
    }),
  };
}

function aboutRun(
  run_id: string,
  { payload }: RunEventOf<"run_created">,
  { turns }: Journal,
  calls: readonly RetracedCall[],
): Cassette["recorded"] {
  const models = calls.flatMap(({ result }) => (result?.ok ? modelOf(result.value) : []));
  return {
    run_id,
    workflow: payload.workflow_name,
    ...(turns[1] ? { began_at: turns[1].at } : {}),
    ...(payload.context_windows ? { context_windows: payload.context_windows } : {}),
    ...(payload.edition ? { edition: payload.edition } : {}),
    ...(payload.prompt_seed ? { prompt_seed: payload.prompt_seed } : {}),
    ...(payload.past_work ? { past_work: asStored(payload.past_work) } : {}),
    models: [...new Set(models)].sort(),
  };
}

const modelOf = (value: unknown): string[] =>
  typeof value === "object" && value !== null && "model" in value && typeof value.model === "string"
    ? [value.model]
    : [];

function answerOf({ request, kind, asked, result, asked_at, answered_at }: RetracedCall): CassetteAnswer {
  return {
    request,
    kind,
    asked: asStored(asked),
    ...(result ? { ...whatCame(result), took_ms: Math.max(0, answered_at - asked_at) } : {}),
  };
}

const whatCame = (result: Settled): Pick<CassetteAnswer, "value" | "error"> =>
  result.ok ? { value: result.value } : { error: result.error };
