"use client";

import { ChevronDown, ChevronRight } from "lucide-react";
import { NodeList } from "@/components/canvas/node-list";
import { Spinner } from "@/components/ui/spinner";
import { useRun } from "../run-context";
import { useRunDrawing } from "../run-drawing";
import { ChildBar } from "./child-bar";
import { PausedChild, useUnfold } from "./child-doors";
import { ChildRunProvider, useShownChild } from "./child-run";
import { likelyChild } from "./child-runs";
import { useChildStage } from "./child-stage";

/** A run that opens below the node that started it in the list of nodes, on screens too small for the canvas. */
export function ChildSection({ nodeId }: { nodeId: string }) {
  const stage = useChildStage();
  const unfold = useUnfold();
  const hasRuns = useRun(({ state }) => likelyChild(state, nodeId) !== undefined, false);
  const name = useRun(({ head }) => head.graph.nodes[nodeId]?.name || nodeId, nodeId);
  const isOpen = stage?.open.has(nodeId) ?? false;
  if (!stage || !(hasRuns || isOpen)) return null;
  return (
    <div className="flex flex-col gap-1 pb-1 pl-12">
      <div className="flex flex-wrap items-center gap-2">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => (isOpen ? stage.fold(nodeId) : unfold(nodeId))}
          className="inline-flex h-8 items-center gap-1 rounded-lg px-2 text-[13px] font-medium text-accent hover:bg-accent-soft pointer-coarse:h-11"
        >
          {isOpen ? (
            <ChevronDown aria-hidden className="size-4" />
          ) : (
            <ChevronRight aria-hidden className="size-4" />
          )}
          <span>
            {isOpen ? "Close" : "Open"} run<span className="sr-only"> of {name}</span>
          </span>
        </button>
        <PausedChild nodeId={nodeId} />
      </div>
      {isOpen ? <Shown nodeId={nodeId} name={name} /> : null}
    </div>
  );
}

function Shown({ nodeId, name }: { nodeId: string; name: string }) {
  const stage = useChildStage();
  const { child, ...shown } = useShownChild(nodeId);
  if (!stage || !child) return null;
  return (
    <section
      aria-label={`Run of ${name}`}
      data-child-run={child.run_id}
      tabIndex={-1}
      className="-ml-10 flex flex-col rounded-xl border border-line bg-surface"
    >
      <ChildRunProvider key={child.run_id} runId={child.run_id}>
        <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3 py-1.5">
          <ChildBar
            {...shown}
            child={child}
            onItem={(item) => stage.unfold(nodeId, item)}
            onClose={() => stage.fold(nodeId)}
          />
        </header>
        {shown.hasBegun ? <ChildList /> : <p className="p-3 text-[13px] text-ink-2">Not started</p>}
      </ChildRunProvider>
    </section>
  );
}

function ChildList() {
  const stage = useChildStage();
  const { graph, ...drawing } = useRunDrawing();
  const isEmpty = useRun(({ lastSeq }) => lastSeq === 0, true);
  if (!graph || isEmpty) return <Spinner label="Loading run…" />;
  return (
    <NodeList
      {...drawing}
      graph={graph}
      selected={new Set(stage?.picked ? [stage.picked] : [])}
      onPick={(nodeId) => stage?.pick(nodeId)}
      under={(id) => <ChildSection nodeId={id} />}
    />
  );
}
