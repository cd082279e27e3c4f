import { describe, expect, test } from "vitest";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { Settled } from "@/server/domain/base/durable";
import type { Json } from "@/server/domain/base/values";
import type { RunState } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import type { KeptCommand } from "@/server/domain/run/events/control-events";
import { draw } from "@/server/domain/testing/drawing";
import type { Journal, Turn } from "../durable/embedded-contract";
import { commandsOf } from "./commands-of";
import type { Execute } from "./retrace";

const ok = (value: Json): Settled => ({ ok: true, value });
const warning = (code: string): RunEvent => ({
  seq: 9,
  ts: 0,
  type: "warning",
  payload: { code, message: "m" },
});
const done = [warning("SOMETHING")];
type Entry = [key: string | null, value?: Json | Settled, events?: RunEvent[]];

/** A log with these answers, after its beginning. */
function logOf(entries: readonly Entry[], repeats?: KeptCommand[], first?: RunEvent): Journal {
  const created: RunEvent = first ?? {
    seq: 1,
    ts: 0,
    type: "run_created",
    payload: {
      graph: draw("start > end"),
      roles: [],
      workflow_id: null,
      workflow_name: "",
      input: {},
      config: RunConfig.parse({}),
      trigger: "test",
      provider_summary: null,
      ...(repeats ? { repeats } : {}),
    },
  };
  const isSettled = (value: Json | Settled): value is Settled =>
    typeof value === "object" && value !== null && "ok" in value;
  const turns = [
    { key: null, result: null, events: [created] },
    { key: null, result: null, events: [] },
    ...entries.map(([key, value = null, events = done]) => ({
      key,
      result: isSettled(value) ? value : ok(value),
      events,
    })),
  ];
  return {
    turns: turns.map((one, turn): Turn => ({ turn, at: turn, lastSeq: 0, inlined: 0, ...one })),
    timers: new Map(),
    signals: new Map(),
  };
}
/** Takes what comes; the run is paused once `pause` came. */
const execute: Execute = async (ctx, _created, _effects, watch) => {
  const state = { run: {} as Record<string, unknown> };
  watch?.(state as unknown as RunState);
  for (;;) {
    const settled = ctx.next([]);
    if (settled instanceof Promise) throw new Error("It waits.");
    if (settled.key === "pause") state.run.paused_at = { seq: 1 };
  }
};
const commands = (entries: readonly Entry[], repeats?: KeptCommand[]) =>
  commandsOf("r", logOf(entries, repeats), execute);
const set = { kind: "edit_state" as const, set: { r: 1 }, remove: [] };
const edit = { ...set, by: "ann" };

test("a person's command is placed after the last answer of each branch that continued since", () => {
  expect(
    commands([
      ["a#1/1/first"],
      ["b#1/1/x"],
      ["a#1/1/second"],
      ["answer:c#2/1/q"],
      ["recovered#1"],
      ["clock#3"],
      ["breath#1"],
      ["a#1/1/timeout12"],
      ["control#1", edit],
      ["a#1/1/third"],
      ["pause"],
      ["control#2", { ...edit, by: "bob" }],
      ["control#3", edit],
    ]),
  ).toEqual([
    { after: ["b#1/1/x", "a#1/1/second", "answer:c#2/1/q"], by: "ann", command: set },
    { after: ["a#1/1/third", "pause"], while_paused: true, by: "bob", command: set },
    { after: [], while_paused: true, by: "ann", command: set },
  ]);
});

test("a command is tied to at most the 64 newest answers", () => {
  const many = Array.from({ length: 70 }, (_, at): Entry => [`n${at}#1/1/x`]);
  const [found] = commands([...many, ["control#1", edit]]);
  expect([found!.after.length, found!.after[0], found!.after.at(-1)]).toEqual([64, "n6#1/1/x", "n69#1/1/x"]);
});

test("a cancellation is repeated with its reason and author", () => {
  const cancelled = (value: Json) => commands([["a#1/1/x"], ["$cancel", value]]);
  expect(cancelled({ by: "ann", reason: "enough" })).toEqual([
    { after: ["a#1/1/x"], by: "ann", command: { kind: "cancel", reason: "enough" } },
  ]);
  expect(cancelled({})).toEqual([
    { after: ["a#1/1/x"], by: "user", command: { kind: "cancel", reason: "" } },
  ]);
});

describe("commands that are not repeated", () => {
  test.each<[string, Entry[]]>([
    ["a resume command", [["control#1", { kind: "resume", by: "ann" }]]],
    ["a rejected command", [["control#1", edit, [warning("PLAN_EDIT_REFUSED")]]]],
    ["a late command", [["control#1", edit, [warning("SOMETHING"), warning("COMMAND_TOO_LATE")]]]],
    ["a command without events", [["control#1", edit, []]]],
    ["a failed command", [["control#1", { ok: false, error: { name: "E", message: "no" } }]]],
    ["an unknown command", [["control#1", { kind: "dance", by: "ann" }]]],
    ["a null value", [["control#1", null]]],
    ["a string", [["control#1", "pause"]]],
    ["a list", [["control#1", [edit]]]],
    ["an answer that looks like a command", [["a#1/1/control", edit]]],
    ["a note of the engine", [["$tick", edit]]],
  ])("%s is not repeated", (_what, entries) => {
    expect(commands([["a#1/1/x"], ...entries])).toEqual([]);
  });
});

test("a pause command is repeated together with a command that changes the run", () => {
  expect(
    commands([
      ["control#1", { kind: "pause", by: "ann" }],
      ["control#2", { ...edit, by: 7 }],
    ]).map(({ by, command }) => [by, command.kind]),
  ).toEqual([
    ["ann", "pause"],
    ["user", "edit_state"],
  ]);
});

describe("a run that repeats another run", () => {
  const kept: KeptCommand = { after: ["a#1/1/x"], by: "cid", command: { kind: "pause" } };
  test("a repeating run passes on its repeated commands, pauses included, and then its own", () => {
    expect(commands([["a#1/1/x"]], [kept])).toEqual([kept]);
    expect(commands([["a#1/1/x"], ["control#1", edit]], [kept])).toEqual([
      kept,
      { after: ["a#1/1/x"], by: "ann", command: set },
    ]);
  });
  test("a run repeats at most a thousand commands", () => {
    const many = (count: number) => Array.from({ length: count }, () => kept);
    const own: Entry[] = [["control#1", edit]];
    expect(commands(own, many(999)).length).toBe(1000);
    // Of one more there is none that changes anything, and what only holds is not worth it.
    expect(commands(own, many(1000))).toEqual([]);
  });
});

test("a log that doesn't begin with its run still has commands, and a missing log has none", () => {
  expect(commandsOf("r", logOf([["control#1", edit]], [], warning("x")), execute)).toHaveLength(1);
  expect(commandsOf("r", { ...logOf([]), turns: [] }, execute)).toEqual([]);
});
