"use client";

import { useQuery } from "@tanstack/react-query";
import { useTrpc } from "@/components/trpc";

const NOTES = {
  fork: "This run was made before requests were recorded: behind the fork all calls are made anew, and may cost something.",
  replay:
    "This run was made before requests were recorded: none of its answers can be found again. A strict replay ends at its first call; a lenient one asks you before each.",
} as const;

/** The human inputs that a replay or test repeats. */
export function DoingsNote({ runId, as }: { runId: string; as: "replay" | "test" }) {
  const { data } = useQuery(useTrpc().runs.recorded.queryOptions({ run_id: runId }));
  const { repeats = [], not_repeated = [] } = data ?? {};
  if (repeats.length + not_repeated.length === 0) return null;
  return (
    <div
      role="note"
      aria-label="What people did"
      className="flex flex-col gap-1 rounded-lg bg-sunken px-3 py-2 text-[13px] text-ink-2"
    >
      {repeats.length > 0 ? (
        <p>
          On the way a person {repeats.join(", ")}. The {as} does that again, at the same places.
        </p>
      ) : null}
      {not_repeated.length > 0 ? (
        <p>
          Not repeated by the {as}: {not_repeated.join("; ")}. From there on it may come out otherwise.
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
