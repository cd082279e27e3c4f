"use client";

import { useQuery } from "@tanstack/react-query";
import { useTrpc } from "@/components/trpc";
import type { RunPlace } from "@/server/domain/run/engine-state";
import type { QuarantineReason } from "@/server/domain/run/quarantine";
import { useRun } from "../run-context";

/**
 * Polls what no event reports, every few seconds until the run ends: why it is quarantined (a damaged log takes no
 * event), and which worker executes it (which doesn't affect the result).
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
