import { expect, test } from "vitest";
import type { LiveFrame } from "@/server/domain/base/durable";
import { foldRun } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import { approvalGraph, approvalRun } from "../run-example";
import { newCanvasRun } from "./canvas-run";
import { describeCost } from "./paid";
import { RunViewStore } from "./run-view-store";
import { newHistory } from "./state-history";

/** A store whose frames come when the test says so. */
function newStore() {
  const waiting: (() => void)[] = [];
  const store = new RunViewStore((work) => waiting.push(work));
  const frame = () => {
    for (const work of waiting.splice(0)) work();
  };
  return { store, frame, see: () => store.view.getState() };
}

const delta = (offset: number, text: string, channel: LiveFrame["channel"] = "content"): LiveFrame => ({
  type: "llm_delta",
  call_id: "call_1",
  channel,
  offset,
  text,
});
const upTo = (seq: number) => approvalRun.slice(0, seq);

test("a whole run is folded in one frame", () => {
  const { store, frame, see } = newStore();
  let changes = 0;
  store.view.subscribe(() => changes++);
  store.apply(upTo(10));
  store.apply(approvalRun.slice(10));
  frame();
  expect(changes).toBe(1);
  expect(see().state.run.final_status).toBe("COMPLETED");
  expect(see().state.nodes.get?.status).toBe("completed");
  expect(see().state.nodes.no?.status).toBe("skipped");
  expect(see().state.edges.e2?.status).toBe("taken");
});

test("duplicate events are dropped, and a gap is rejected until it is filled", () => {
  const { store, frame, see } = newStore();
  expect(store.apply(upTo(5))).toBe(true);
  expect(store.apply(approvalRun.slice(2, 8))).toBe(true);
  expect(store.received()).toBe(8);
  expect(store.apply(approvalRun.slice(10, 12))).toBe(false);
  expect(store.received()).toBe(8);
  expect(store.apply(approvalRun.slice(8))).toBe(true);
  frame();
  expect(see().events).toEqual(approvalRun);
});

test("streamed text is assembled by offset and replaced by the final answer", () => {
  const { store, frame, see } = newStore();
  store.apply(upTo(14));
  frame();
  store.applyLive([delta(0, "Hel"), delta(3, "lo"), delta(0, "Hm", "reasoning")]);
  expect(see().live.call_1).toBeUndefined();
  frame();
  expect(see().live.call_1).toEqual({ content: "Hello", reasoning: "Hm", from: 0 });
  store.applyLive([delta(0, "Hello, a"), delta(8, "ll")]);
  frame();
  expect(see().live.call_1?.content).toBe("Hello, all");
  store.apply(approvalRun.slice(14, 15));
  frame();
  expect(see().live.call_1).toBeUndefined();
  store.applyLive([delta(10, " late")]);
  frame();
  expect(see().live.call_1).toBeUndefined();
});

test("a late subscriber sees the text from its offset, and all of it after a resend", () => {
  const { store, frame, see } = newStore();
  store.apply(upTo(14));
  store.applyLive([delta(40, "the end")]);
  frame();
  expect(see().live.call_1).toEqual({ content: "the end", reasoning: "", from: 40 });
  store.applyLive([delta(47, " is near")]);
  frame();
  expect(see().live.call_1?.content).toBe("the end is near");
  store.applyLive([delta(0, "From the start, ")]);
  frame();
  expect(see().live.call_1).toEqual({ content: "From the start, ", reasoning: "", from: 0 });
});

test("streaming changes only the live text", () => {
  const { store, frame, see } = newStore();
  store.apply(upTo(14));
  frame();
  const before = { ...see().state.nodes };
  store.applyLive([delta(0, "word")]);
  frame();
  for (const id of Object.keys(before)) expect(see().state.nodes[id]).toBe(before[id]);
});

test("a cursor shows the past while the run is active, and clearing it returns to live", () => {
  const { store, frame, see } = newStore();
  store.apply(upTo(14));
  store.goTo(9);
  expect(see().state.nodes.get?.status).toBe("running");
  expect(see().state.calls).toEqual({});
  store.apply(approvalRun.slice(14));
  frame();
  expect(see().cursor).toBe(9);
  expect(see().lastSeq).toBe(approvalRun.length);
  expect(see().state.run.status).toBe("running");
  store.goTo(null);
  expect(see().state.run.final_status).toBe("COMPLETED");
});

test("the state at any moment is the fold of prior events, in any visiting order", () => {
  const history = newHistory(4);
  const seqs = [31, 3, 30, 7, 8, 9, 1, 12, 11, 31, 4];
  for (const seq of seqs)
    expect(plain(history.stateAt(approvalRun, seq)), `at ${seq}`).toEqual(plain(foldRun("", upTo(seq))));
});

