import { useNodesInitialized, useStore } from "@xyflow/react";
import { useDeferredValue, useLayoutEffect, useRef, useState } from "react";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { CARD_WIDTH, PLAIN_HEIGHT } from "./cards/card-size";
import { cardsInView, MAX_FIT, READABLE } from "./layout/view-fit";
import { readingOrder } from "./navigation";
import { useCanvasView } from "./use-canvas-view";

/** Below this zoom a card shows only its name. */
const FAR = 0.42;
/** Below this not even a name can be read. */
const TINY = 0.22;
/**
 * A graph of more nodes opens as a map of all of them, since its beginning says little about it. When zoomed out with
 * more cards than this in view, names are omitted: rendering them is slow, and no one reads that many.
 */
export const MANY_NODES = 150;

/** Whether a graph is so large that it opens as an overview. */
export const isMap = (graph: WorkflowGraph) => Object.keys(graph.nodes).length > MANY_NODES;

/** Opens so large that it can be read: all of it where it fits, else from its beginning; very large ones as a map. */
export function FirstView({ graph }: { graph: WorkflowGraph }) {
  const hasNodes = useNodesInitialized();
  // Until then there is no place to fit anything into.
  const hasRoom = useStore(({ width, panZoom }) => width > 0 && panZoom !== null);
  const view = useCanvasView();
  // A first node appears where it was added.
  const isDone = useRef(Object.keys(graph.nodes).length === 0);
  useLayoutEffect(() => {
    if (!hasNodes || !hasRoom || isDone.current) return;
    isDone.current = true;
    if (isMap(graph)) view.fit([], true);
    else view.open(readingOrder(graph)[0], true);
  }, [hasNodes, hasRoom, view, graph]);
  return null;
}

/** How much detail cards show. Estimated from the size of the graph until the view is fitted. */
export function useDetail(graph: WorkflowGraph) {
  const drawing = sizeOf(graph);
  const [guess] = useState(() => guessZoom(drawing));
  const zoomOf = ([x, y, zoom]: [number, number, number]) =>
    x === 0 && y === 0 && zoom === 1 ? guess : zoom;
  const isFar = useStore(({ transform }) => zoomOf(transform) < FAR);
  const isTiny = useStore(({ transform, width, height }) => {
    const zoom = zoomOf(transform);
    const room = width > 0 ? { width, height } : guessRoom();
    return zoom < TINY || (zoom < FAR && cardsInView(drawing, room, zoom) > MANY_NODES);
  });
  const isSmall = useStore(({ transform }) => zoomOf(transform) < READABLE - 0.001);
  // All visible cards render again: deferred, so that zooming stays responsive.
  return { isFar, isSmall: isSmall && !isFar, isTiny: useDeferredValue(isTiny) };
}

const guessRoom = () => ({ width: window.innerWidth * 0.8, height: window.innerHeight * 0.8 });

function guessZoom({ count, width, height }: ReturnType<typeof sizeOf>): number {
  if (count <= MANY_NODES) return MAX_FIT;
  const room = guessRoom();
  return Math.min(MAX_FIT, room.width / width, room.height / height);
}

/** The number of cards that have a position, and the size of their bounding box. */
function sizeOf({ nodes }: WorkflowGraph) {
  const places = Object.values(nodes).flatMap(({ ui }) => (ui ? [ui] : []));
  const [left, right] = extent(places.map(({ x }) => x));
  const [top, bottom] = extent(places.map(({ y }) => y));
  return {
    count: places.length,
    width: right - left + CARD_WIDTH,
    height: bottom - top + PLAIN_HEIGHT,
  };
}

function extent(values: readonly number[]): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}
