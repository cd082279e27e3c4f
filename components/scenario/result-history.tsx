"use client";

import { useQuery } from "@tanstack/react-query";
import { formatDuration } from "@/components/display/format";
import { markWord, TestMark } from "@/components/display/test-mark";
import { toApiError, useTrpc } from "@/components/trpc";
import { EmptyState } from "@/components/ui/empty-state";
import { Skeleton } from "@/components/ui/skeleton";
import { TimeText } from "@/components/ui/time-text";

/** What became of a test each time it was run, the newest first; each opens its report. */
export function ResultHistory({
  workflowId,
  testId,
  onOpen,
}: {
  workflowId: string;
  testId: string;
  onOpen: (resultId: number) => void;
}) {
  const { data, error } = useQuery(
    useTrpc().tests.results.queryOptions({ workflow_id: workflowId, test_id: testId, limit: 50 }),
  );
  if (error) return <p className="text-[13px] text-failed">{toApiError(error).message}</p>;
  if (!data) return <Skeleton className="h-24" />;
  if (data.length === 0) return <EmptyState title="It was not run yet" />;
  return (
    <ol aria-label="History" className="flex flex-col divide-y divide-line rounded-xl border border-line">
      {data.map(({ id, at, by, status, revision, took_ms }) => (
        <li key={id}>
          <button
            type="button"
            aria-label={`${markWord(status)}, ${new Date(at).toLocaleString("en-GB")}: show the report`}
            onClick={() => onOpen(id)}
            className="flex w-full flex-wrap items-center gap-x-4 gap-y-1 px-3.5 py-2.5 text-left text-[13px] hover:bg-ink/3"
          >
            <span className="w-32">
              <TestMark status={status} withWord />
            </span>
            <TimeText at={at} />
            <span className="text-ink-2">Version {revision}</span>
            <span className="ml-auto text-ink-3 tabular-nums">
              {by === "user" ? "" : `${by}, `}
              {formatDuration(took_ms)}
            </span>
          </button>
        </li>
      ))}
    </ol>
  );
}