test("jumping within ten thousand events reads at most five hundred", () => {
  let read = 0;
  const events = new Proxy(longRun(10_000), {
    get(target, key, receiver) {
      if (typeof key === "string" && /^\d+$/.test(key)) read++;
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
  const history = newHistory();
  history.stateAt(events, events.length);
  for (const seq of [9_990, 40, 9_500, 5_000, 4_999, 7_777, 499, 2_501]) {
    read = 0;
    history.stateAt(events, seq);
    expect(read, `to ${seq}`).toBeLessThanOrEqual(500);
  }
});

test("the canvas receives the same object until its node changes", () => {
  const { store, frame } = newStore();
  const canvas = newCanvasRun(store);
  store.apply(upTo(14));
  frame();
  const before = canvas.node("get");
  expect(before).toMatchObject({ status: "running", count: 1, attempt: 1 });
  expect(canvas.node("yes")).toBeUndefined();
  store.applyLive([delta(0, "I think\n so")]);
  frame();
  expect(canvas.node("get")).toBe(before);
  expect(canvas.peek?.("get")).toEqual({ text: "I think so" });
  store.apply(approvalRun.slice(14));
  frame();
  expect(canvas.node("get")).toMatchObject({ status: "completed", durationMs: 1000 });
  expect(canvas.edge("e3")).toEqual({ status: "skipped", count: 0 });
  expect(canvas.peek?.("get")).toBeUndefined();
});

test("a waiting node of a quarantined run is shown as quarantined on the canvas", () => {
  const { store, frame } = newStore();
  store.apply([
    ...upTo(14),
    {
      seq: 15,
      ts: 1_700_000_002_000,
      type: "node_waiting",
      node_id: "get",
      activation_id: "get#1",
      payload: { for: "timer", until: 1_700_000_900_000 },
    },
  ]);
  frame();
  expect(newCanvasRun(store).node("get")?.isHeld).toBeUndefined();
  expect(newCanvasRun(store, true).node("get")).toMatchObject({ status: "waiting", isHeld: true });
});

/** A run of many loops: four events a turn. */
function longRun(length: number): RunEvent[] {
  const events: RunEvent[] = [...upTo(3)];
  for (let turn = 1; events.length < length; turn++) {
    const at = { node_id: "get", activation_id: `get#${turn}`, ts: 1_700_000_001_000 + turn };
    const set = { approval_status: `turn ${turn}` };
    const next: RunEvent[] = [
      { ...at, seq: 0, type: "node_ready", payload: { consumes: [] } },
      { ...at, seq: 0, type: "node_started", payload: { attempt: 1, input: { user_request: "again" } } },
      { ...at, seq: 0, type: "state_patched", payload: { set, writer: at.activation_id } },
      { ...at, seq: 0, type: "node_completed", payload: { output: set, written_keys: ["approval_status"] } },
    ];
    for (const event of next) events.push({ ...event, seq: events.length + 1 });
  }
  expect(approvalGraph.nodes.get).toBeDefined();
  return events.slice(0, length);
}

/** Without prototypes and with sets and maps as lists, so that equal states are equal. */
const plain = (state: unknown): unknown =>
  JSON.parse(
    JSON.stringify(state, (_key, value: unknown) =>
      value instanceof Set || value instanceof Map ? [...(value as Iterable<unknown>)] : value,
    ),
  );

test("time spent waiting for a person or paused is separate from working time", () => {
  const { store, frame, see } = newStore();
  const at = 1_700_000_000_000;
  const node = { node_id: "get", activation_id: "get#1" };
  const waits: RunEvent[] = [
    ...upTo(9),
    { ...node, seq: 10, ts: at + 1_000, type: "node_waiting", payload: { for: "human" } },
    {
      seq: 11,
      ts: at + 61_000,
      type: "run_paused",
      payload: { reason: "person", by: "user", at: { point: "anywhere" } },
    },
    { seq: 12, ts: at + 65_000, type: "run_continued", payload: { as: "resume", by: "user" } },
    { ...node, seq: 13, ts: at + 70_000, type: "node_completed", payload: { output: {}, written_keys: [] } },
    { seq: 14, ts: at + 71_000, type: "warning", payload: { message: "" } },
  ] as RunEvent[];
  store.apply(waits);
  frame();
  expect(see().waited.slice(8)).toEqual([0, 0, 60_000, 64_000, 69_000, 69_000]);
});

test("an aborted call has an unknown price unless answers are simulated", () => {
  const { store, frame, see } = newStore();
  const cancelled = {
    seq: 15,
    ts: 1_700_000_002_000,
    type: "run_finished",
    payload: { final_status: "CANCELLED", reason_code: "CANCELLED", warnings: [] },
  };
  store.apply([...upTo(14), cancelled as unknown as RunEvent]);
  frame();
  const { state } = see();
  expect(describeCost(state, state.totals)).toBe("$0");
  const paying = {
    ...state,
    run: { ...state.run, provider_summary: { name: "Own", model: "m", simulated: false } },
  };
  expect(describeCost(paying, state.totals)).toBe("Price unknown");
});
