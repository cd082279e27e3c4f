import { describe, expect, test } from "vitest";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { Settled } from "@/server/domain/base/durable";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { RunEventOf } from "@/server/domain/run/events";
import { draw } from "@/server/domain/testing/drawing";
import type { RetracedAnswer } from "../replay/retrace";
import { both, type Difference } from "./differences";
import type { Recording } from "./recording";

type Creation = RunEventOf<"run_created">["payload"];

const drawing = draw("start > a > b > end", { b: { name: "Write it" } });
const day = Date.UTC(2026, 0, 1);

const run = (
  answers: readonly Partial<RetracedAnswer>[] = [],
  creation: Partial<Creation> = {},
  begunAt = day,
): Recording => ({
  run_id: "r",
  created: {
    seq: 1,
    ts: begunAt,
    type: "run_created",
    payload: {
      graph: drawing,
      roles: [],
      workflow_id: "wf",
      workflow_name: "Test",
      input: {},
      config: RunConfig.parse({}),
      trigger: "test",
      provider_summary: null,
      ...creation,
    },
  },
  begunAt,
  answers: answers.map((one, at) => ({
    key: "a#1/1/call",
    kind: "model",
    asked: "question",
    result: { ok: true, value: null },
    order: at + 1,
    since: 0,
    ms: 0,
    turn: at + 2,
    ...one,
  })),
  held: {},
  execute: () => Promise.resolve(),
});
const gave = (value: Json): { result: Settled } => ({ result: { ok: true, value } });
const event = (seq: number, activation_id?: string): { event: RunEventOf<"warning"> } => ({
  event: {
    seq,
    ts: day,
    type: "warning",
    payload: { code: "x", message: "y" },
    ...(activation_id === undefined ? {} : { activation_id, node_id: activation_id.split("#")[0]! }),
  },
});
/** What two runs had otherwise, without what leads a replay to it. */
const between = (good: Recording, bad: Recording) =>
  both(good, bad).differences.map(({ place: _place, fields: _fields, ...rest }: Difference) => rest);

describe("differences between the starts of two runs", () => {
  test.each<[string, Partial<Creation>, Partial<Creation>, object[]]>([
    ["the same input", { input: { a: 1, b: [2] } }, { input: { b: [2], a: 1 } }, []],
    [
      "another input",
      { input: { a: 1 } },
      { input: { a: 2 } },
      [{ kind: "input", title: "Input", good: '{"a":1}', bad: '{"a":2}' }],
    ],
    [
      "a setting that only one run has",
      { context_windows: { m: 1 } },
      {},
      [{ kind: "settings", title: "Run settings", good: null, bad: null }],
    ],
    [
      "changes made by people",
      {},
      { pins: { a: { output: {} } } },
      [{ kind: "edits", title: "Manual edits and pins", good: null, bad: null }],
    ],
    [
      "a named node that exists in only one run",
      {},
      { graph: draw("start > a > end") },
      [
        {
          kind: "drawing",
          title: "Workflow",
          good: "differs: Write it",
          bad: "connections differ",
        },
      ],
    ],
    [
      "different connections between the same nodes",
      {},
      { graph: draw("start > b > a > end", { b: { name: "Write it" } }) },
      [{ kind: "drawing", title: "Workflow", good: "connections differ", bad: "connections differ" }],
    ],
    [
      "an unnamed node, listed by its ID",
      { graph: draw("start > a > end", { a: { name: "" } }) },
      { graph: draw("start > a > end", { a: { name: "", config: { set: { a: "1" } } } }) },
      [{ kind: "drawing", title: "Workflow", good: "differs: a", bad: "differs: a" }],
    ],
  ])("the starts of two runs are compared: %s", (_what, good, bad, expected) => {
    expect(between(run([], good), run([], bad))).toEqual(expected);
  });

  test("a changed layout is not a difference", () => {
    const moved: WorkflowGraph = structuredClone(drawing);
    for (const node of Object.values(moved.nodes)) Object.assign(node, { ui: { x: 9, y: 9 } });
    for (const edge of moved.edges) Object.assign(edge, { ui: { points: [] } });
    expect(between(run(), run([], { graph: moved }))).toEqual([]);
  });

  test("the start time counts only if an expression reads it, and comes first", () => {
    const reads = draw("start > a > end", { a: { config: { set: { a: "now" } } } });
    const word = draw("start > a > end", { a: { config: { set: { a: "state.nowhere" } } } });
    const time = {
      kind: "time",
      title: "Start time",
      good: "2026-01-01T00:00:00.000Z",
      bad: "2026-01-01T00:00:01.000Z",
    };
    const runs = (good: WorkflowGraph, bad: WorkflowGraph) =>
      between(run([], { graph: good }), run([], { graph: bad }, day + 1000)).map(({ kind }) => kind);
    expect(between(run([], { graph: reads }), run([], { graph: reads }, day + 1000))).toEqual([time]);
    expect(runs(reads, word)).toEqual(["time", "drawing"]);
    expect(runs(word, reads)).toEqual(["time", "drawing"]);
    expect(runs(word, word)).toEqual([]);
  });

  test("each difference lists the fields that a replay takes for it", () => {
    const { differences } = both(run([], { input: { a: 1 }, roles: [] }), run([], { pins: {} }));
    expect(differences.map(({ kind, fields }) => [kind, fields])).toEqual([
      ["input", ["input"]],
      ["edits", ["forks", "pins", "repeats"]],
    ]);
  });
});

