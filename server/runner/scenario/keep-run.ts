import { RunConfig, RunConfigChanges } from "@/server/domain/agent/outcome";
import { isSameJson } from "@/server/domain/base/json";
import { foldRun } from "@/server/domain/run";
import { peopleOf, proposedExpectations } from "@/server/domain/scenario/propose";
import type { ScenarioFields } from "@/server/domain/scenario/scenario-test";
import type { Journal } from "../embedded";
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
  const config = changesOf(state.run.config, RunConfig.parse(state.graph.config ?? {}));
  const { pins } = state.run;
  const fields: ScenarioFields = {
    name,
    input: state.input,
    answers,
    people: peopleOf(state),
    expect: proposedExpectations(events, state),
    ...(journal.turns[1] ? { starts_at: journal.turns[1].at } : {}),
    ...(pins ? { pins } : {}),
    ...(config ? { config } : {}),
  };
  // The hashes of requests stay as they are: they are no secrets, and what was asked is found by them.
  return redact ? { ...redact({ ...fields, answers: undefined }), answers } : fields;
}

/** What a run's settings have otherwise than its drawing; how it was held is no part of a test. */
function changesOf(own: RunConfig, drawn: RunConfig): Partial<RunConfig> | null {
  const changed = Object.entries(own).filter(
    ([key, value]) =>
      key !== "mode" && key !== "breakpoints" && !isSameJson(value, (drawn as Record<string, unknown>)[key]),
  );
  const read = RunConfigChanges.safeParse(Object.fromEntries(changed));
  return changed.length > 0 && read.success ? read.data : null;
}
