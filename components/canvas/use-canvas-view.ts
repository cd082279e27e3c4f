import { useReactFlow, useStoreApi } from "@xyflow/react";
import { defined } from "@/server/domain/base/defined";
import { CARD_WIDTH, PLAIN_HEIGHT } from "./cards/card-size";
import type { FlowEdge, FlowNode } from "./flow-mapping";
import { COLUMN, type XY } from "./layout/places";
import { SLIP } from "./layout/routes";
import {
  type Area,
  areaWith,
  besideView,
  cardView,
  MINIMAP_FROM,
  NARROW,
  type Room,
  readableView,
  type View,
  viewAt,
  wholeView,
} from "./layout/view-fit";

const duration = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 240);

/** What stays free around a drawing that is fitted, and above it, where controls are. */
const MARGIN = 20;
const TOP = 28;
/** Space kept free at the bottom for the zoom controls. */
const CONTROLS = 60;
/** Space kept free at the bottom for the minimap. */
const OVERVIEW = 136;

export interface CanvasView {
  /** Shows these nodes, or all. `isAtOnce`: without a movement. */
  fit(nodeIds?: readonly string[], isAtOnce?: boolean): void;
  /** Shows it so large that it can be read: all of it, or as much as fits, with this node in it. */
  open(nodeId: string | undefined, isAtOnce?: boolean): void;
  zoomIn(): void;
  zoomOut(): void;
  zoomTo(zoom: number): void;
  /** Brings a node into view if it is not, and gives it the keyboard. */
  focusNode(nodeId: string): void;
  /** Gives the drawing as a whole the keyboard. `isQuiet`: without a ring, as nobody asked for it. */
  focusDrawing(isQuiet?: boolean): void;
  /** Brings nodes into view if they are not. */
  reveal(nodeIds: readonly string[]): void;
  /** Get and set the current view. */
  getView(): View;
  setView(view: View): void;
  /** Width of the viewport. */
  width(): number;
  /**
   * The view that shows `around`, or if that is too large only `cards`, next to the panel that covers the right side;
   * null if nothing has to move.
   */
  beside(around: readonly string[], cards: readonly string[]): View | null;
  /**
   * Moves the view so that this node is in the middle, or as near to it as leaves no room empty; in a direction in which
   * it is seen already, nothing moves.
   */
  center(nodeId: string): void;
  /**
   * Moves the view just so far that all of a card that has grown is seen, at a size that can be read; where that is more
   * than there is room for, the part that this selector finds.
   */
  show(nodeId: string, part: string): void;
  /** The middle of what is in view, in the drawing's measure. */
  middle(): XY;
  toFlow(client: XY): XY;
  toClient(flow: XY): XY;
  cancelConnection(): void;
}

/** Moving about on the drawing. Use it inside `GraphCanvas` or a `CanvasProvider` around it. */
export function useCanvasView(): CanvasView {
  const flow = useReactFlow<FlowNode, FlowEdge>();
  const store = useStoreApi<FlowNode, FlowEdge>();

  // A panel may lie over the right side of the drawing.
  const insetRight = () => Number(store.getState().domNode?.dataset.insetRight ?? 0);
  const insetBottom = () =>
    Number(store.getState().domNode?.dataset.insetBottom ?? 0) * store.getState().height;
  const isInView = (nodeId: string) => {
    const node = flow.getInternalNode(nodeId);
    if (!node) return true;
    const { transform, width, height } = store.getState();
    const [tx, ty, zoom] = transform;
    const { x, y } = node.internals.positionAbsolute;
    const left = x * zoom + tx;
    const top = y * zoom + ty;
    const right = left + (node.measured.width ?? CARD_WIDTH) * zoom;
    const bottom = top + (node.measured.height ?? PLAIN_HEIGHT) * zoom;
    return left >= 8 && top >= 8 && right <= width - insetRight() - 8 && bottom <= height - insetBottom() - 8;
  };

  /** What may be used of the place where the drawing is seen. `below`: what stays free there. */
  const roomOf = (below = CONTROLS): Room => {
    const { width, height } = store.getState();
    return {
      left: MARGIN,
      top: MARGIN + TOP,
      width: width - insetRight() - 2 * MARGIN,
      height: height - MARGIN - TOP - Math.max(below, insetBottom() + MARGIN),
    };
  };
  const roomForAll = () =>
    roomOf(flow.getNodes().length > MINIMAP_FROM && store.getState().width > NARROW ? OVERVIEW : CONTROLS);

  /** The bounding box of cards with their slips and the lines between them; of all cards if none are given. */
  const boundsOf = (nodeIds?: ReadonlySet<string>): Area => {
    const isMeant = (id: string) => !nodeIds || nodeIds.has(id);
    const nodes = flow.getNodes();
    const cards = flow.getNodesBounds(nodes.filter(({ id }) => isMeant(id)));
    const lines = flow
      .getEdges()
      .flatMap(({ source, target, data }) => (isMeant(source) && isMeant(target) ? (data?.route ?? []) : []));
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
  };

  const setView = (view: View, isAtOnce = false) =>
    void flow.setViewport(view, { duration: isAtOnce ? 0 : duration() });

  const center = (nodeId: string) => {
    if (!flow.getInternalNode(nodeId)) return;
    const now = flow.getViewport();
    const zoom = Math.max(now.zoom, 0.6);
    setView(viewAt(zoom, { drawing: boundsOf(), room: roomOf(), card: flow.getNodesBounds([nodeId]) }, now));
  };
  const fit = (nodeIds: readonly string[] = [], isAtOnce = false) =>
    setView(wholeView(boundsOf(nodeIds.length > 0 ? new Set(nodeIds) : undefined), roomForAll()), isAtOnce);

  return {
    fit,
    getView: flow.getViewport,
    setView,
    width: () => store.getState().width,
    open(nodeId, isAtOnce) {
      const [first] = flow.getNodes();
      const node = (nodeId === undefined ? undefined : flow.getInternalNode(nodeId)) ?? first;
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
      const card = {
        ...node.internals.positionAbsolute,
        width: node.measured.width ?? CARD_WIDTH,
        height: node.measured.height ?? PLAIN_HEIGHT,
      };
      const [x, y, zoom] = transform;
      const at = domNode?.querySelector(part)?.getBoundingClientRect();
      const matters = at
        ? {
            ...flow.screenToFlowPosition(at, { snapToGrid: false }),
            width: at.width / zoom,
            height: at.height / zoom,
          }
        : { x: card.x, y: card.y, width: 0, height: 0 };
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

/** A card that is out of view, or new, is drawn a few frames later: wait for it. */
function focusCard(root: HTMLElement | null, nodeId: string) {
  const card = () => root?.querySelector<HTMLElement>(`[data-node="${CSS.escape(nodeId)}"]`);
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
