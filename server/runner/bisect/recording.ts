import type { RunConfig } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { keptCommands } from "@/server/domain/run/commands/repeated";
import type { RunEventOf } from "@/server/domain/run/events";
import type { RunStore } from "@/server/store/runs/runs";
import { interpreters } from "../interpreter/interpreters";
import { commandsOf } from "../replay/commands-of";
import { type Execute, type RetracedAnswer, retraced } from "../replay/retrace";

/** A run as far as it can be re-executed without asking anyone. */
export interface Recording {
  run_id: string;
  created: RunEventOf<"run_created">;
  begunAt: number;
  answers: readonly RetracedAnswer[];
  /** The pauses it was given by commands; empty if no repeated command set one. Not part of its initial data. */
  held: Held;
  execute: Execute;
}

/** Where a run pauses until it is resumed. */
type Held = Partial<Pick<RunConfig, "mode" | "breakpoints" | "stop_at">> & { can_hold?: true };

/**
 * Reads a run's recording; undefined if its start is missing or another version of Troupe wrote it. Throws DamagedLog.
 */
export function recordingOf(store: Pick<RunStore, "journal">, run_id: string): Recording | undefined {
  const journal = store.journal(run_id);
  const execute = interpreters[journal.version];
  const created = journal.turns[0]?.events[0];
  if (!execute || created?.type !== "run_created") return undefined;
  const repeats = commandsOf(run_id, journal, execute);
  const { can_hold, repeats: _r, config, ...payload } = created.payload;
  const { mode, breakpoints, stop_at, ...settings } = config;
  return {
    run_id,
    created: {
      ...created,
      payload: {
        ...payload,
        config: { ...settings, mode: "continuous" },
        ...defined({ repeats: repeats.length > 0 ? keptCommands(repeats) : undefined }),
      },
    },
    held:
      repeats.length === 0
        ? {}
        : {
            mode,
            ...defined({ breakpoints, stop_at, can_hold }),
          },
    begunAt: journal.turns[1]?.at ?? created.ts,
    answers: retraced(run_id, journal, execute),
    execute,
  };
}