describe("differences between recorded answers", () => {
  const model = (content: Json, more: JsonObject = {}) => gave({ content, ...more });
  const calls = [{ id: "c", tool_name: "look", args: {} }];
  test.each<[string, Partial<RetracedAnswer>, Partial<RetracedAnswer>, object]>([
    [
      "a model's text",
      { ...model("well"), ...event(7) },
      { ...model("badly"), ...event(9) },
      {
        kind: "model",
        title: "Model response in a",
        node_id: "a",
        activation_id: "a#1",
        good: "well",
        bad: "badly",
        good_seq: 7,
        bad_seq: 9,
      },
    ],
    [
      "a model's tool calls, with and without text",
      model("I look", { tool_calls: calls }),
      model("", { tool_calls: calls }),
      {
        kind: "model",
        title: "Model response in a",
        node_id: "a",
        activation_id: "a#1",
        good: 'I look [{"args":{},"id":"c","tool_name":"look"}]',
        bad: '[{"args":{},"id":"c","tool_name":"look"}]',
      },
    ],
    [
      "an invalid model response",
      model(7),
      gave("text"),
      {
        kind: "model",
        title: "Model response in a",
        node_id: "a",
        activation_id: "a#1",
        good: "",
        bad: "text",
      },
    ],
    [
      "a failed answer and a missing answer",
      { result: { ok: false, error: { name: "E", message: "no line" } } },
      { result: null },
      {
        kind: "model",
        title: "Model response in a",
        node_id: "a",
        activation_id: "a#1",
        good: "It failed: no line",
        bad: null,
      },
    ],
    [
      "a tool's output and its error",
      { kind: "tool", key: "b#2/1/x", asked: { tool: "price" }, ...gave({ status_code: 200, output: 3 }) },
      { kind: "tool", key: "b#2/1/x", asked: { tool: "price" }, ...gave({ status_code: 500, error: "no" }) },
      {
        kind: "tool",
        title: "Result of price in Write it",
        node_id: "b",
        activation_id: "b#2",
        good: "3",
        bad: "no",
      },
    ],
    [
      "an empty or invalid tool result, and a tool without a name",
      { kind: "tool", ...gave({ status_code: 200 }) },
      { kind: "tool", ...gave([1]) },
      {
        kind: "tool",
        title: "Result of a tool in a",
        node_id: "a",
        activation_id: "a#1",
        good: "null",
        bad: "[1]",
      },
    ],
    [
      "a person's choice and comment",
      { kind: "person", key: "answer:b#1/1/q", ...gave({ answer: "chosen", option: "yes" }) },
      {
        kind: "person",
        key: "answer:b#1/1/q",
        ...gave({ answer: "reject", value: { n: 1 }, message: "not now" }),
      },
      {
        kind: "person",
        title: "Person's answer in Write it",
        node_id: "b",
        activation_id: "b#1",
        good: "yes",
        bad: 'reject {"n":1} not now',
      },
    ],
    [
      "a person's answer without text",
      { kind: "person", key: "answer:b#1/1/q", ...gave({}) },
      { kind: "person", key: "answer:b#1/1/q", ...gave("odd") },
      {
        kind: "person",
        title: "Person's answer in Write it",
        node_id: "b",
        activation_id: "b#1",
        good: "null",
        bad: "odd",
      },
    ],
    [
      "the available tools",
      { kind: "step", key: "a#1/1/worker/tools", asked: null, ...gave(["x"]) },
      { kind: "step", key: "a#1/1/worker/tools", asked: null, ...gave(["x", "y"]) },
      {
        kind: "installed",
        title: "Available tools for a",
        node_id: "a",
        activation_id: "a#1",
        good: '["x"]',
        bad: '["x","y"]',
      },
    ],
    [
      "a call without a node in its key, located by the event it started",
      { key: "call", ...gave("x"), ...event(3, "b#4") },
      { key: "call", ...gave("y") },
      {
        kind: "model",
        title: "Model response in Write it",
        node_id: "b",
        activation_id: "b#4",
        good: "x",
        bad: "y",
        good_seq: 3,
      },
    ],
    [
      "a call outside any node",
      { key: "call", ...gave("x") },
      { key: "call", ...gave("y") },
      { kind: "model", title: "Model response in the run", good: "x", bad: "y" },
    ],
    [
      "a call of a node that no longer exists",
      { key: "gone#1/1/call", ...gave("x") },
      { key: "gone#1/1/call", ...gave("y") },
      { kind: "model", title: "Model response in the run", good: "x", bad: "y" },
    ],
  ])("recorded answers of two runs are compared: %s", (_what, good, bad, expected) => {
    expect(between(run([good]), run([bad]))).toEqual([expected]);
  });

  test("an answer over 400 characters is truncated, and an answer of exactly 400 is not", () => {
    const valuesOf = ([good, bad]: [number, number]) =>
      between(run([gave("x".repeat(good))]), run([gave("y".repeat(bad))])).map((one) => [one.good, one.bad]);
    expect(valuesOf([400, 401])).toEqual([["x".repeat(400), `${"y".repeat(399)}…`]]);
  });

  test.each<[string, Partial<RetracedAnswer>, Partial<RetracedAnswer>]>([
    ["the same answer", gave({ content: "x", latency_ms: 1 }), gave({ content: "x", latency_ms: 2 })],
    ["a question asked in only one run", gave("x"), { asked: "another", ...gave("y") }],
    ["elapsed time", { kind: "time", ...gave("x") }, { kind: "time", ...gave("y") }],
    ["a value that the run computes itself", { kind: "step", ...gave("x") }, { kind: "step", ...gave("y") }],
    [
      "an answer to a different question",
      { kind: "person", key: "answer:a", ...gave("x") },
      { kind: "person", key: "answer:b", ...gave("y") },
    ],
    [
      "a generated ID",
      { asked: { use: "id_good" }, ...gave({ artifact_id: "id_good" }) },
      { asked: { use: "id_bad1" }, ...gave({ artifact_id: "id_bad1" }) },
    ],
  ])("%s is not a difference", (_what, good, bad) => {
    expect(between(run([good]), run([bad]))).toEqual([]);
  });

  test("repeated questions are compared in the order in which they were asked", () => {
    const asked = (content: string, order: number) => ({ ...gave(content), order });
    const runs = both(
      run([asked("second", 2), asked("first", 1), asked("third", 3)]),
      run([asked("first", 1), asked("other", 2)]),
    );
    expect(runs.differences.map(({ good, bad, place }) => [good, bad, place])).toEqual([
      ["second", "other", { asked: runs.hash({ key: "-", kind: "model", asked: "question" }), time: 1 }],
    ]);
    expect(runs.hash({ key: "-", kind: "tool", asked: "question" })).not.toBe(
      runs.hash({ key: "-", kind: "model", asked: "question" }),
    );
  });
});
