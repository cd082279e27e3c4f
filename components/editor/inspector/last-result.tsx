"use client";

import { Play } from "lucide-react";
import { useStore } from "zustand";
import { resultLabel } from "@/components/canvas/cards/result-caption";
import { cardResult } from "@/components/run/try-out/canvas-tries";
import { shownResult, tryOutsOf } from "@/components/run/try-out/try-out-store";
import { KeyValues } from "@/components/run/values";
import { Button } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { PageLink } from "@/components/ui/page-link";
import { TimeText } from "@/components/ui/time-text";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { useEditorCommands } from "../commands";
import { useEditor } from "../editing/editor-store";

/** The last result of the node, and a button to run it alone with the same inputs. */
export function LastResult({ graph, node }: { graph: WorkflowGraph; node: WorkflowNode }) {
  const workflowId = useEditor(({ id }) => id);
  const all = useStore(tryOutsOf(workflowId));
  const commands = useEditorCommands();
  const shown = shownResult(all, node.id);
  const result = cardResult(all, graph, node.id);
  const canTry = commands.canTry(node.id);
  if (!result && !canTry) return null;
  return (
    <section
      aria-label="Last result"
      className="flex flex-col gap-2 border-t border-line px-4 py-4 text-[13px]"
    >
      <div className="flex min-h-7 items-center justify-between">
        <h2 className="font-semibold">Last result</h2>
        {canTry ? (
          <Button size="sm" icon={<Play aria-hidden />} onClick={() => commands.tryNode(node.id)}>
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
            {result.summary}
          </p>
          {result.stale ? <p className="text-waiting-ink">May be out of date: {result.stale}</p> : null}
          <Disclosure title="Output">
            <KeyValues label="Last output" values={shown.result.output ?? {}} />
          </Disclosure>
          {"run_id" in shown.result ? (
            <PageLink
              href={`/workflows/${workflowId}/runs/${shown.result.run_id}`}
              className="self-start font-medium underline underline-offset-2 hover:text-accent"
            >
              Open run
            </PageLink>
          ) : null}
        </>
      ) : (
        <p className="text-ink-3">No run has reached this node yet.</p>
      )}
    </section>
  );
}
