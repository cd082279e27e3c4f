"use client";

import { useQuery } from "@tanstack/react-query";
import { Play } from "lucide-react";
import { useState } from "react";
import { useStore } from "zustand";
import { resultLabel } from "@/components/canvas/tried-slip";
import { cardResult } from "@/components/run/try-out/canvas-tries";
import { shownResult, tryOutsOf } from "@/components/run/try-out/try-out-store";
import { KeyValues } from "@/components/run/values";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { PageLink } from "@/components/ui/page-link";
import { TimeText } from "@/components/ui/time-text";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { useEditorCommands } from "../commands";
import { useEditor } from "../editing/editor-store";

/** What the node came to last, and running it alone with the same inputs. */
export function LastResult({ graph, node }: { graph: WorkflowGraph; node: WorkflowNode }) {
  const workflowId = useEditor(({ id }) => id);
  const all = useStore(tryOutsOf(workflowId));
  const commands = useEditorCommands();
  const [isOpen, setOpen] = useState(false);
  const shown = shownResult(all, node.id);
  const result = cardResult(all, graph, node.id);
  const runId = shown && shown.from !== "pin" ? shown.result.run_id : undefined;
  const { data } = useQuery({
    ...useTrpc().runs.nodeResult.queryOptions({
      workflow_id: workflowId,
      node_id: node.id,
      ...(runId ? { run_id: runId } : {}),
    }),
    enabled: isOpen && runId !== undefined,
  });
  const canTry = commands.canTry(node.id);
  if (!shown && !canTry) return null;
  return (
    <section
      aria-label="Last result"
      className="flex flex-col gap-2 border-t border-line px-4 py-4 text-[13px]"
    >
      <div className="flex min-h-7 items-center gap-2">
        <h3 className="font-semibold">Last result</h3>
        {canTry ? (
          <Button
            size="sm"
            icon={<Play aria-hidden />}
            className="ml-auto"
            onClick={() => commands.tryNode(node.id)}
          >
            Try this node
          </Button>
        ) : null}
      </div>
      {shown && result ? (
        <>
          <p className="line-clamp-4 [overflow-wrap:anywhere]">
            <span className="text-ink-3">
              {resultLabel(result)}, <TimeText at={shown.result.at} />:
            </span>{" "}
            {result.said}
          </p>
          {result.stale ? <p className="text-waiting-ink">May be out of date. {result.stale}</p> : null}
          <div className="flex flex-wrap items-center gap-1">
            <Button size="sm" variant="ghost" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {isOpen ? "Hide the values" : "Show the values"}
            </Button>
            {runId ? (
              <PageLink
                href={`/workflows/${workflowId}/runs/${runId}`}
                className="px-2 font-medium text-ink-2 hover:text-ink"
              >
                Open the run
              </PageLink>
            ) : null}
          </div>
          {isOpen ? (
            <>
              <KeyValues label="Last output" values={(data ? data.output : shown.result.output) ?? {}} />
              <h4 className="pt-1 font-medium text-ink-2">Inputs</h4>
              <KeyValues label="Last inputs" values={(data ? data.input : shown.result.input) ?? {}} />
            </>
          ) : null}
        </>
      ) : (
        <p className="text-ink-3">No run has reached this node yet.</p>
      )}
    </section>
  );
}
