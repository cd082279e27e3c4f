import { describe, expect, test } from "vitest";
import type { DurableContext, Settled, Settlement, StepRequest } from "@/server/domain/base/durable";
import type { Json } from "@/server/domain/base/values";
import type { RunEvent } from "@/server/domain/run/events";
import type { Journal, Turn } from "../durable/embedded-contract";
import type { Effects } from "../node/ports";
import { requestHash } from "./request-hash";
import { askedOf, type Execute, pure, retell, retraced, retracedCalls, retracedRequests } from "./retrace";

const warning = (seq: number): RunEvent => ({
  seq,
  ts: 0,
  type: "warning",
  payload: { code: "x", message: `event ${seq}` },
});
const question: RunEvent = {
  seq: 3,
  ts: 0,
  type: "interaction_requested",
  payload: {
    interaction_id: "q1",
    kind: "approval",
    title: "Go on?",
    why: "It asks.",
    fingerprint: "f",
    expires_at: 7,
  },
};
const turn = (at: number, key: string | null, result: Settled | null, more: Partial<Turn> = {}): Turn => ({
  turn: 0,
  key,
  result,
  at,
  lastSeq: 0,
  inlined: 0,
  events: [],
  ...more,
});
/** A log: its creation, and what came after it. */
const logOf = (...turns: Turn[]): Journal => ({
  turns: [turn(100, null, null, { events: [warning(1)] }), ...turns].map((one, at) => ({ ...one, turn: at })),
  timers: new Map(),
  signals: new Map(),
});
const ok = (value: Json): Settled => ({ ok: true, value });
const asks = (kind: StepRequest["kind"], asked: Json): { request: StepRequest } => ({
  request: { kind, again: "reuse", asked: () => asked },
});
const hashed = (kind: StepRequest["kind"], asked: Json) => requestHash({ kind, asked: () => asked });
/** A flow that does this, and then takes all that comes. */
const flow =
  (
    begin: (ctx: DurableContext<RunEvent>, effects: Effects) => void,
    then: (key: string, ctx: DurableContext<RunEvent>) => void = () => {},
  ) =>
  (came: Settlement[] = []): Execute =>
  async (ctx, _created, effects) => {
    begin(ctx, effects);
    for (;;) {
      const settled = ctx.next([]);
      if (settled instanceof Promise) throw new Error("It waits.");
      came.push(settled);
      then(settled.key, ctx);
    }
  };

test("each answer of a log is matched with its request, its time and how long it took", () => {
  const run = flow(
    (ctx) => {
      ctx.step("call", () => null, asks("model", { say: "hello" }));
      ctx.step("inner", () => 5, { inline: true });
      ctx.step("late", () => 6, { inline: true });
      ctx.sleep("nap", 50);
      ctx.emit(question);
      ctx.signal("answer:q1");
      ctx.signal("control#1");
      ctx.timeout("limit", 9);
    },
    (key, ctx) => {
      if (key !== "nap") return;
      ctx.step("lists/tools", () => null);
      ctx.step("left", () => null, asks("tool", { tool: "look" }));
      ctx.abandon({ key: "gone" });
      ctx.abandon({ key: "left" });
    },
  );
  const came: Settlement[] = [];
  const answers = retraced(
    "r",
    logOf(
      turn(200, null, null, { inlined: 1 }),
      turn(260, "nap", ok(null)),
      turn(300, "call", ok("hi"), { events: [warning(5), warning(6)] }),
      turn(350, "answer:q1", ok({ answer: "approve" })),
      turn(360, "control#1", ok({})),
    ),
    run(came),
  );
  expect(came).toEqual([
    { key: "inner", result: ok(5), at: 200 },
    { key: "nap", result: ok(null), at: 260 },
    { key: "call", result: ok("hi"), at: 300 },
    { key: "answer:q1", result: ok({ answer: "approve" }), at: 350 },
    { key: "control#1", result: ok({}), at: 360 },
  ]);
  expect(answers).toEqual([
    { key: "nap", kind: "time", asked: 50, result: ok(null), order: 2, since: 200, ms: 60, turn: 2 },
    {
      key: "left",
      kind: "tool",
      asked: { tool: "look" },
      result: null,
      order: 5,
      since: 260,
      ms: 0,
      turn: 2,
    },
    {
      key: "call",
      kind: "model",
      asked: { say: "hello" },
      result: ok("hi"),
      order: 1,
      since: 200,
      ms: 100,
      turn: 3,
      event: warning(5),
    },
    {
      key: "answer:q1",
      kind: "person",
      asked: { interaction_id: "q1", kind: "approval", title: "Go on?", why: "It asks." },
      result: ok({ answer: "approve" }),
      order: 3,
      since: 200,
      ms: 150,
      turn: 4,
    },
    {
      key: "lists/tools",
      kind: "step",
      asked: null,
      result: null,
      order: 4,
      since: 260,
      ms: 100,
      turn: 6,
    },
  ]);
});

