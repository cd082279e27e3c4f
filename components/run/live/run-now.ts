"use client";

import { useQuery } from "@tanstack/react-query";
import { useTrpc } from "@/components/trpc";
import type { RunPlace } from "@/server/domain/run/engine-state";
import type { QuarantineReason } from "@/server/domain/run/quarantine";
import { useRun } from "../run-context";

/**
 * What the server knows of a run beside its events, looked at every few seconds until it is over: why it is put aside (a
 * damaged log takes no event), and where it is at work (which no event tells, as it changes nothing of what happens).
 */
export function useRunNow(runId: string): { held: QuarantineReason | null; place: RunPlace | null } {
  const isOver = useRun(({ head }) => head.run.status === "finished", false);
  const { data } = useQuery({
    ...useTrpc().runs.get.queryOptions({ run_id: runId }),
    enabled: !isOver,
    refetchInterval: 3_000,
  });
  if (isOver || !data) return { held: null, place: null };
  return { held: data.held, place: data.held ? null : data.place };
}
