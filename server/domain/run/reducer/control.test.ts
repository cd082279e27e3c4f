import { describe, expect, test } from "vitest";
import { RunConfig } from "@/server/domain/agent/outcome";
import { draw } from "@/server/domain/testing/drawing";
import type { NewEvent, Payloads } from "../events";
import { completed, created, failedWith, fold, of, over, paused, ready, started } from "../testing";
import { holding } from "./control";

const line = draw("start > a > b > end");
const begun = [created(line), ready("a"), started("a")];
const continued = (as: "resume" | "step", granularity?: "node" | "turn"): NewEvent => ({
  type: "run_continued",
  payload: { by: "ann", as, ...(granularity ? { granularity } : {}) },
});

describe("a run under a person's control", () => {
  test("a run's state has where and why it is paused and how far it steps, until it continues", () => {
    const snapshot = (...events: NewEvent[]) => {
      const { paused_at, stepping } = fold(created(line), ...events).run;
      return [paused_at, stepping];
    };
    const held = { point: "anywhere", reason: "person", by: "ann", since: 10 };
    expect(snapshot(paused)).toEqual([held, undefined]);
    expect(snapshot(paused, continued("step"))).toEqual([undefined, "node"]);
    expect(snapshot(paused, continued("step", "turn"))).toEqual([undefined, "turn"]);
    expect(snapshot(paused, continued("step"), paused, continued("resume"))).toEqual([undefined, undefined]);
    expect(snapshot(paused, over())).toEqual([undefined, undefined]);
  });

  test("a run removes a one-time breakpoint once it pauses there, and keeps all others", () => {
    const [once, always] = [
      { on: "node_start" as const, node_id: "a", once: true },
      { on: "node_start" as const, node_id: "b" },
    ];
    const set: NewEvent = { type: "breakpoints_set", payload: { breakpoints: [once, always], by: "ann" } };
    const at = (breakpoint: typeof once | typeof always): NewEvent => ({
      type: "run_paused",
      payload: { by: "run", reason: "breakpoint", at: { point: "node_start", breakpoint } },
    });
    expect(
      [set, at(once), at(always)].map(
        (_, n, all) => fold(created(line), ...all.slice(0, n + 1)).run.breakpoints,
      ),
    ).toEqual([[once, always], [always], [always]]);
    expect(fold(created(line), at(once)).run.breakpoints).toBeUndefined();
    expect(fold(created(line), set, at(always)).run.breakpoints).toEqual([once, always]);
  });

  test("a run starts with the breakpoints of its config, and in some modes with those of its nodes", () => {
    const graph = draw("start > a > b > end", { a: { breakpoint: "before" }, b: { breakpoint: "after" } });
    const own = [
      { on: "node_start", node_id: "a" },
      { on: "node_end", node_id: "b" },
    ];
    const given = { on: "error" as const };
    const held = (config: object, can_hold?: true) =>
      holding({ graph, config: RunConfig.parse(config), can_hold });
    expect(held({})).toEqual({});
    expect(held({ mode: "step" })).toEqual({});
    expect(held({ mode: "step" }, true)).toEqual({ can_hold: true, stepping: "node" });
    expect(held({ mode: "breakpoint" })).toEqual({});
    expect(held({ mode: "breakpoint" }, true)).toEqual({ can_hold: true, breakpoints: own });
    expect(held({ mode: "hitl", breakpoints: [given] }, true)).toEqual({
      can_hold: true,
      breakpoints: [given, ...own],
    });
    expect(held({ breakpoints: [given], stop_at: "b" })).toEqual({
      breakpoints: [given, { on: "node_start", node_id: "b", once: true }],
    });
    expect(held({ mode: "continuous", stop_at: "b" }, true)).toEqual({
      can_hold: true,
      breakpoints: [{ on: "node_start", node_id: "b", once: true }],
    });
  });
});