describe("retraced model and tool calls", () => {
  const run = flow((ctx) => {
    for (const key of ["a", "b", "c", "d", "e"]) ctx.step(key, () => null, asks("tool", { tool: key }));
    ctx.step("lists/tools", () => null);
  });
  const failed = { ok: false as const, error: { name: "E", message: "no" } };
  const log = logOf(
    turn(200, null, null),
    turn(210, "b", { ...ok("B"), request: hashed("tool", { tool: "b" }) }),
    turn(220, "a", { ...failed, request: hashed("tool", { tool: "a" }) }),
    turn(230, "c", { ...ok("C"), request: "another" }),
    turn(240, "lists/tools", ok([])),
    turn(250, "d", { ...ok("D"), request: hashed("tool", { tool: "d" }) }),
  );
  test("every call with a known request is found, unanswered calls last", () => {
    expect(retracedCalls("r", log, run())).toEqual([
      {
        key: "b",
        kind: "tool",
        asked: { tool: "b" },
        request: hashed("tool", { tool: "b" }),
        result: { ...ok("B"), request: hashed("tool", { tool: "b" }) },
        asked_at: 200,
        answered_at: 210,
      },
      {
        key: "a",
        kind: "tool",
        asked: { tool: "a" },
        request: hashed("tool", { tool: "a" }),
        result: { ...failed, request: hashed("tool", { tool: "a" }) },
        asked_at: 200,
        answered_at: 220,
      },
      {
        key: "d",
        kind: "tool",
        asked: { tool: "d" },
        request: hashed("tool", { tool: "d" }),
        result: { ...ok("D"), request: hashed("tool", { tool: "d" }) },
        asked_at: 200,
        answered_at: 250,
      },
      {
        key: "e",
        kind: "tool",
        asked: { tool: "e" },
        request: hashed("tool", { tool: "e" }),
        result: null,
        asked_at: 200,
        answered_at: 200,
      },
    ]);
  });
  test("successfully answered calls are requests that can be made again", () => {
    expect(retracedRequests("r", log, run())).toEqual(
      ["b", "d"].map((key) => ({
        key,
        kind: "tool",
        asked: { tool: key },
        request: hashed("tool", { tool: key }),
      })),
    );
  });
});

describe("the end of a log", () => {
  const run = flow((ctx) => {
    ctx.step("a", () => null);
    ctx.step("b", () => null);
  });
  const heard = (...turns: Turn[]) => {
    const keys: string[] = [];
    retell("r", logOf(turn(200, null, null), ...turns), run(), (key) => void keys.push(key));
    return keys;
  };
  test("a log ends after its last record, at an end marker or at a cancellation", () => {
    expect(heard(turn(210, "a", ok(1)))).toEqual(["a"]);
    expect(heard(turn(210, "$ended", ok(null)), turn(220, "a", ok(1)))).toEqual([]);
    expect(heard(turn(210, null, ok(null)), turn(220, "a", ok(1)))).toEqual([]);
    expect(heard(turn(210, "a", null), turn(220, "b", ok(1)))).toEqual([]);
    expect(heard(turn(210, "$cancel", ok({})), turn(220, "a", ok(1)))).toEqual(["$cancel"]);
  });
  test("a log without its beginning yields nothing", () => {
    const empty = { ...logOf(), turns: [] };
    const keys: string[] = [];
    retell("r", empty, run(), (key) => void keys.push(key));
    expect([retraced("r", empty, run()), retracedCalls("r", empty, run()), keys]).toEqual([[], [], []]);
  });
});

test("a retold answer is reported with its turn before the run receives it", () => {
  const heard: [string, number | undefined, number][] = [];
  const came: Settlement[] = [];
  const run = flow((ctx) => {
    ctx.step("inner", () => 1, { inline: true });
    ctx.step("a", () => null);
  });
  retell(
    "r",
    logOf(turn(200, null, null, { inlined: 1 }), turn(210, "a", ok(1))),
    run(came),
    (key, one) => void heard.push([key, one?.turn, came.length]),
  );
  expect(heard).toEqual([
    ["inner", undefined, 0],
    ["a", 2, 1],
  ]);
});

test("retracing a run makes no outside calls", async () => {
  let models: Effects["models"] | undefined;
  retraced(
    "r",
    logOf(turn(200, null, null)),
    flow((_ctx, effects) => {
      models = effects.models;
    })(),
  );
  expect(models?.describe({})).toBeNull();
  await expect(models?.complete({} as never, {} as never)).rejects.toThrow(
    "What is retraced calls no model.",
  );
});

test("a sent signal is recognized from later turns", () => {
  const found: boolean[] = [];
  const inspect = (ctx: DurableContext<RunEvent>) =>
    found.push(ctx.isSent("a"), ctx.isSent("b"), ctx.isSent("c"));
  retraced(
    "r",
    logOf(turn(200, null, null), turn(210, "a", ok(1)), turn(220, "b", ok(1))),
    flow(inspect, (_key, ctx) => inspect(ctx))(),
  );
  expect(found).toEqual([true, true, false, false, true, false, false, false, false]);
});

test("a signal sent after the end of a run is not visible before it", () => {
  const found: boolean[] = [];
  const inspect = (ctx: DurableContext<RunEvent>) => found.push(ctx.isSent("a"));
  const log = logOf(turn(200, null, null, { lastSeq: 2 }), turn(210, "a", ok(1)));
  const end = (ctx: DurableContext<RunEvent>) => {
    inspect(ctx);
    ctx.emit(warning(2));
    inspect(ctx);
  };
  retraced("r", log, flow(end)());
  expect(found).toEqual([false, true]);
});

test("an inline step returns its value at once, and a question omits time-dependent fields", () => {
  expect([pure(() => 7), pure(() => Promise.resolve(7))]).toEqual([7, null]);
  expect([askedOf(undefined), askedOf(warning(1)), askedOf(question)]).toEqual([
    null,
    null,
    { interaction_id: "q1", kind: "approval", title: "Go on?", why: "It asks." },
  ]);
});
