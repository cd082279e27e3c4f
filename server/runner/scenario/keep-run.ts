import { RunConfig, RunConfigChanges } from "@/server/domain/agent/outcome";
import { entriesOf } from "@/server/domain/base/guards";
import { isSameJson } from "@/server/domain/base/json";
import { foldRun, type RunState } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import { peopleOf, proposedExpectations } from "@/server/domain/scenario/propose";
import type { ScenarioFields } from "@/server/domain/scenario/scenario-test";
import type { Journal } from "../durable/embedded-contract";
import { repeatedOf } from "../lifecycle/fork";
import { cassetteOf } from "./record-cassette";

/** What a run makes as a test: its input, its answers, its people, and what is proposed to expect of it. */
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
  const { pins } = state.run;
  const fields: ScenarioFields = {
    name,
    input: state.input,
    answers,
    people: peopleOf(state),
    ...(commands.length > 0 ? { commands: [...commands] } : {}),
    expect: proposedExpectations(events, state),
    ...(journal.turns[1] ? { starts_at: journal.turns[1].at } : {}),
    ...(pins ? { pins } : {}),
    ...(config ? { config } : {}),
  };
  // The hashes of requests stay as they are: they are no secrets, and what was asked is found by them.
  return redact ? { ...redact({ ...fields, answers: undefined }), answers } : fields;
}

/** How a run is held: no part of a test in which nobody tells it anything then. */
const HELD: readonly string[] = ["mode", "breakpoints"];

/** The settings that a run began with: limits that people raised on the way are raised again. A fork's are those it has now. */
const configOf = (created: RunEvent | undefined, { run }: RunState): RunConfig =>
  created?.type === "run_created" && !run.forks ? created.payload.config : run.config;

/** What a run's settings have otherwise than its drawing. */
function changesOf(own: RunConfig, drawn: RunConfig, leftOut: readonly string[]): Partial<RunConfig> | null {
  const changed = entriesOf(own).filter(
    ([key, value]) => !leftOut.includes(key) && !isSameJson(value, drawn[key]),
  );
  const read = RunConfigChanges.safeParse(Object.fromEntries(changed));
  return changed.length > 0 && read.success ? read.data : null;
}
