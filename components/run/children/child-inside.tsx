"use client";

import { type KeyboardEvent, useEffect, useMemo, useRef } from "react";
import { useRunParts } from "@/components/canvas/canvas-run-context";
import type { CardSize } from "@/components/canvas/cards/card-size";
import { CanvasProvider, GraphCanvas } from "@/components/canvas/graph-canvas";
import { stillView } from "@/components/canvas/layout/still-view";
import { Spinner } from "@/components/ui/spinner";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { useRun } from "../run-context";
import { useRunDrawing } from "../run-drawing";
import { ChildBar } from "./child-bar";
import { ChildDoors, useChildKeys } from "./child-doors";
import { ChildRunProvider, useShownChild } from "./child-run";
import { useChildStage, useOpenCards } from "./child-stage";

/** A larger run is scaled down to this. */
const MOST: CardSize = { width: 1600, height: 1000 };
/** Room for the card's name and the header of the run. */
const LEAST_WIDTH = 620;
/** What surrounds it in the card: the border and the card's header. */
const FRAME = { width: 2, height: 74 };

/** The content of an open card: the run that its node started, on a canvas that moves with the one around. */
export function ChildInside({ node }: { node: WorkflowNode }) {
  const stage = useChildStage();
  const { child, ...shown } = useShownChild(node.id);
  const section = useRef<HTMLElement>(null);
  if (!stage || !child) return null;
  const close = () => {
    stage.fold(node.id);
    section.current?.closest<HTMLElement>("[data-node]")?.focus({ preventScroll: true });
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    // Keys must not reach the outer canvas.
    event.stopPropagation();
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    close();
  };
  return (
    <section
      ref={section}
      aria-label={`Run of ${node.name || node.id}`}
      data-child={node.id}
      data-child-run={child.run_id}
      tabIndex={-1}
      className="card-inside nodrag"
      onKeyDown={onKeyDown}
      onClick={(event) => event.stopPropagation()}
      onDoubleClick={(event) => event.stopPropagation()}
    >
      <ChildRunProvider key={child.run_id} runId={child.run_id}>
        <header className="card-bar">
          <ChildBar {...shown} child={child} onItem={(item) => stage.unfold(node.id, item)} onClose={close} />
        </header>
        <ChildDrawing hasBegun={shown.hasBegun} onSize={(size) => stage.resize(node.id, size)} />
      </ChildRunProvider>
    </section>
  );
}

const NOTE = "flex min-h-44 items-center justify-center text-sm text-ink-2";

function ChildDrawing({ hasBegun, onSize }: { hasBegun: boolean; onSize: (size: CardSize) => void }) {
  // Cards open in here as on the outer canvas.
  const { graph, ...drawing } = useRunDrawing({ Inside: useRunParts()?.Inside });
  const isEmpty = useRun(({ lastSeq }) => lastSeq === 0, true);
  const isUnreachable = useRun(({ connection }) => connection === "reconnecting", false);
  if (!hasBegun) return <p className={NOTE}>Not started</p>;
  if (!graph || isEmpty)
    return (
      <p className={NOTE}>{isUnreachable ? "This run can't be loaded." : <Spinner label="Loading run…" />}</p>
    );
  return <Drawn graph={graph} drawing={drawing} onSize={onSize} />;
}

function Drawn({
  graph,
  drawing,
  onSize,
}: {
  graph: WorkflowGraph;
  drawing: Omit<ReturnType<typeof useRunDrawing>, "graph">;
  onSize: (size: CardSize) => void;
}) {
  const grown = useOpenCards();
  const dressing = useMemo(() => ({ grown }), [grown]);
  const { size, view } = useMemo(() => stillView(graph, grown, MOST), [graph, grown]);
  const onKeyDown = useChildKeys();
  const { width, height } = size;
  useEffect(
    () => onSize({ width: Math.max(LEAST_WIDTH, width + FRAME.width), height: height + FRAME.height }),
    [onSize, width, height],
  );
  return (
    <div className="mx-auto" style={size}>
      <CanvasProvider isStill>
        <GraphCanvas
          {...drawing}
          graph={graph}
          label="Canvas of the run"
          dressing={dressing}
          still={view}
          onKeyDown={onKeyDown}
        >
          <ChildDoors />
        </GraphCanvas>
      </CanvasProvider>
    </div>
  );
}
