import { getViewportForBounds, useReactFlow, useStoreApi } from "@xyflow/react";
import { CARD_WIDTH, PLAIN_HEIGHT } from "./card-size";
import type { FlowEdge, FlowNode } from "./flow-mapping";
import type { XY } from "./places";
import { SLIP } from "./routes";
import { cardView, MAX_FIT, type Room, readableView, viewAt } from "./view-fit";

const duration = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 240);

/** What stays free around a drawing that is fitted, and above it, where controls are. */
const MARGIN = 20;
const TOP = 28;
/** What stays free below a card that has grown, where the controls of the view are. */
const CONTROLS = 60;
/** The part of the room that stays free around a map. */
const MAP_PADDING = 0.08;

export interface CanvasView {
  /** Shows these nodes, or all. `isAtOnce`: without a movement. */
  fit(nodeIds?: readonly string[], isAtOnce?: boolean): void;
  /** Shows it so large that it can be read: all of it, or as much as fits, with this node in it. */
  open(nodeId: string | undefined, isAtOnce?: boolean): void;
  /** Shows all of it at once, however small that makes it. */
  showMap(): void;
  zoomIn(): void;
  zoomOut(): void;
  zoomTo(zoom: number): void;
  /** Brings a node into view if it is not, and gives it the keyboard. */
  focusNode(nodeId: string): void;
  /** Gives the drawing as a whole the keyboard. `isQuiet`: without a ring, as nobody asked for it. */
  focusDrawing(isQuiet?: boolean): void;
  /** Brings nodes into view if they are not. */
  reveal(nodeIds: readonly string[]): void;
  /** Moves the view just as far as the panel over its right side covers these nodes. */
  uncover(nodeIds: readonly string[]): void;
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
  const fitOptions = () => ({
    maxZoom: MAX_FIT,
    duration: duration(),
    padding: { x: "6%", y: "8%", right: `${insetRight() + 48}px` } as const,
  });

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
    return left >= 8 && top >= 8 && right <= width - insetRight() - 8 && bottom <= height - 8;
  };

  /** What may be used of the place where the drawing is seen. `below`: what stays free there. */
  const roomOf = (below = MARGIN): Room => {
    const { width, height } = store.getState();
    return {
      left: MARGIN,
      top: MARGIN + TOP,
      width: width - insetRight() - 2 * MARGIN,
      height: height - MARGIN - TOP - below,
    };
  };

  const drawingBounds = () => {
    const bounds = flow.getNodesBounds(flow.getNodes());
    return { ...bounds, height: bounds.height + SLIP };
  };

  const center = (nodeId: string) => {
    if (!flow.getInternalNode(nodeId)) return;
    const now = flow.getViewport();
    const zoom = Math.max(now.zoom, 0.6);
    const next = viewAt(zoom, drawingBounds(), roomOf(), flow.getNodesBounds([nodeId]), now);
    void flow.setViewport(next, { duration: duration() });
  };

  return {
    fit: (nodeIds, isAtOnce) =>
      void flow.fitView({
        ...fitOptions(),
        ...(isAtOnce ? { duration: 0 } : {}),
        ...(nodeIds && nodeIds.length > 0 ? { nodes: nodeIds.map((id) => ({ id })) } : {}),
      }),
    open(nodeId, isAtOnce) {
      const [first] = flow.getNodes();
      const node = (nodeId === undefined ? undefined : flow.getInternalNode(nodeId)) ?? first;
      if (!node || store.getState().width === 0) return;
      const next = readableView(drawingBounds(), roomOf(), flow.getNodesBounds([node.id]));
      void flow.setViewport(next, { duration: isAtOnce ? 0 : duration() });
    },
    showMap() {
      const { width, height, minZoom } = store.getState();
      const drawing = flow.getNodesBounds(flow.getNodes());
      void flow.setViewport(getViewportForBounds(drawing, width, height, minZoom, 1, MAP_PADDING));
    },
    zoomIn: () => void flow.zoomIn({ duration: duration() }),
    zoomOut: () => void flow.zoomOut({ duration: duration() }),
    zoomTo: (zoom) => void flow.zoomTo(zoom, { duration: duration() }),
    center,
    uncover(nodeIds) {
      const inset = insetRight();
      if (inset === 0) return;
      const { transform, width } = store.getState();
      const [x, y, zoom] = transform;
      const rights = nodeIds.flatMap((id) => {
        const node = flow.getInternalNode(id);
        return node ? [node.internals.positionAbsolute.x + (node.measured.width ?? CARD_WIDTH)] : [];
      });
      const hidden = Math.max(...rights) * zoom + x - (width - inset - 40);
      if (hidden > 0) void flow.setViewport({ x: x - hidden, y, zoom }, { duration: duration() });
    },
    reveal(nodeIds) {
      const hidden = nodeIds.filter((id) => !isInView(id));
      if (hidden.length === 1 && hidden[0]) center(hidden[0]);
      else if (hidden.length > 1)
        void flow.fitView({ ...fitOptions(), nodes: nodeIds.map((id) => ({ id })) });
    },
    focusNode(nodeId) {
      if (!isInView(nodeId)) center(nodeId);
      focusCard(store.getState().domNode, nodeId, 20);
    },
    focusDrawing(isQuiet) {
      const { domNode } = store.getState();
      domNode?.closest<HTMLElement>(".graph-canvas")?.focus({
        preventScroll: true,
        ...(isQuiet ? { focusVisible: false } : {}),
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
      void flow.setViewport(cardView({ x, y, zoom }, roomOf(CONTROLS), card, matters), {
        duration: duration(),
      });
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
function focusCard(root: HTMLElement | null, nodeId: string, tries: number) {
  const card = root?.querySelector<HTMLElement>(`[data-node="${CSS.escape(nodeId)}"]`);
  if (card) card.focus({ preventScroll: true });
  else if (tries > 0) requestAnimationFrame(() => focusCard(root, nodeId, tries - 1));
}
