import type { RunEventOf } from "@/server/domain/run/events";
import type { RunStore } from "@/server/store/runs";
import { interpreters } from "../interpreters";
import { type Execute, type RetracedAnswer, retraced } from "../recorded/retrace";

/** A run as far as it can be carried out once more without asking anybody. */
export interface Recording {
  run_id: string;
  created: RunEventOf<"run_created">;
  begunAt: number;
  answers: readonly RetracedAnswer[];
  /** How often a person paused, edited or steered it: that is not repeated. */
  commands: number;
  execute: Execute;
}

/** Reads a run's record; undefined where its beginning is gone or another version of Troupe made it. Throws DamagedLog. */
export function recordingOf(store: Pick<RunStore, "journal">, run_id: string): Recording | undefined {
  const journal = store.journal(run_id);
  const execute = interpreters[journal.version];
  const created = journal.turns[0]?.events[0];
  if (!execute || created?.type !== "run_created") return undefined;
  return {
    run_id,
    created,
    begunAt: journal.turns[1]?.at ?? created.ts,
    answers: retraced(run_id, journal, execute),
    commands: journal.turns.filter(({ key }) => key?.startsWith("control#") || key === "$cancel").length,
    execute,
  };
}
