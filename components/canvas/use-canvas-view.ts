import {
  type InternalNode,
  type ReactFlowInstance,
  useReactFlow,
  useStore,
  useStoreApi,
} from "@xyflow/react";
import { shallow } from "zustand/shallow";
import { defined } from "@/server/domain/base/defined";
import { CARD_WIDTH, type CardSize, PLAIN_HEIGHT } from "./cards/card-size";
import type { FlowEdge, FlowNode } from "./flow-mapping";
import { elementOf } from "./hits";
import { COLUMN, type XY } from "./layout/places";
import { SLIP } from "./layout/routes";
import {
  type Area,
  areaWith,
  besideView,
  cardView,
  MINIMAP_FROM,
  NARROW,
  READABLE,
  type Room,
  readableView,
  type View,
  viewAt,
  wholeView,
} from "./layout/view-fit";

const duration = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 240);

/** Space kept free around a fitted graph, and above it for the controls. */
const MARGIN = 20;
const TOP = 28;
/** Space kept free at the bottom for the zoom controls. */
const CONTROLS = 60;
/** Space kept free at the bottom for the minimap. */
const OVERVIEW = 136;

export interface CanvasView {
  /** Fits these nodes, or all. `isAtOnce`: without animation. */
  fit(nodeIds?: readonly string[], isAtOnce?: boolean): void;
  /** Zooms to a readable size: the whole graph, or as much as fits, including this node. */
  open(nodeId: string | undefined, isAtOnce?: boolean): void;
  zoomIn(): void;
  zoomOut(): void;
  zoomTo(zoom: number): void;
  /** Scrolls to a node if it is out of view, and focuses it. */
  focusNode(nodeId: string): void;
  /** Focuses the canvas itself. `isQuiet`: without a focus ring. */
  focusDrawing(isQuiet?: boolean): void;
  /** Scrolls to nodes that are out of view. */
  reveal(nodeIds: readonly string[]): void;
  getView(): View;
  setView(view: View): void;
  /** Width of the viewport, in pixels. */
  width(): number;
  /**
   * The view that shows `around`, or if that is too large only `cards`, next to the panel that covers the right side;
   * null if nothing has to move.
   */
  beside(around: readonly string[], cards: readonly string[]): View | null;
  /** Centers a node as far as possible without leaving space empty. An axis that already shows it doesn't move. */
  center(nodeId: string): void;
  /** Shows all of a card that has grown, at a readable size; if it is too large, the part that the selector finds. */
  show(nodeId: string, part: string): void;
  /** The center of the viewport, in canvas coordinates. */
  middle(): XY;
  toFlow(client: XY): XY;
  toClient(flow: XY): XY;
  cancelConnection(): void;
}

type CanvasFlow = ReactFlowInstance<FlowNode, FlowEdge>;
type CanvasStore = ReturnType<typeof useStoreApi<FlowNode, FlowEdge>>;

/** Moves the view of the canvas. Use it inside `GraphCanvas` or its `CanvasProvider`. */
export function useCanvasView(): CanvasView {
  return newCanvasView(useReactFlow<FlowNode, FlowEdge>(), useStoreApi<FlowNode, FlowEdge>());
}

/** The largest card that can be seen whole at a readable size; null until the canvas has a size. */
export function useLargestCard(): CardSize | null {
  const { roomOf } = newMeasures(useReactFlow<FlowNode, FlowEdge>(), useStoreApi<FlowNode, FlowEdge>());
  return useStore(({ width: known }) => {
    const { width, height } = roomOf();
    return known === 0
      ? null
      : { width: Math.floor(width / READABLE), height: Math.floor(height / READABLE) };
  }, shallow);
}

const areaOf = ({ internals, measured }: InternalNode<FlowNode>): Area => ({
  ...internals.positionAbsolute,
  width: measured.width ?? CARD_WIDTH,
  height: measured.height ?? PLAIN_HEIGHT,
});

/** Measures what is on the canvas and how much room there is to show it. */
function newMeasures(flow: CanvasFlow, store: CanvasStore) {
  // Panels may cover the right side and the bottom of the canvas.
  const insetRight = () => Number(store.getState().domNode?.dataset.insetRight ?? 0);
  const insetBottom = () =>
    Number(store.getState().domNode?.dataset.insetBottom ?? 0) * store.getState().height;

  /** The part of the viewport that no panel covers. `below`: space to keep free at the bottom. */
  const roomOf = (below = CONTROLS): Room => {
    const { width, height } = store.getState();
    return {
      left: MARGIN,
      top: MARGIN + TOP,
      width: width - insetRight() - 2 * MARGIN,
      height: height - MARGIN - TOP - Math.max(below, insetBottom() + MARGIN),
    };
  };
  return {
    roomOf,
    roomForAll: () =>
      roomOf(flow.getNodes().length > MINIMAP_FROM && store.getState().width > NARROW ? OVERVIEW : CONTROLS),
    isInView(nodeId: string): boolean {
      const node = flow.getInternalNode(nodeId);
      if (!node) return true;
      const { transform, width, height } = store.getState();
      const [tx, ty, zoom] = transform;
      const card = areaOf(node);
      const left = card.x * zoom + tx;
      const top = card.y * zoom + ty;
      const right = left + card.width * zoom;
      const bottom = top + card.height * zoom;
      return (
        left >= 8 && top >= 8 && right <= width - insetRight() - 8 && bottom <= height - insetBottom() - 8
      );
    },
    areaOnScreen(rect: DOMRect): Area {
      const [, , zoom] = store.getState().transform;
      const corner = flow.screenToFlowPosition(rect, { snapToGrid: false });
      return { ...corner, width: rect.width / zoom, height: rect.height / zoom };
    },
    /** The bounding box of cards with their captions and the edges between them; of all cards if none are given. */
    boundsOf(nodeIds?: ReadonlySet<string>): Area {
      const isMeant = (id: string) => !nodeIds || nodeIds.has(id);
      const nodes = flow.getNodes();
      const cards = flow.getNodesBounds(nodes.filter(({ id }) => isMeant(id)));
      const lines = flow
        .getEdges()
        .flatMap(({ source, target, data }) =>
          isMeant(source) && isMeant(target) ? (data?.route ?? []) : [],
        );
      const { height, ...area } = cards;
      return areaWith(
        {
          ...area,
          height: height + SLIP,
          // A single card with room for its successor.
          ...defined({ width: nodes.length === 1 ? cards.width + COLUMN : undefined }),
        },
        lines,
      );
    },
  };
}