describe("the state of a run", () => {
  const began: NewEvent = {
    type: "state_initialized",
    payload: { state: { n: 1, list: ["x"] }, defaults_applied: [] },
  };
  const patch = (set: object, writer: string, more: object = {}) =>
    of(writer, "state_patched", { set: set as never, writer, ...more });
  const append = { reducers: { list: "append" } };

  test("writes to the state are merged by its reducers in graph order, with the last writer", () => {
    const s = fold(
      created(line),
      began,
      patch({ n: 2, list: "b" }, "b#1", append),
      patch({ list: "c" }, "c#1", append),
      patch({ list: "a" }, "a#1", { ...append, before: { list: 2 } }),
    );
    expect(s.state).toEqual({ n: 2, list: ["x", "a", "b", "c"] });
    expect(s.writer).toEqual({ n: "b#1", list: "a#1" });
    expect(s.merged.list).toEqual({
      base: ["x"],
      parts: [
        { writer: "a#1", value: "a" },
        { writer: "b#1", value: "b" },
        { writer: "c#1", value: "c" },
      ],
    });
  });

  test("a state edit resets the merged values, removes keys and marks the person's words as trusted", () => {
    const edited: NewEvent = {
      type: "state_edited",
      payload: { set: { list: ["new"] }, remove: ["n"], words: ["new"], by: "ann" },
    };
    const s = fold(created(line), began, patch({ list: "b" }, "b#1", append), edited);
    expect(s.state).toEqual({ list: ["new"] });
    expect(s.writer).toEqual({ list: "person" });
    expect(s.merged).toEqual({});
    expect(Object.keys(s.versions)).toEqual(["list"]);
    expect(s.told).toEqual(["new"]);
  });

  test("the run's warnings list dropped values and schema violations", () => {
    const conflict = of("a", "state_conflict", {
      key: "n",
      writers: ["a#1", "b#1"],
      winner: "b#1",
      policy: "strict",
    });
    const invalid = of("a", "state_invalid", { key: "n", errors: ["one", "two"], writer: "a#1" });
    expect(fold(created(line), conflict, invalid).run.warnings).toEqual([
      'Two branches wrote "n"; the value of b#1 was kept.',
      '"n" violates its schema: one; two',
    ]);
  });
});

describe("messages from people to a run", () => {
  test("an instruction has a number and lists each agent that read it once", () => {
    const injected = (text: string): NewEvent => ({
      type: "instruction_injected",
      payload: { target: { run: true }, text, by: "ann" },
    });
    const read = (agent_id: string, instruction?: number) =>
      of(
        "a",
        "message_added",
        {
          message: { role: "user", content: "x" },
          origin: "person",
          ...(instruction ? { instruction } : {}),
        },
        { agent_id },
      );
    const s = fold(
      ...begun,
      injected("one"),
      injected("two"),
      read("ann", 2),
      read("ann", 2),
      read("bob", 2),
      read("bob"),
    );
    expect(s.instructions).toEqual([
      { target: { run: true }, text: "one", by: "ann", number: 1, at: 30, read_by: [] },
      { target: { run: true }, text: "two", by: "ann", number: 2, at: 40, read_by: ["ann", "bob"] },
    ]);
    expect(s.told).toEqual(["one", "two"]);
  });

  test("a signal is queued for the next node unless a node is already waiting for it", () => {
    const sent = (name: string, data: number): NewEvent => ({
      type: "signal_received",
      payload: { name, data, by: "ann" },
    });
    const waits = (name: string) => of("a", "node_waiting", { for: "signal", name });
    const taken = of("a", "signal_taken", { name: "go" });
    const signals = (...events: NewEvent[]) => fold(...begun, ...events).signals;
    const [one, two] = [1, 2].map((data) => ({ data, by: "ann" }));
    expect(signals(sent("go", 1), sent("go", 2))).toEqual({ go: [one, two] });
    expect(signals(sent("go", 1), sent("go", 2), taken)).toEqual({ go: [two] });
    expect(signals(waits("go"), sent("go", 1))).toEqual({});
    expect(signals(waits("stop"), sent("go", 1))).toEqual({ go: [one] });
    expect(signals(of("a", "node_waiting", { for: "timer", name: "go" }), sent("go", 1))).toEqual({
      go: [one],
    });
    expect(signals(taken)).toEqual({ go: [] });
  });

  test("a node that a person skips is running until its output arrives", () => {
    const skip = of("a", "node_skipped_by", { output: {}, by: "ann" });
    for (const before of [
      [],
      [started("a")],
      [started("a"), of("a", "node_waiting", { for: "timer", until: 9 })],
    ]) {
      const s = fold(created(line), ready("a"), ...before, skip);
      expect(s.ready).toEqual([]);
      expect([...s.running]).toEqual(["a#1"]);
      expect(s.activations["a#1"]?.status).toBe("running");
      expect(s.activations["a#1"]?.waiting).toBeUndefined();
    }
  });
});

