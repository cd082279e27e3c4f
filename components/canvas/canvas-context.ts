import { createContext, useContext } from "react";
import type { AgentConfig, RoleDefinition } from "@/server/domain/agent/role";

/** Where something was dropped or clicked, in both measures. */
export interface DropPoint {
  client: { x: number; y: number };
  flow: { x: number; y: number };
}

/** The edits that the canvas offers. Absent on read-only canvases. */
export interface CanvasEditing {
  /** Nodes came to rest at new places; one gesture, one call. */
  onMove(places: Record<string, { x: number; y: number }>): void;
  onConnect(drawn: { source: string; target: string; sourceHandle?: string | null }): void;
  onReconnect(edgeId: string, drawn: { source: string; target: string; sourceHandle?: string | null }): void;
  canConnect(drawn: { source: string; target: string; sourceHandle?: string | null }): boolean;
  /** A connection was dropped on empty canvas, or the + of an output was pressed. */
  onAddFrom(nodeId: string, portId: string, at: DropPoint | null): void;
  onInsertOn(edgeId: string, at: DropPoint): void;
  /** A node was dropped on an edge. */
  onSplice(nodeId: string, edgeId: string, place: { x: number; y: number }): void;
  onRemoveEdge(edgeId: string): void;
  /** A connection was dragged backwards from an entry and dropped on empty canvas. */
  onAddBefore(nodeId: string, at: DropPoint): void;
  /** Something from the palette was dropped: on an edge, or where nothing is. */
  onDropKind(payload: string, at: DropPoint, edgeId: string | null): void;
  /** The empty canvas was double-clicked. */
  onAddAt(at: DropPoint): void;
  /** A node or an edge was double-clicked: a node opens, an edge wants a name. */
  onOpen(id: string, kind: "node" | "edge"): void;
  /** A note was edited in place. */
  onWriteNote(id: string, text: string): void;
  /** A note was resized, in canvas coordinates. */
  onResizeNote(id: string, size: { width: number; height: number }): void;
  onMenu(target: { kind: "node" | "edge" | "pane"; id?: string }, at: DropPoint): void;
}

export interface CanvasValue {
  editing: CanvasEditing | null;
  roles: ReadonlyMap<string, RoleDefinition>;
  agents: NamedAgents;
}

/** Agents of the library by id, as far as they are known. */
export type NamedAgents = ReadonlyMap<string, { name: string; agent: AgentConfig }>;

export const CanvasContext = createContext<CanvasValue>({
  editing: null,
  roles: new Map(),
  agents: new Map(),
});

/** Whether cards are too small for text: then they are plain plates. */
export const TinyContext = createContext(false);

export function useCanvas(): CanvasValue {
  return useContext(CanvasContext);
}

/** What the palette puts into a drag, so that nothing else dropped here is taken for a node. */
export const PALETTE_DRAG = "application/x-troupe-node";
