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

describe("a run that people hold", () => {
  test("knows where and why it is paused, how far it goes then, and nothing of it once it goes on", () => {
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

  test("forgets a breakpoint that was to hold it once, and keeps every other", () => {
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

  test("begins with the breakpoints of its settings, and in the modes that heed them those of its nodes", () => {
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

  test("is written by its reducers, side by side in the order of the drawing, and tells who wrote what last", () => {
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

  test("takes a person's word: what is set begins anew, what is removed is gone, and their words are vouched for", () => {
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

  test("says in the run's warnings what was dropped and what does not fit", () => {
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

describe("what people tell a run", () => {
  test("an instruction has its number, and each agent that read it once", () => {
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

  test("a signal is kept for the first that comes, unless somebody waits for it already", () => {
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

  test("a node that is skipped by a person is at work until its output is there", () => {
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

describe("a node that failed", () => {
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

  test("is tried again first of all, and no other failure is forgotten for it", () => {
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

  test("waits for its next attempt, leads another way with a warning, or ends the run", () => {
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

  test("cancels what it had yet to do, but for one that stopped at a limit and may go on", () => {
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

  test("is taken back where a person lets it go on: what was left is to be done again", () => {
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

  test("keeps the warnings of its way where it names none of its own", () => {
    const warned: NewEvent = { type: "warning", payload: { code: "X", message: "careful" } };
    expect(
      [over(), over({ warnings: ["other"] })].map((end) => fold(...rest, warned, end).run.warnings),
    ).toEqual([["careful"], ["other"]]);
  });

  test("comes later where a limit is raised, whichever it is", () => {
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

test("what a node gave is kept with its labels, and where it was pinned; its input is that of its last attempt", () => {
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

test("a node that never comes to its turn is shown as skipped, and one that is passed through has ended", () => {
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
