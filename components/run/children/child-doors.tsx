"use client";

import { useNodesInitialized, useStore } from "@xyflow/react";
import { CirclePause, Workflow } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { CanvasLayer } from "@/components/canvas/canvas-parts";
import { CardDoors } from "@/components/canvas/cards/card-doors";
import { nodeIdOf } from "@/components/canvas/hits";
import { useCanvasView } from "@/components/canvas/use-canvas-view";
import { useRun, useRunList, useRunViewStore } from "@/components/run/run-context";
import { PageLink } from "@/components/ui/page-link";
import { likelyChild, runHref } from "./child-runs";
import { useChildStage } from "./child-stage";
import { usePausedChild, useStepOver } from "./paused-child";

/** The nodes of the current run that have started runs by the cursor. */
const useParents = (): string[] =>
  useRunList<string>(({ state }) => [
    ...new Set(
      [...state.children.values()].flatMap(
        ({ activation_id }) => state.activations[activation_id]?.node_id ?? [],
      ),
    ),
  ]);

/** Opens the run of a node in its card: of a map, the most interesting one. */
export function useUnfold() {
  const stage = useChildStage();
  const store = useRunViewStore();
  return (nodeId: string) => {
    const child = store && likelyChild(store.view.getState().state, nodeId);
    if (!child) return;
    stage?.unfold(nodeId, child.item);
    focusChild(child.run_id);
  };
}

/** Enter on the card of a node that has started a run opens it. */
export function useChildKeys() {
  const parents = useParents();
  const unfold = useUnfold();
  return (event: KeyboardEvent<HTMLElement>) => {
    const id = nodeIdOf(event.target);
    const isCard = event.target instanceof HTMLElement && event.target.dataset.node === id;
    if (event.defaultPrevented || event.key !== "Enter" || !id || !isCard || !parents.includes(id)) return;
    event.preventDefault();
    unfold(id);
  };
}

/** On the canvas of a run: a button at every node that has started a run, and where one is paused, what to do. */
export function ChildDoors() {
  const open = useChildStage()?.open;
  const parents = useParents();
  return (
    <CanvasLayer>
      {parents.map((id) => (
        <CardDoors key={id} nodeId={id}>
          {open?.has(id) ? null : <OpenButton nodeId={id} />}
          <PausedChild nodeId={id} />
        </CardDoors>
      ))}
    </CanvasLayer>
  );
}

function OpenButton({ nodeId }: { nodeId: string }) {
  const unfold = useUnfold();
  const name = useRun(({ head }) => head.graph.nodes[nodeId]?.name || nodeId, nodeId);
  return (
    <button type="button" className="card-door" onClick={() => unfold(nodeId)}>
      <Workflow aria-hidden />
      <span>
        Open<span className="sr-only"> run of {name}</span>
      </span>
    </button>
  );
}

/** Says that a child run is paused, for example because its parent is stepped through, and how to continue. */
export function PausedChild({ nodeId }: { nodeId: string }) {
  const paused = usePausedChild(useChildStage()?.runId ?? "", nodeId);
  const { isPending, stepOver } = useStepOver();
  if (!paused) return null;
  const item = paused.parent?.item ?? null;
  return (
    <>
      <span role="status" className="card-door" data-tone="waiting">
        <CirclePause aria-hidden />
        {item === null ? "Run paused" : `Item ${item + 1} paused`}
      </span>
      <PageLink href={runHref(paused.id)} className="card-door">
        Step into
      </PageLink>
      <button type="button" className="card-door" disabled={isPending} onClick={() => stepOver(paused.id)}>
        Step over
      </button>
    </>
  );
}

/** Shows the card that was opened last, whenever its size changes. */
export function ChildCamera({ onShow }: { onShow: () => void }) {
  const open = useChildStage()?.open;
  const view = useCanvasView();
  // After the first view of the canvas, which would replace this one.
  const hasNodes = useNodesInitialized();
  const hasRoom = useStore(({ width, panZoom }) => width > 0 && panZoom !== null);
  const last = useRef<{ id: string; size: unknown } | null>(null);
  useEffect(() => {
    const [id, { size } = { size: null }] = [...(open ?? [])].at(-1) ?? [];
    if (!hasNodes || !hasRoom || id === undefined || (last.current?.id === id && last.current.size === size))
      return;
    last.current = { id, size };
    onShow();
    // The canvas has made room by the next frame.
    const frame = requestAnimationFrame(() => view.show(id, `[data-child="${CSS.escape(id)}"]`));
    return () => cancelAnimationFrame(frame);
  }, [hasNodes, hasRoom, open, view, onShow]);
  return null;
}

/** Focuses a run that opens in a card, once it is rendered. */
function focusChild(runId: string, tries = 20): void {
  const section = document.querySelector<HTMLElement>(`[data-child-run="${CSS.escape(runId)}"]`);
  if (section) section.focus({ preventScroll: true });
  else if (tries > 0) requestAnimationFrame(() => focusChild(runId, tries - 1));
}