function newCanvasView(flow: CanvasFlow, store: CanvasStore): CanvasView {
  const { roomOf, roomForAll, isInView, areaOnScreen, boundsOf } = newMeasures(flow, store);

  const setView = (view: View, isAtOnce = false) =>
    void flow.setViewport(view, { duration: isAtOnce ? 0 : duration() });

  const center = (nodeId: string) => {
    if (!flow.getInternalNode(nodeId)) return;
    const now = flow.getViewport();
    const places = { drawing: boundsOf(), room: roomOf(), card: flow.getNodesBounds([nodeId]) };
    setView(viewAt(Math.max(now.zoom, 0.6), places, now));
  };
  const fit = (nodeIds: readonly string[] = [], isAtOnce = false) =>
    setView(wholeView(boundsOf(nodeIds.length > 0 ? new Set(nodeIds) : undefined), roomForAll()), isAtOnce);

  return {
    fit,
    getView: flow.getViewport,
    setView,
    width: () => store.getState().width,
    open(nodeId, isAtOnce) {
      const node = flow.getInternalNode(nodeId ?? "") ?? flow.getNodes()[0];
      if (!node || store.getState().width === 0) return;
      setView(readableView(boundsOf(), roomForAll(), flow.getNodesBounds([node.id])), isAtOnce);
    },
    zoomIn: () => void flow.zoomIn({ duration: duration() }),
    zoomOut: () => void flow.zoomOut({ duration: duration() }),
    zoomTo: (zoom) => void flow.zoomTo(zoom, { duration: duration() }),
    center,
    beside(around, cards) {
      if (store.getState().width === 0) return null;
      const known = cards.length > 0 ? flow.getNodesBounds([...cards]) : null;
      return besideView(flow.getViewport(), roomOf(), boundsOf(new Set(around)), known);
    },
    reveal(nodeIds) {
      const hidden = nodeIds.filter((id) => !isInView(id));
      if (hidden.length === 1 && hidden[0]) center(hidden[0]);
      else if (hidden.length > 1) fit(nodeIds);
    },
    focusNode(nodeId) {
      whenDrawn(
        () => flow.getInternalNode(nodeId) !== undefined,
        () => {
          if (!isInView(nodeId)) center(nodeId);
          focusCard(store.getState().domNode, nodeId);
        },
      );
    },
    focusDrawing(isQuiet) {
      const { domNode } = store.getState();
      domNode?.closest<HTMLElement>(".graph-canvas")?.focus({
        preventScroll: true,
        ...defined({ focusVisible: isQuiet ? false : undefined }),
      });
    },
    show(nodeId, part) {
      const node = flow.getInternalNode(nodeId);
      const { transform, width, domNode } = store.getState();
      if (!node || width === 0) return;
      const card = areaOf(node);
      const [x, y, zoom] = transform;
      const at = domNode?.querySelector(part)?.getBoundingClientRect();
      const matters = at ? areaOnScreen(at) : { ...card, width: 0, height: 0 };
      setView(cardView({ x, y, zoom }, roomOf(), card, matters));
    },
    middle() {
      const { width, height, domNode } = store.getState();
      const box = domNode?.getBoundingClientRect();
      return flow.screenToFlowPosition({ x: (box?.left ?? 0) + width / 2, y: (box?.top ?? 0) + height / 2 });
    },
    toFlow: (client) => flow.screenToFlowPosition(client),
    toClient: (place) => flow.flowToScreenPosition(place),
    cancelConnection: () => store.getState().cancelConnection(),
  };
}

/** Focuses a card once it is rendered: a new one, or one out of view, takes a few frames. */
function focusCard(root: HTMLElement | null, nodeId: string) {
  const card = () => elementOf(root, `[data-node="${CSS.escape(nodeId)}"]`);
  whenDrawn(
    () => !!card(),
    () => card()?.focus({ preventScroll: true }),
  );
}

/** Calls `act` once `isThere` returns true, checking again in the next frames. */
function whenDrawn(isThere: () => boolean, act: () => void, tries = 20) {
  if (isThere()) act();
  else if (tries > 0) requestAnimationFrame(() => whenDrawn(isThere, act, tries - 1));
}
