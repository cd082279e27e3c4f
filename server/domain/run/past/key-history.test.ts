import { describe, expect, test } from "vitest";
import { NO_USAGE } from "@/server/domain/agent/outcome";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import type { NewEvent } from "../events";
import { agentStarted, created, logOf, of, over, ready, started } from "../testing";
import { keyHistory, whoWrote, writtenKeys } from "./key-history";
import { isOccurrence, isStop, nextOccurrence, nextStop } from "./steps";
import { MOST_SPANS, whenTrue } from "./when-true";

const line = draw("start > a > end");
const began = (state: JsonObject): NewEvent => ({
  type: "state_initialized",
  payload: { state, defaults_applied: [] },
});
const patch = (set: JsonObject, writer = "a#1") => of(writer, "state_patched", { set, writer });
const edited = (set: JsonObject, remove: string[] = []): NewEvent => ({
  type: "state_edited",
  payload: { set, remove, words: [], by: "eve" },
});
const answered = (agent_id: string, output?: JsonObject) =>
  of(
    "a",
    "agent_finished",
    { status: "completed", usage: NO_USAGE, cost_usd: 0, ...(output ? { output } : {}) },
    { agent_id },
  );
const log = (...events: NewEvent[]) => logOf([created(line), ready("a"), ...events]);

describe("writes of a key", () => {
  test("a write is attributed to the only active agent unless an agent returned that exact value", () => {
    const by = (...events: NewEvent[]) =>
      keyHistory(log(...events, patch({ x: 1 })), "x").map(({ agent_id }) => agent_id);
    expect(by(answered("ann"))).toEqual(["ann"]);
    expect(by(answered("ann"), answered("ann", { y: 1 }))).toEqual(["ann"]);
    expect(by(answered("ann"), answered("bob"))).toEqual([undefined]);
    expect(by(answered("ann", { x: 1 }), answered("bob", { x: 2 }))).toEqual(["ann"]);
    expect(by(answered("ann", { x: 1 }), answered("bob", { x: 1 }))).toEqual(["bob"]);
    expect(by()).toEqual([undefined]);
  });

  test("a write is attributed to the person who edited the key, and a removed key has no writer", () => {
    const events = log(
      began({ x: 0 }),
      patch({ x: 1 }),
      edited({ x: 2 }),
      edited({}, ["x"]),
      edited({}, ["x"]),
    );
    expect(keyHistory(events, "x")).toEqual([
      { seq: 3, ts: 20, writer: "input", after: 0 },
      { seq: 4, ts: 30, writer: "a#1", node_id: "a", before: 0, after: 1 },
      { seq: 5, ts: 40, writer: "person", by: "eve", before: 1, after: 2 },
      { seq: 6, ts: 50, writer: "input", by: "eve", before: 2 },
    ]);
    expect([whoWrote(events, "x", 6), whoWrote(events, "x", 5)?.by]).toEqual([null, "eve"]);
  });

  test("a write is listed even if the value stays the same", () => {
    expect(
      keyHistory(log(patch({ x: 1 }), patch({ x: 1 }), patch({ y: 1 })), "x").map(({ seq }) => seq),
    ).toEqual([3, 4]);
  });

  test("written keys come from every event that names a key", () => {
    const forked = { from_run: "r", from_seq: 1, graph: "original" as const, by: "ann" };
    const all: NewEvent[] = [
      began({ a: 1 }),
      of("a", "state_patched", { set: { b: 1 }, changed: { c: {} }, writer: "a#1" }),
      edited({ d: 1 }, ["e"]),
      { type: "run_forked", payload: { ...forked, patches: { state: { set: { f: 1 }, remove: ["g"] } } } },
      { type: "run_forked", payload: { ...forked, patches: {} } },
      of("a", "node_completed", { output: { h: 1 }, written_keys: ["h"] }),
    ];
    expect(logOf(all).map(writtenKeys)).toEqual([["a"], ["b", "c"], ["d", "e"], ["f", "g"], [], []]);
  });
});

