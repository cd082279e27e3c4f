import { createStore, type StoreApi } from "zustand/vanilla";
import type { Breakpoint } from "@/server/domain/agent/breakpoint/breakpoint";
import { defined } from "@/server/domain/base/defined";
import { isObject } from "@/server/domain/base/guards";
import type { WorkflowGraph } from "@/server/domain/graph/graph";

/** A breakpoint as this browser keeps it, with an id to tell it from the others. */
export interface KeptBreakpoint extends Breakpoint {
  id: string;
}

export interface BreakpointList {
  list: readonly KeptBreakpoint[];
}

/**
 * The breakpoints of one workflow, stored in this browser and never in the workflow; or of one run, stored with the
 * run.
 */
export interface BreakpointStore extends StoreApi<BreakpointList> {
  /** Adds one; answers with its id. */
  add(breakpoint: Breakpoint): string;
  set(id: string, patch: Partial<Breakpoint>): void;
  remove(id: string): void;
  setAll(enabled: boolean): void;
  clear(): void;
  /** Adds those that are not there yet. */
  adopt(list: readonly Breakpoint[]): void;
  /** Removes the breakpoints at a place, or sets a plain one. Returns those that are there afterwards. */
  toggle(place: BreakpointPlace): "set" | "removed";
}

/** Where a click or a key sets a breakpoint. */
export interface BreakpointPlace {
  kind: "node" | "edge";
  id: string;
}

const keyOf = (workflowId: string) => `troupe.breakpoints.${workflowId}`;
const opened = new Map<string, BreakpointStore>();

/** The breakpoints of a workflow: one store per tab. */
export function breakpointsOf(workflowId: string): BreakpointStore {
  const known = opened.get(workflowId);
  if (known) return known;
  const store = newBreakpointStore(workflowId);
  opened.set(workflowId, store);
  return store;
}

/** Null: the breakpoints of a run, which this browser does not store. */
export function newBreakpointStore(workflowId: string | null): BreakpointStore {
  const store = createStore<BreakpointList>()(() => ({ list: workflowId === null ? [] : read(workflowId) }));
  const change = (to: (list: readonly KeptBreakpoint[]) => readonly KeptBreakpoint[]) => {
    const list = to(store.getState().list);
    store.setState({ list });
    if (workflowId !== null) write(workflowId, list);
  };
  const add = (breakpoint: Breakpoint) => {
    const id = freshId(store.getState().list);
    change((list) => [...list, { ...breakpoint, id }]);
    return id;
  };
  return Object.assign(store, {
    add,
    set: (id: string, patch: Partial<Breakpoint>) =>
      change((list) => list.map((one) => (one.id === id ? tidied({ ...one, ...patch }) : one))),
    remove: (id: string) => change((list) => list.filter((one) => one.id !== id)),
    setAll: (enabled: boolean) => change((list) => list.map((one) => tidied({ ...one, enabled }))),
    clear: () => change(() => []),
    adopt(given: readonly Breakpoint[]) {
      const known = new Set(store.getState().list.map(sameAs));
      for (const one of given) if (!known.has(sameAs(one))) add(one);
    },
    toggle(place: BreakpointPlace) {
      const here = store.getState().list.filter((one) => isAt(one, place));
      if (here.length === 0) {
        add(
          place.kind === "node" ? { on: "node_start", node_id: place.id } : { on: "edge", edge_id: place.id },
        );
        return "set" as const;
      }
      change((list) => list.filter((one) => !isAt(one, place)));
      return "removed" as const;
    },
  });
}

/** Whether a list has a breakpoint that pauses at the same moments. */
export const hasSame = (list: readonly Breakpoint[], one: Breakpoint): boolean =>
  list.some((known) => sameAs(known) === sameAs(one));

/** Removes the breakpoints that pause at the same moments. */
export function removeSame(store: BreakpointStore, one: Breakpoint): void {
  for (const known of store.getState().list) if (sameAs(known) === sameAs(one)) store.remove(known.id);
}

/** The same text for equivalent breakpoints; surrounding spaces don't count. */
const sameAs = ({ on, node_id, agent_id, tool, key, edge_id, condition, hit_count }: Breakpoint): string =>
  JSON.stringify([
    on,
    node_id,
    agent_id,
    tool?.trim() || null,
    key,
    edge_id,
    condition?.trim() || null,
    hit_count ?? 1,
  ]);

/** Whether a breakpoint shows at a node or an edge. */
export const isAt = (one: Breakpoint, { kind, id }: BreakpointPlace): boolean =>
  kind === "node" ? one.node_id === id : one.edge_id === id;

/** The breakpoints that a run of this graph gets: enabled, and their places exist. */
export function breakpointsFor(list: readonly KeptBreakpoint[], graph: WorkflowGraph): Breakpoint[] {
  return list
    .filter((one) => one.enabled !== false && isKnown(one, graph))
    .map(({ id: _id, enabled: _enabled, condition, tool, ...place }) => ({
      ...place,
      ...defined({
        tool: tool?.trim() ? tool.trim() : undefined,
        condition: condition?.trim() ? condition.trim() : undefined,
      }),
    }));
}

/** Whether the place of a breakpoint exists in the graph. */
export const isKnown = ({ node_id, edge_id }: Breakpoint, graph: WorkflowGraph): boolean =>
  (node_id === undefined || graph.nodes[node_id] !== undefined) &&
  (edge_id === undefined || graph.edges.some(({ id }) => id === edge_id));

/** Without what goes without saying. */
function tidied({ enabled, condition, hit_count, ...rest }: KeptBreakpoint): KeptBreakpoint {
  return {
    ...rest,
    ...defined({
      enabled: enabled === false ? enabled : undefined,
      condition: condition || undefined,
      hit_count: hit_count !== undefined && hit_count > 1 ? hit_count : undefined,
    }),
  };
}

function freshId(list: readonly KeptBreakpoint[]): string {
  const numbers = list.map(({ id }) => Number(id.slice(1))).filter(Number.isFinite);
  return `b${Math.max(0, ...numbers) + 1}`;
}

function read(workflowId: string): KeptBreakpoint[] {
  if (typeof localStorage === "undefined") return [];
  try {
    const saved: unknown = JSON.parse(localStorage.getItem(keyOf(workflowId)) ?? "[]");
    return Array.isArray(saved) ? saved.filter(isKept) : [];
  } catch {
    return [];
  }
}

function write(workflowId: string, list: readonly KeptBreakpoint[]): void {
  try {
    if (list.length === 0) localStorage.removeItem(keyOf(workflowId));
    else localStorage.setItem(keyOf(workflowId), JSON.stringify(list));
  } catch {
    // A full or forbidden storage only costs that they are kept.
  }
}

const isKept = (value: unknown): value is KeptBreakpoint =>
  isObject(value) && typeof value.id === "string" && typeof value.on === "string";
