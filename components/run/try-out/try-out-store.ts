import { createStore, type StoreApi } from "zustand/vanilla";
import { defined } from "@/server/domain/base/defined";
import { isObject } from "@/server/domain/base/guards";
import { canonicalJson } from "@/server/domain/base/json";
import type { JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import type { Pins } from "@/server/domain/run/commands/pins";

/** The output of a node that was run alone, and what it was made from. */
export interface Tried {
  /** Unix milliseconds. */
  at: number;
  input: JsonObject;
  output: JsonObject;
  /** Of a router: the routes that it took. */
  labels?: readonly string[];
  /** The node as it was, as `makeOf` tells it. */
  made_of: string;
}

/** The run of a single node, running or ended. */
export interface NodeTry extends Omit<Tried, "output"> {
  run_id: string;
  status: "running" | "waiting" | "completed" | "failed";
  output: JsonObject | null;
  error?: string;
}

/** What a node returned in the last run of the workflow that finished it. */
export interface LastRun extends NodeTry {
  /** Why it might return something else now, according to the server. */
  stale: string | null;
}

export interface TryOuts {
  /** Outputs that runs from the editor take instead of carrying the node out. */
  pins: Readonly<Record<string, Tried>>;
  /** The last run of each node by itself. */
  tries: Readonly<Record<string, NodeTry>>;
  /** From the runs of the workflow; read from the server, not stored in the browser. */
  last: Readonly<Record<string, LastRun>>;
}

/** The outputs of single nodes: stored in this browser, never in the workflow. */
export interface TryOutStore extends StoreApi<TryOuts> {
  pin(nodeId: string, pinned: Tried): void;
  unpin(nodeId: string): void;
  put(nodeId: string, one: NodeTry): void;
  forget(nodeId: string): void;
  setLast(last: TryOuts["last"]): void;
}

const keyOf = (workflowId: string) => `troupe.tried.${workflowId}`;
const opened = new Map<string, TryOutStore>();

/** One store per tab. */
export function tryOutsOf(workflowId: string): TryOutStore {
  const known = opened.get(workflowId);
  if (known) return known;
  const store = newTryOutStore(workflowId);
  opened.set(workflowId, store);
  return store;
}

export function newTryOutStore(workflowId: string): TryOutStore {
  const store = createStore<TryOuts>()(() => read(workflowId));
  const change = (patch: (now: TryOuts) => Partial<TryOuts>) => {
    store.setState(patch(store.getState()));
    write(workflowId, store.getState());
  };
  return Object.assign(store, {
    pin: (id: string, pinned: Tried) => change(({ pins }) => ({ pins: { ...pins, [id]: pinned } })),
    unpin: (id: string) => change(({ pins }) => ({ pins: without(pins, id) })),
    put: (id: string, one: NodeTry) => change(({ tries }) => ({ tries: { ...tries, [id]: one } })),
    forget: (id: string) => change(({ tries }) => ({ tries: without(tries, id) })),
    setLast: (last: TryOuts["last"]) => store.setState({ last }),
  });
}

/** The newest result of a node: its pinned output, else that of its last run alone or with the workflow. */
export function shownResult({ pins, tries, last }: TryOuts, nodeId: string) {
  const [pin, tried, run] = [pins[nodeId], tries[nodeId], last[nodeId]];
  if (pin) return { from: "pin" as const, result: pin };
  const isNewer = tried && (tried.output === null || !run || tried.at >= run.at);
  if (isNewer) return { from: "try" as const, result: tried };
  return run && { from: "run" as const, result: run };
}

/** The pins that a run of this graph can use. */
export function pinsFor(pins: TryOuts["pins"], { nodes }: WorkflowGraph): Pins {
  return Object.fromEntries(
    Object.entries(pins)
      .filter(([id]) => nodes[id])
      .map(([id, { output, labels }]) => [
        id,
        { output, ...defined({ labels: labels ? [...labels] : undefined }) },
      ]),
  );
}

/** What a node does, as text; without its name and position. */
export function makeOf({ name: _name, ui: _ui, description: _about, ...node }: WorkflowNode): string {
  return canonicalJson(node);
}

function without<T>(record: Readonly<Record<string, T>>, key: string): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([id]) => id !== key));
}

function read(workflowId: string): TryOuts {
  const nothing = { pins: {}, tries: {}, last: {} };
  if (typeof localStorage === "undefined") return nothing;
  try {
    const saved: unknown = JSON.parse(localStorage.getItem(keyOf(workflowId)) ?? "null");
    if (!isObject(saved)) return nothing;
    return { pins: kept(saved.pins, isTried), tries: kept(saved.tries, isTry), last: {} };
  } catch {
    return nothing;
  }
}

function write(workflowId: string, all: TryOuts): void {
  try {
    localStorage.setItem(keyOf(workflowId), JSON.stringify({ pins: all.pins, tries: all.tries }));
  } catch {
    // A full or forbidden storage only costs that they are kept.
  }
}

function kept<T>(value: unknown, isOne: (value: unknown) => value is T): Record<string, T> {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([id, one]): [string, T][] => (isOne(one) ? [[id, one]] : [])),
  );
}

const isTried = (value: unknown): value is Tried =>
  isObject(value) && typeof value.at === "number" && isObject(value.input) && isObject(value.output);

const isTry = (value: unknown): value is NodeTry =>
  isObject(value) && typeof value.run_id === "string" && isObject(value.input);
