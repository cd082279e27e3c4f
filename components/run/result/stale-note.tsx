"use client";

import { useQuery } from "@tanstack/react-query";
import { History } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { StaleContext } from "@/components/canvas/cards/stale-mark";
import { useTrpc } from "@/components/trpc";
import { defined } from "@/server/domain/base/defined";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { StaleOutput } from "@/server/domain/run/stale";
import { useRun } from "../run-context";
import { useRunPage } from "../run-page-context";
import { pinsFor, tryOutsOf } from "../try-out/try-out-store";

const NONE: readonly StaleOutput[] = [];

/** The outputs of the run that may differ today; none while it runs. */
function useStale(): readonly StaleOutput[] {
  const page = useRunPage();
  const isOver = useRun(({ head }) => head.run.status === "finished", false);
  const graph = useRun<WorkflowGraph | null>(({ head }) => head.graph, null);
  const workflowId = useRun<string | null>(({ head }) => head.run.workflow_id, null);
  const isFromEditor = useRun(({ head }) => head.run.pins !== undefined, false);
  const [pins] = useState(() =>
    workflowId && graph && isFromEditor ? pinsFor(tryOutsOf(workflowId).getState().pins, graph) : undefined,
  );
  const { data } = useQuery({
    ...useTrpc().runs.stale.queryOptions({ run_id: page?.runId ?? "", ...defined({ pins }) }),
    enabled: page !== null && isOver && workflowId !== null,
  });
  return data ?? NONE;
}

/** Marks the cards whose outputs may differ today. */
export function StaleCards({ children }: { children: ReactNode }) {
  const stale = useStale();
  const reasons = useMemo(() => new Map(stale.map(({ node_id, reason }) => [node_id, reason])), [stale]);
  return <StaleContext value={reasons}>{children}</StaleContext>;
}

/** Why a node's output may differ today; nothing if it is up to date. */
export function StaleNote({ nodeId }: { nodeId: string }) {
  const found = useStale().find(({ node_id }) => node_id === nodeId);
  return found ? <Note>{`May be out of date: ${found.reason}`}</Note> : null;
}

/** Which outputs of the run may differ today; nothing if all are up to date. */
export function StaleOutputs() {
  const stale = useStale();
  const page = useRunPage();
  const graph = useRun<WorkflowGraph | null>(({ head }) => head.graph, null);
  if (stale.length === 0) return null;
  return (
    <details className="rounded-lg bg-sunken px-3 py-2 text-[13px] text-ink-2">
      <summary className="cursor-pointer">
        {stale.length === 1 ? "1 output" : `${stale.length} outputs`} may be out of date
      </summary>
      <ul className="flex flex-col gap-1 pt-2">
        {stale.map(({ node_id, reason }) => (
          <li key={node_id} className="[overflow-wrap:anywhere]">
            <button
              type="button"
              className="font-medium text-ink hover:text-accent"
              onClick={() => page?.openNode(node_id)}
            >
              {graph?.nodes[node_id]?.name || node_id}
            </button>
            : {reason}
          </li>
        ))}
      </ul>
    </details>
  );
}

const Note = ({ children }: { children: string }) => (
  <p role="note" className="flex items-start gap-2 rounded-lg bg-sunken px-3 py-2 text-[13px] text-ink-2">
    <History aria-hidden className="mt-0.5 size-4 shrink-0" />
    <span className="min-w-0 [overflow-wrap:anywhere]">{children}</span>
  </p>
);
