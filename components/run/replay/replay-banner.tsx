"use client";

import { ArrowLeftRight, History } from "lucide-react";
import { countOf } from "@/components/display/format";
import { ButtonLink } from "@/components/ui/button";
import { PageLink } from "@/components/ui/page-link";
import type { RunEvent } from "@/server/domain/run/events";
import type { ForkOrigin } from "@/server/domain/run/fork/lineage";
import type { RunSummary } from "../history/run-row";
import { useRun } from "../run-context";

/** What a replay took from its original's record, and what was asked anew. */
function callsOf(events: readonly RunEvent[]): { answered: number; made: number } {
  let [answered, made] = [0, 0];
  for (const event of events) {
    if (event.type !== "llm_call_completed" && event.type !== "tool_call_completed") continue;
    if (event.payload.reused === undefined) made++;
    else answered++;
  }
  return { answered, made };
}

/** Says that a run replays another one, what that took, and leads to both side by side. */
export function ReplayBanner({
  runId,
  origin,
  run,
}: {
  runId: string;
  origin: ForkOrigin;
  run: RunSummary | undefined;
}) {
  const answered = useRun(({ events }) => callsOf(events).answered, 0);
  const made = useRun(({ events }) => callsOf(events).made, 0);
  const isOver = useRun(({ head }) => head.run.status === "finished", false);
  return (
    <div
      role="note"
      aria-label="Replay"
      className="flex w-full flex-wrap items-center gap-x-3 gap-y-1 rounded-lg bg-accent-soft px-3 py-1.5"
    >
      <History aria-hidden className="size-3.5 shrink-0 text-accent" />
      <span className="min-w-0 flex-1 basis-56 text-ink [overflow-wrap:anywhere]">
        {origin.replay === "lenient" ? "Lenient replay of " : "Strict replay of "}
        {run ? (
          <PageLink
            href={`/workflows/${run.workflow_id ?? "-"}/runs/${run.id}`}
            className="text-accent hover:underline"
          >
            the run started {new Date(run.created_at).toLocaleString("en-GB")}
          </PageLink>
        ) : (
          "a deleted run"
        )}
        : {countOf(answered, "call")} answered from the recording, {countOf(made, "real call")} made.
      </span>
      {run && isOver ? (
        <ButtonLink
          size="sm"
          href={`/runs/compare?a=${encodeURIComponent(run.id)}&b=${encodeURIComponent(runId)}`}
          icon={<ArrowLeftRight aria-hidden />}
        >
          Compare with original
        </ButtonLink>
      ) : null}
    </div>
  );
}