describe("stepping through a run", () => {
  const events = log(
    started("a"),
    agentStarted("ann", "Writer"),
    of("a", "iteration_started", { global_iteration: 0, local_iteration: 0 }, { agent_id: "ann" }),
    patch({ x: 1 }),
    { type: "node_skipped", node_id: "end", payload: { reason: "unreachable" } },
    over(),
    { type: "run_resumed", payload: { by: "eve" } },
  );
  test("stepping stops at each event, turn or node, and always at the end of the run", () => {
    const stops = (["event", "turn", "node"] as const).map((unit) =>
      events.filter((event) => isStop(event, unit)).map(({ seq }) => seq),
    );
    expect(stops).toEqual([events.map(({ seq }) => seq), [5, 8], [3, 7, 8]]);
  });

  test("stepping goes to the first or last event if no stop is left, and no further", () => {
    expect(nextStop(events, 1, "node", 1)).toBe(3);
    expect(nextStop(events, 8, "node", 1)).toBe(9);
    expect(nextStop(events, 9, "node", 1)).toBeNull();
    expect(nextStop(events, 9, "node", -1)).toBe(8);
    expect(nextStop(events, 3, "node", -1)).toBe(1);
    expect(nextStop(events, 1, "node", -1)).toBeNull();
    expect(nextStop(events, 2, "event", -1)).toBe(1);
    expect(nextStop([], 0, "event", 1)).toBeNull();
  });

  test("a search finds where a key is written, a node runs or an agent acts", () => {
    const found = (kind: "key" | "node" | "agent", name: string) =>
      events.filter((event) => isOccurrence(event, { kind, name })).map(({ seq }) => seq);
    expect(found("key", "x")).toEqual([6]);
    expect(found("key", "y")).toEqual([]);
    expect(found("node", "a")).toEqual([3]);
    expect(found("node", "end")).toEqual([7]);
    expect(found("agent", "ann")).toEqual([4]);
    expect(found("agent", "bob")).toEqual([]);
    const key = { kind: "key", name: "x" } as const;
    expect(nextOccurrence(events, 1, key, 1)).toBe(6);
    expect(nextOccurrence(events, 6, key, 1)).toBeNull();
    expect(nextOccurrence(events, 6, key, -1)).toBeNull();
    expect(nextOccurrence(events, 9, key, -1)).toBe(6);
  });
});

describe("the history of a condition", () => {
  test("a condition's spans are listed with their nodes, latest first", () => {
    const events = log(began({ n: 0 }), patch({ n: 1 }), patch({ n: 0 }), edited({ n: 2 }));
    expect(whenTrue(events, "state.n > 0")).toEqual({
      held: [
        { from: 6, to: null },
        { from: 4, to: 5, node_id: "a", activation_id: "a#1" },
      ],
      isNow: true,
      searched_to: 1,
    });
    expect(whenTrue(events, "state.n == 1")).toMatchObject({ held: [{ from: 4, to: 5 }], isNow: false });
  });

  test("a condition can read node outputs, and its span can start at the beginning", () => {
    const done = of("a", "node_completed", { output: { ok: true }, written_keys: [] });
    expect(whenTrue(log(done), "has(nodes.a) && nodes.a.output.ok").held).toEqual([
      { from: 3, to: null, node_id: "a", activation_id: "a#1" },
    ]);
    expect(whenTrue(log(patch({ n: 1 })), "!has(state.n)")).toEqual({
      held: [{ from: 1, to: 3 }],
      isNow: false,
      searched_to: 1,
    });
    expect(whenTrue([], "true")).toEqual({ held: [{ from: 1, to: null }], isNow: true, searched_to: 1 });
  });

  test("the number of listed spans is limited", () => {
    const flips = Array.from({ length: 2 * MOST_SPANS + 4 }, (_, at) => patch({ n: at % 2 }));
    const found = whenTrue(log(...flips), "has(state.n) && state.n == 1");
    expect([found.held.length, found.searched_to > 1]).toEqual([MOST_SPANS, true]);
  });
});
