import { RunConfig, RunConfigChanges } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import type { Settled } from "@/server/domain/base/durable";
import { entriesOf } from "@/server/domain/base/guards";
import { asStored, isSameJson } from "@/server/domain/base/json";
import { foldRun, type RunState } from "@/server/domain/run";
import { notRepeated } from "@/server/domain/run/commands/repeated";
import type { RunEvent, RunEventOf } from "@/server/domain/run/events";
import type { Cassette, CassetteAnswer } from "@/server/domain/scenario/cassette";
import type { Expectation } from "@/server/domain/scenario/expectation";
import { peopleOf, proposedExpectations } from "@/server/domain/scenario/propose";
import type { ScenarioFields, ScenarioTest } from "@/server/domain/scenario/scenario-test";
import type { Journal } from "../durable/embedded-contract";
import { repeatedOf } from "../fork/fork";
import { interpreters } from "../interpreter/interpreters";
import { type RetracedCall, retracedCalls } from "../replay/retrace";
import type { TestParts } from "./answering";
import type { Tested } from "./run-scenario";
import { runTest } from "./run-test";

/** A test from a run: its input, its answers and those of people, and proposed expectations. */
export function testOfRun(
  runId: string,
  journal: Journal & { version: number },
  name: string,
  redact?: <T>(value: T) => T,
): ScenarioFields {
  const events = journal.turns.flatMap((turn) => turn.events);
  const state = foldRun(runId, events);
  const answers = cassetteOf(runId, journal, redact);
  const commands = repeatedOf(runId, journal);
  const config = changesOf(
    configOf(events[0], state),
    RunConfig.parse(state.graph.config ?? {}),
    commands.length > 0 ? [] : HELD,
  );
  const fields: ScenarioFields = defined({
    name,
    input: state.input,
    answers,
    people: peopleOf(state),
    commands: commands.length > 0 ? [...commands] : undefined,
    expect: proposedExpectations(events, state),
    starts_at: journal.turns[1]?.at,
    pins: state.run.pins,
    config: config ?? undefined,
  });
  // The hashes of requests stay as they are: they are no secrets, and what was asked is found by them.
  return redact ? { ...redact({ ...fields, answers: undefined }), answers } : fields;
}

/** Settings that hold a run; left out of a test without commands, in which no one could resume it. */
const HELD: readonly string[] = ["mode", "breakpoints"];

/** The settings at the start of a run: raised limits are raised again by its commands. A fork has its present ones. */
const configOf = (created: RunEvent | undefined, { run }: RunState): RunConfig =>
  created?.type === "run_created" && !run.forks ? created.payload.config : run.config;

/** The settings of a run that differ from those of its workflow. */
function changesOf(own: RunConfig, drawn: RunConfig, leftOut: readonly string[]): Partial<RunConfig> | null {
  const changed = entriesOf(own).filter(
    ([key, value]) => !leftOut.includes(key) && !isSameJson(value, drawn[key]),
  );
  const read = RunConfigChanges.safeParse(Object.fromEntries(changed));
  return changed.length > 0 && read.success ? read.data : null;
}

/** A test from a run, with notes on what was left out because it did not hold when run again. */
export interface KeptTest {
  test: ScenarioTest;
  notes: string[];
}

/**
 * Runs a test created from a run on that run's own graph, and leaves out expectations that don't hold the second time:
 * the order in which parallel branches ended.
 */
export async function verifyKept(
  tested: Tested,
  made: ScenarioTest,
  events: readonly RunEvent[],
  parts: TestParts,
): Promise<KeptTest> {
  const notes = changedAt(events);
  const report = await runTest(tested, made, parts);
  if (report.status === "passed") return { test: made, notes };
  if (report.missed || report.question || report.problems.length > 0)
    return { test: made, notes: [...notes, `The test doesn't pass when repeated: ${report.sentence}`] };
  const failed = new Set(report.results.flatMap(({ at, status }) => (status === "failed" ? [at] : [])));
  const expect = made.expect.flatMap((expectation, at): Expectation[] => {
    if (!failed.has(at)) return [expectation];
    if (expectation.kind !== "path") return [];
    return [{ ...expectation, mode: "visited", nodes: [...new Set(expectation.nodes)] }];
  });
  const looser = { ...made, expect };
  const again = await runTest(tested, looser, parts);
  const failures = report.results
    .filter(({ status }) => status === "failed")
    .map(({ sentence }) => `Removed or loosened an expectation that failed when repeated: ${sentence}`);
  return again.status === "passed"
    ? { test: looser, notes: [...notes, ...failures] }
    : {
        test: looser,
        notes: [...notes, ...failures, `The test doesn't pass when repeated: ${again.sentence}`],
      };
}

/** What people changed in the run and a test cannot repeat. */
function changedAt(events: readonly RunEvent[]): string[] {
  const done = notRepeated(events);
  return done.length === 0 ? [] : [`A test doesn't repeat that ${done.join(", and that ")}.`];
}

/** Whether a run can become a cassette: its first event and its interpreter version exist here. */
export const isRecordable = ({ version, turns }: Journal & { version: number }): boolean =>
  interpreters[version] !== undefined && turns[0]?.events[0]?.type === "run_created";

/** The model and tool calls of a run with their answers. `redact` removes secrets. */
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
      const { request, kind, took_ms, ...answer } = answerOf(call);
      // Hashes are no secrets, and what was asked is found by them.
      return { request, kind, ...redact(answer), ...defined({ took_ms }) };
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
  const { workflow_name, context_windows, edition, prompt_seed, past_work, origin, variables } = payload;
  return defined({
    run_id,
    workflow: workflow_name,
    began_at: turns[1]?.at,
    context_windows,
    edition,
    prompt_seed,
    origin,
    variables,
    past_work: past_work && asStored(past_work),
    models: [...new Set(models)].sort(),
  });
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