describe("a failed node", () => {
  const retried = (id: string) => of(id, "node_retried", { by: "ann" });
  const snapshot = (...events: NewEvent[]) => {
    const s = fold(created(line), ...events);
    return {
      ready: s.ready,
      running: [...s.running],
      work: Object.fromEntries(s.work),
      failing: s.failing?.activation_id,
    };
  };
  const [a, b] = ["a", "b"].map((id) => [ready(id), started(id)]) as [NewEvent[], NewEvent[]];

  test("a retried node runs first, and other failures that end the run are kept", () => {
    const both = [...a, ...b, failedWith("a", "fail_run"), failedWith("b", "fail_run")];
    expect(snapshot(...both)).toEqual({ ready: [], running: [], work: {}, failing: "a#1" });
    expect(snapshot(...both, retried("a"))).toEqual({
      ready: ["a#1"],
      running: [],
      work: { a: 1 },
      failing: "b#1",
    });
    expect(snapshot(...both, retried("a"), retried("b"))).toEqual({
      ready: ["b#1", "a#1"],
      running: [],
      work: { a: 1, b: 1 },
      failing: undefined,
    });
    expect(snapshot(...both, retried("b"))).toEqual({
      ready: ["b#1"],
      running: [],
      work: { b: 1 },
      failing: "a#1",
    });
    expect(snapshot(...a, ready("b"), failedWith("a", "retry"), retried("a"))).toEqual({
      ready: ["a#1", "b#1"],
      running: [],
      work: { a: 1, b: 1 },
      failing: undefined,
    });
    const s = fold(created(line), ...both, retried("a"));
    expect(s.activations["a#1"]).toMatchObject({ status: "ready", error: undefined, waiting: undefined });
    expect(s.activations["a#1"]?.finished_at).toBeUndefined();
    expect(s.activations["a#1"]?.ends_run).toBeUndefined();
    expect(s.nodes.a?.status).toBe("ready");
  });

  test("a failed node waits for its retry, continues with a warning or ends the run", () => {
    const state = (next: Payloads["node_failed"]["next"], ...more: NewEvent[]) => {
      const s = fold(created(line), ...a, failedWith("a", next), ...more);
      const { status, waiting, ends_run } = s.activations["a#1"] ?? {};
      return [status, waiting, ends_run, s.failing?.message, s.run.warnings, [...s.running]];
    };
    expect(state("retry")).toEqual(["waiting", { for: "retry" }, undefined, undefined, [], ["a#1"]]);
    expect(state("retry", of("a", "node_retry_scheduled", { attempt: 2, delay_ms: 100 }))).toEqual([
      "waiting",
      { for: "retry", until: 140 },
      undefined,
      undefined,
      [],
      ["a#1"],
    ]);
    expect(state("continue")).toEqual(["failed", undefined, undefined, undefined, ["It failed."], []]);
    expect(state("fail_run")).toEqual(["failed", undefined, true, "It failed.", [], []]);
  });
});

