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

describe("what two runs began with", () => {
  test.each<[string, Partial<Creation>, Partial<Creation>, object[]]>([
    ["the same", { input: { a: 1, b: [2] } }, { input: { b: [2], a: 1 } }, []],
    [
      "another input",
      { input: { a: 1 } },
      { input: { a: 2 } },
      [{ kind: "input", title: "Input", good: '{"a":1}', bad: '{"a":2}' }],
    ],
    [
      "a setting that only one has",
      { context_windows: { m: 1 } },
      {},
      [{ kind: "settings", title: "Run settings", good: null, bad: null }],
    ],
    [
      "something that people did",
      {},
      { pins: { a: { output: {} } } },
      [{ kind: "edits", title: "Manual edits and pins", good: null, bad: null }],
    ],
    [
      "a node that one calls by its name and the other does not have",
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
      "other ways between the same nodes",
      {},
      { graph: draw("start > b > a > end", { b: { name: "Write it" } }) },
      [{ kind: "drawing", title: "Workflow", good: "connections differ", bad: "connections differ" }],
    ],
    [
      "a node without a name, which is told by its id",
      { graph: draw("start > a > end", { a: { name: "" } }) },
      { graph: draw("start > a > end", { a: { name: "", config: { set: { a: "1" } } } }) },
      [{ kind: "drawing", title: "Workflow", good: "differs: a", bad: "differs: a" }],
    ],
  ])("%s", (_what, good, bad, expected) => {
    expect(between(run([], good), run([], bad))).toEqual(expected);
  });

  test("what only lies elsewhere on the drawing is no difference", () => {
    const moved: WorkflowGraph = structuredClone(drawing);
    for (const node of Object.values(moved.nodes)) Object.assign(node, { ui: { x: 9, y: 9 } });
    for (const edge of moved.edges) Object.assign(edge, { ui: { points: [] } });
    expect(between(run(), run([], { graph: moved }))).toEqual([]);
  });

  test("the time counts where an expression of one of them reads it, before all else", () => {
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

  test("each part says which fields a replay takes for it", () => {
    const { differences } = both(run([], { input: { a: 1 }, roles: [] }), run([], { pins: {} }));
    expect(differences.map(({ kind, fields }) => [kind, fields])).toEqual([
      ["input", ["input"]],
      ["edits", ["forks", "pins", "repeats"]],
    ]);
  });
});

describe("what two runs were answered", () => {
  const model = (content: Json, more: JsonObject = {}) => gave({ content, ...more });
  const calls = [{ id: "c", tool_name: "look", args: {} }];
  test.each<[string, Partial<RetracedAnswer>, Partial<RetracedAnswer>, object]>([
    [
      "a model's words",
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
      "a model's calls, with what it says or alone",
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
      "an answer of a model that is none",
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
      "an answer that failed, and one that never came",
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
      "a tool's output, and its error",
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
      "a tool that gave nothing, or what is no output of a tool; one without a name",
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
      "a person's choice, and what they said to it",
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
      "an answer of a person without any words",
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
      "the tools that there were",
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
      "a call whose key names no node, by the event that it began",
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
      "a call of no node at all",
      { key: "call", ...gave("x") },
      { key: "call", ...gave("y") },
      { kind: "model", title: "Model response in the run", good: "x", bad: "y" },
    ],
    [
      "a call of a node that the drawing does not have any more",
      { key: "gone#1/1/call", ...gave("x") },
      { key: "gone#1/1/call", ...gave("y") },
      { kind: "model", title: "Model response in the run", good: "x", bad: "y" },
    ],
  ])("%s", (_what, good, bad, expected) => {
    expect(between(run([good]), run([bad]))).toEqual([expected]);
  });

  test("a long answer is cut at 400 characters, and one of just as many is whole", () => {
    const valuesOf = ([good, bad]: [number, number]) =>
      between(run([gave("x".repeat(good))]), run([gave("y".repeat(bad))])).map((one) => [one.good, one.bad]);
    expect(valuesOf([400, 401])).toEqual([["x".repeat(400), `${"y".repeat(399)}…`]]);
  });

  test.each<[string, Partial<RetracedAnswer>, Partial<RetracedAnswer>]>([
    ["the same answer", gave({ content: "x", latency_ms: 1 }), gave({ content: "x", latency_ms: 2 })],
    ["a question that only one asked", gave("x"), { asked: "another", ...gave("y") }],
    ["times that went by", { kind: "time", ...gave("x") }, { kind: "time", ...gave("y") }],
    ["what the run computes itself", { kind: "step", ...gave("x") }, { kind: "step", ...gave("y") }],
    [
      "what another person was asked at another place",
      { kind: "person", key: "answer:a", ...gave("x") },
      { kind: "person", key: "answer:b", ...gave("y") },
    ],
    [
      "names that a run makes up",
      { asked: { use: "id_good" }, ...gave({ artifact_id: "id_good" }) },
      { asked: { use: "id_bad1" }, ...gave({ artifact_id: "id_bad1" }) },
    ],
  ])("%s is no difference", (_what, good, bad) => {
    expect(between(run([good]), run([bad]))).toEqual([]);
  });

  test("of what was asked several times, each is laid beside the same time in the other, in the order of asking", () => {
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
