"use client";

import { useQuery } from "@tanstack/react-query";
import { useTrpc } from "@/components/trpc";

const NOTES = {
  fork: "This run predates request recording. Calls after the fork point are made again and may cost money.",
  replay:
    "This run predates request recording. A strict replay stops at the first call; a lenient one asks you before each.",
} as const;

/** The human inputs that a replay or test repeats. */
export function DoingsNote({ runId, as }: { runId: string; as: "replay" | "test" }) {
  const { data } = useQuery(useTrpc().runs.recorded.queryOptions({ run_id: runId }));
  const { repeats = [], not_repeated = [] } = data ?? {};
  if (repeats.length + not_repeated.length === 0) return null;
  return (
    <div
      role="note"
      aria-label="Human actions"
      className="flex flex-col gap-1 rounded-lg bg-sunken px-3 py-2 text-[13px] text-ink-2"
    >
      {repeats.length > 0 ? (
        <p>
          During the run, a person {repeats.join(", ")}. The {as} repeats these actions at the same points.
        </p>
      ) : null}
      {not_repeated.length > 0 ? (
        <p>
          Not repeated by the {as}: {not_repeated.join("; ")}. Results may differ afterward.
        </p>
      ) : null}
    </div>
  );
}

/** A word before a run is forked or replayed whose answers cannot be found again; nothing otherwise. */
export function RecordedNote({ runId, before }: { runId: string; before: keyof typeof NOTES }) {
  const { data } = useQuery(useTrpc().runs.recorded.queryOptions({ run_id: runId }));
  if (!data || data.model_calls === 0 || data.answers > 0) return null;
  return (
    <p role="note" className="rounded-lg bg-sunken px-3 py-2 text-[13px] text-ink-2">
      {NOTES[before]}
    </p>
  );
}
