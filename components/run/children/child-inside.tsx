"use client";

import { type KeyboardEvent, useEffect, useMemo, useRef } from "react";
import { useRunParts } from "@/components/canvas/canvas-run-context";
import type { CardSize } from "@/components/canvas/cards/card-size";
import { CanvasProvider, GraphCanvas } from "@/components/canvas/graph-canvas";
import { stillView } from "@/components/canvas/layout/still-view";
import { useLargestCard } from "@/components/canvas/use-canvas-view";
import { Spinner } from "@/components/ui/spinner";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { useRun } from "../run-context";
import { useRunDrawing } from "../run-drawing";
import { useRunPage } from "../run-page-context";
import { ChildBar } from "./child-bar";
import { ChildDoors, useChildKeys } from "./child-doors";
import { ChildRunProvider, useShownChild } from "./child-run";
import { useChildStage, useOpenCards } from "./child-stage";

/** A card within an open card is at most as large as this; it is scaled down with what is around it. */
const LARGEST: CardSize = { width: 1600, height: 1000 };
/** Width for the card's name next to the header of the run; a narrower card shows the header under its name. */
const LEAST_WIDTH = 620;
/** What surrounds it in the card: the border and the card's header. */
const FRAME = { width: 2, height: 74 };
/** The header of the run where it is below the name; keep in sync with card-inside.css. */
const BAR_HEIGHT = 48;

/** How large the card may be, so that it is visible as a whole. */
function useMost(): CardSize {
  const isOuter = useRunPage() !== null;
  const seen = useLargestCard();
  return isOuter && seen ? seen : LARGEST;
}

/** The content of an open card: the run that its node started, on a canvas that moves with the one around. */
export function ChildInside({ node }: { node: WorkflowNode }) {
  const stage = useChildStage();
  const { child, ...shown } = useShownChild(node.id);
  const section = useRef<HTMLElement>(null);
  const most = useMost();
  const isTight = most.width < LEAST_WIDTH;
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
        <header className="card-bar" data-tight={isTight || undefined}>
          <ChildBar {...shown} child={child} onItem={(item) => stage.unfold(node.id, item)} onClose={close} />
        </header>
        <ChildDrawing
          hasBegun={shown.hasBegun}
          most={most}
          frame={{ ...FRAME, height: FRAME.height + (isTight ? BAR_HEIGHT : 0) }}
          onSize={(size) => stage.resize(node.id, size)}
        />
      </ChildRunProvider>
    </section>
  );
}

const NOTE = "flex min-h-44 items-center justify-center text-sm text-ink-2";

interface DrawingProps {
  /** How large the card may be, and how much of it surrounds the canvas. */
  most: CardSize;
  frame: CardSize;
  onSize: (size: CardSize) => void;
}

function ChildDrawing({ hasBegun, ...sizes }: DrawingProps & { hasBegun: boolean }) {
  // Cards open in here as on the outer canvas.
  const { graph, ...drawing } = useRunDrawing({ Inside: useRunParts()?.Inside });
  const isEmpty = useRun(({ lastSeq }) => lastSeq === 0, true);
  const isUnreachable = useRun(({ connection }) => connection === "reconnecting", false);
  if (!hasBegun) return <p className={NOTE}>Not started</p>;
  if (!graph || isEmpty)
    return (
      <p className={NOTE}>{isUnreachable ? "This run can't be loaded." : <Spinner label="Loading run…" />}</p>
    );
  return <Drawn graph={graph} drawing={drawing} {...sizes} />;
}

function Drawn({
  graph,
  drawing: { workflows, ...drawing },
  most,
  frame,
  onSize,
}: DrawingProps & {
  graph: WorkflowGraph;
  drawing: Omit<ReturnType<typeof useRunDrawing>, "graph">;
}) {
  const stage = useChildStage();
  const grown = useOpenCards();
  const dressing = useMemo(() => ({ grown, workflows }), [grown, workflows]);
  const [mostWidth, mostHeight] = [most.width - frame.width, most.height - frame.height];
  const { size, view } = useMemo(
    () => stillView(graph, grown, { width: mostWidth, height: mostHeight }),
    [graph, grown, mostWidth, mostHeight],
  );
  const onKeyDown = useChildKeys();
  const width = Math.max(Math.min(LEAST_WIDTH, most.width), size.width + frame.width);
  const height = size.height + frame.height;
  useEffect(() => onSize({ width, height }), [onSize, width, height]);
  return (
    <div className="mx-auto" style={size}>
      <CanvasProvider isStill>
        <GraphCanvas
          {...drawing}
          graph={graph}
          label="Canvas of the run"
          dressing={dressing}
          still={view}
          selectedId={stage?.picked ?? null}
          onSelect={(nodeId) => stage?.pick(nodeId)}
          onKeyDown={onKeyDown}
        >
          <ChildDoors />
        </GraphCanvas>
      </CanvasProvider>
    </div>
  );
}