describe("the end of a run", () => {
  const rest = [
    ...begun,
    ready("b"),
    { ...of("end", "edge_taken", { edge_id: "e9" }), activation_id: "b#1" } as NewEvent,
  ];
  const snapshot = (...events: NewEvent[]) => {
    const s = fold(...rest, ...events);
    return [
      s.run.status,
      Object.values(s.activations).map(({ status }) => status),
      [s.ready, [...s.running], [...s.parked], Object.fromEntries(s.work)],
      s.left,
    ];
  };
  const resumed: NewEvent = { type: "run_resumed", payload: { by: "ann" } };
  const none = [[], [], [], {}];
  const work = [["b#1"], ["a#1"], ["end"], { a: 1, b: 1 }];

  test("the end of a run cancels pending work, except after a limit that can be raised", () => {
    expect(snapshot(over())).toEqual(["finished", ["cancelled", "cancelled"], none, null]);
    expect(snapshot(over({ final_status: "INCOMPLETE" }))).toEqual([
      "finished",
      ["running", "ready"],
      work,
      null,
    ]);
    expect(snapshot(over({ final_status: "ERROR" }))).toEqual([
      "finished",
      ["cancelled", "cancelled"],
      none,
      { ready: ["b#1"], parked: ["end"] },
    ]);
  });

  test("a resumed run is active again and repeats its pending work", () => {
    expect(snapshot(over({ final_status: "ERROR" }), resumed)).toEqual([
      "running",
      ["cancelled", "ready"],
      [["b#1"], [], ["end"], { b: 1 }],
      null,
    ]);
    const error = { code: "CONFIG" as const, message: "x", retryable: false, user_action: "none" as const };
    const end = over({ final_status: "ERROR", error, resumable: ["max_steps"] as never, warnings: ["w"] });
    const { run } = fold(...rest, end, resumed);
    expect(run).toEqual({ ...fold(...rest).run, status: "running", warnings: ["w"], counted_to: 6 });
    expect(fold(...rest, end).run).toMatchObject({
      final_status: "ERROR",
      error,
      resumable: ["max_steps"],
      finished_at: 50,
      output: {},
    });
    const limit = of("a", "node_waiting", { for: "limit" });
    const stopped = fold(...rest, limit, over({ final_status: "INCOMPLETE" }), resumed);
    expect([stopped.activations["a#1"]?.status, stopped.run.counted_to]).toEqual(["running", undefined]);
    const timer = of("a", "node_waiting", { for: "timer", until: 9 });
    expect(
      fold(...rest, timer, over({ final_status: "INCOMPLETE" }), resumed).activations["a#1"]?.status,
    ).toBe("waiting");
  });

  test("a finished run keeps its earlier warnings if its end lists none", () => {
    const warned: NewEvent = { type: "warning", payload: { code: "X", message: "careful" } };
    expect(
      [over(), over({ warnings: ["other"] })].map((end) => fold(...rest, warned, end).run.warnings),
    ).toEqual([["careful"], ["other"]]);
  });

  test("raising a limit updates the run's config", () => {
    const raised = (limit: Payloads["run_limit_raised"]["limit"], to: number): NewEvent => ({
      type: "run_limit_raised",
      payload: { limit, from: null, to, by: "ann" },
    });
    const { config } = fold(
      created(line, { config: { budget: { max_cost_usd: 1 } } }),
      raised("max_cost_usd", 5),
      raised("max_total_tokens", 70),
      raised("max_steps", 9),
    ).run;
    expect(config.budget).toEqual(expect.objectContaining({ max_cost_usd: 5, max_total_tokens: 70 }));
    expect(config.max_steps).toBe(9);
  });
});

test("a completed node keeps its output, labels and pin, and the input of its last attempt", () => {
  const s = fold(
    ...begun,
    of("a", "node_started", { attempt: 2, input: { x: 1 } }),
    of("a", "node_completed", { output: { y: 2 }, written_keys: [], labels: ["yes"], pinned: true }),
    ready("b", { iteration: 2, rounds: [2] }),
  );
  expect(s.activations["a#1"]).toMatchObject({
    status: "completed",
    attempt: 2,
    input: { x: 1 },
    output: { y: 2 },
    labels: ["yes"],
    pinned: true,
    started_at: 20,
    finished_at: 40,
  });
  expect(s.totals.steps).toBe(1);
  expect(s.outputs).toEqual({ a: { output: { y: 2 } } });
  expect(s.activations["b#1"]?.rounds).toEqual([2]);
  expect(s.nodes.b).toEqual({ status: "ready", count: 1, activation: "b#1", iteration: 2 });
  const plain = fold(...begun, completed("a")).activations["a#1"];
  expect([plain?.labels, plain?.pinned]).toEqual([undefined, undefined]);
});

test("a node that is never reached shows as skipped, and a skipped activation has ended", () => {
  const skipped = (more: object = {}) =>
    ({ type: "node_skipped", node_id: "b", payload: { reason: "condition" }, ...more }) as NewEvent;
  const never = fold(...begun, skipped());
  expect([never.nodes.b, never.activations["b#1"]]).toEqual([{ count: 0, status: "skipped" }, undefined]);
  const through = fold(...begun, ready("b"), skipped({ activation_id: "b#1" }));
  expect(through.nodes.b?.status).toBe("skipped");
  expect(through.activations["b#1"]?.finished_at).toBe(40);
  expect(through.ready).toEqual([]);
  expect(Object.fromEntries(through.work)).toEqual({ a: 1 });
});
