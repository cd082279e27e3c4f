import { expect, test } from "vitest";
import { RunConfig } from "@/server/domain/agent/outcome";
import { must } from "@/server/domain/base/must";
import { sizeOf } from "@/server/domain/base/sizes";
import type { JsonObject } from "@/server/domain/base/values";
import { foldRun } from "@/server/domain/run";
import { draw } from "@/server/domain/testing/drawing";
import { readInput } from "./node-input";

/** What node `b` reads, drawn with these settings, in a run whose state is this. */
function read(settings: JsonObject, state: JsonObject, { skipped = [] as string[], node = "b" } = {}) {
  const s = foldRun("run_1", [
    {
      type: "run_created",
      seq: 1,
      ts: 0,
      payload: {
        graph: draw("start > a > b > end; start > c > b", {
          a: { name: "First", output_keys: ["x", "y"] },
          b: { name: "Second", output_keys: ["x"], ...settings },
          c: { name: "", output_keys: ["y"] },
          start: { input_keys: ["x"] },
        }),
        roles: [],
        workflow_id: null,
        workflow_name: "Test",
        input: { given: 1 },
        config: RunConfig.parse({ max_state_chars: 1000 }),
        trigger: "test",
        provider_summary: null,
      },
    },
  ]);
  Object.assign(s.state, state);
  Object.assign(s.outputs, { a: { x: 5 } });
  for (const id of skipped) Object.assign(s.nodes, { [id]: { ...s.nodes[id], status: "skipped" } });
  return readInput(s, must(s.graph.nodes, node), 12);
}
const missing = (message: string) => ({
  input: {},
  error: { code: "INPUT_MISSING", message, retryable: false, user_action: "edit_graph" },
});

test("a node reads its input keys, and its optional keys if they exist", () => {
  expect(read({ input_keys: ["x"], optional_input_keys: ["y", "z"] }, { x: null, y: 2, other: 3 })).toEqual({
    input: { x: null, y: 2 },
  });
  expect(read({}, { x: 1 })).toEqual({ input: {} });
});

test("an input mapping reads the state, node outputs, the run's input and ID, and the time", () => {
  const input_mapping = { s: "state.x", n: "nodes.a.x", i: "input.given", r: "run.id", t: "now" };
  expect(read({ input_mapping, input_keys: ["missing"] }, { x: 1 })).toEqual({
    input: { s: 1, n: 5, i: 1, r: "run_1", t: "1970-01-01T00:00:00.012Z" },
  });
});

test.each([
  ["Second", "Second"],
  ["", "b"],
])("a failed input mapping names its node (%j)", (name, shown) => {
  expect(read({ name, input_mapping: { s: "state.x.y.z" } }, {})).toEqual(
    missing(expect.stringMatching(new RegExp(`^The inputs of ${shown} can't be evaluated: .*`)) as string),
  );
});

test("a start node requires no input", () => {
  expect(read({}, {}, { node: "start" })).toEqual({ input: {} });
});

test.each([
  ["a single key", ["x"], [], {}, 'Second needs "x", which no node has written.'],
  ["two keys", ["x", "y", "z"], [], { z: 1 }, 'Second needs "x", "y", which no node has written.'],
  [
    "a key of a skipped node",
    ["x"],
    ["a"],
    {},
    'Second needs "x", which no node has written. First would have written it, but was skipped.',
  ],
  [
    "a key of two skipped nodes",
    ["y"],
    ["a", "c"],
    {},
    'Second needs "y", which no node has written. First, c would have written it, but were skipped.',
  ],
  [
    "a key that no skipped node would write",
    ["z"],
    ["a", "c"],
    {},
    'Second needs "z", which no node has written.',
  ],
  ["a key that only the node writes", ["x"], ["b"], {}, 'Second needs "x", which no node has written.'],
])("a missing input error names its skipped writers: %s", (_what, input_keys, skipped, state, message) => {
  const { input, error } = read({ input_keys }, state, { skipped });
  expect({ input: {}, error }).toEqual(missing(message));
  expect(input).toEqual(state);
});

test("an unnamed node is called by its ID", () => {
  expect(read({ name: "", input_keys: ["z"] }, {}).error?.message).toBe(
    'b needs "z", which no node has written.',
  );
});

test("an input can be as large as the state, but not larger", () => {
  const fits = "x".repeat(1000 - sizeOf({ x: "" }));
  expect(read({ input_keys: ["x"] }, { x: fits })).toEqual({ input: { x: fits } });
  expect(read({ input_keys: ["x"] }, { x: `${fits}x` })).toEqual({
    input: {},
    error: {
      code: "TOO_LARGE",
      message:
        "The input of Second is too large: 1,001 characters; the maximum is 1,000 characters. Store less data: an excerpt, a summary or a file.",
      retryable: false,
      user_action: "edit_graph",
    },
  });
});
