import type { Connection, FinalConnectionState } from "@xyflow/react";
import { useRef } from "react";
import type { CanvasEditing, DropPoint } from "./canvas-context";
import type { FlowEdge } from "./flow-mapping";
import { nodeIdAt, pointOf } from "./hits";
import type { CanvasView } from "./use-canvas-view";

/** Drags a connection to a card, or to an empty place, where it asks which node to add. */
export function useConnecting(
  editing: CanvasEditing | undefined,
  view: CanvasView,
  at: (event: { clientX: number; clientY: number }) => DropPoint,
) {
  const isCancelled = useRef(false);
  return {
    onConnect: (drawn: Connection) => {
      if (!isCancelled.current) editing?.onConnect(drawn);
    },
    onReconnect: (edge: FlowEdge, drawn: Connection) => editing?.onReconnect(edge.id, drawn),
    isValidConnection: ({ source, target, sourceHandle = null }: FlowEdge | Connection) =>
      editing?.canConnect({ source, target, sourceHandle }) ?? false,
    onConnectStart() {
      isCancelled.current = false;
      const onEscape = (event: globalThis.KeyboardEvent) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        isCancelled.current = true;
        view.cancelConnection();
      };
      const capture = { capture: true };
      const stop = () => window.removeEventListener("keydown", onEscape, capture);
      window.addEventListener("keydown", onEscape, capture);
      window.addEventListener("pointerup", stop, { once: true, ...capture });
    },
    onConnectEnd(event: MouseEvent | TouchEvent, state: FinalConnectionState) {
      if (!editing || isCancelled.current || state.isValid || !state.fromNode || !state.fromHandle) return;
      const pointer = pointOf(event);
      if (!pointer) return;
      const { id: from } = state.fromNode;
      const isForward = state.fromHandle.type === "source";
      const port = state.fromHandle.id ?? "out";
      const onto = nodeIdAt(pointer);
      if (onto) {
        const drawn = isForward
          ? { source: from, target: onto, sourceHandle: state.fromHandle.id ?? null }
          : { source: onto, target: from, sourceHandle: null };
        if (onto !== from && editing.canConnect(drawn)) editing.onConnect(drawn);
        return;
      }
      const place = at({ clientX: pointer.x, clientY: pointer.y });
      if (isForward) editing.onAddFrom(from, port, place);
      else editing.onAddBefore(from, place);
    },
  };
}
