import { expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { type Choice, choicesOf, fieldsOfSchema } from "./form-fields";
import { WorkflowGraph } from "./graph";
import { errorsByKey, fieldError, findInputErrors } from "./input-check";
import { graphOfNode, singleNodeError } from "./only-node";
import { inputFields, inputSchema, startingState } from "./run-input";

const withInput = (start: object) =>
  draw("start > a > end", { start: { node_type: "start", config: {}, ...start } });

const schema = {
  type: "object",
  required: ["name", "age"],
  properties: {
    name: { type: "string", minLength: 2 },
    age: { type: "integer", default: 30 },
    tags: { $ref: "#/$defs/tags" },
  },
  $defs: { tags: { type: "array", items: { type: "string" } } },
};
const asked = withInput({ output_keys: ["name", "note"], config: { input_schema: schema } });

test("a run asks for the start node's outputs and the keys of its input schema", () => {
  expect(inputFields(asked)).toEqual([
    { key: "name", schema: { type: "string", minLength: 2 }, around: schema, required: true },
    { key: "note", schema: {}, required: false },
    { key: "age", schema: { type: "integer", default: 30 }, around: schema, required: false, default: 30 },
    { key: "tags", schema: { $ref: "#/$defs/tags" }, around: schema, required: false },
  ]);
  expect(inputSchema(asked)).toEqual(schema);
});

test("without an input schema, a run asks for every start output as the state schema describes it", () => {
  const graph = withInput({ output_keys: ["a", "b", "c"], config: { b: 7 } });
  graph.global_state_schema = {
    properties: { a: { type: "string" }, c: { default: "see" }, d: { default: 4 } },
  };
  expect(inputFields(graph)).toEqual([
    { key: "a", schema: { type: "string" }, around: graph.global_state_schema, required: true },
    { key: "b", schema: {}, required: false, default: 7 },
    {
      key: "c",
      schema: { default: "see" },
      around: graph.global_state_schema,
      required: false,
      default: "see",
    },
  ]);
  expect(startingState(graph, { a: "x", c: null })).toEqual({
    state: { a: "x", b: 7, c: null, d: 4 },
    defaults: ["d", "b"],
  });
  expect(startingState(graph, {})).toEqual({
    state: { b: 7, c: "see", d: 4 },
    defaults: ["c", "d", "b"],
  });
});

test("a workflow without a start node asks for no input", () => {
  const graph = { ...draw("a > end"), start_node_id: undefined };
  expect(inputFields(graph)).toEqual([]);
  expect(inputSchema(graph)).toBeUndefined();
  expect(startingState(graph, { x: 1 })).toEqual({ state: { x: 1 }, defaults: [] });
});

test.each([
  [{ name: "Ada" }, []],
  [{ name: "Ada", age: 3, tags: ["a"] }, []],
  [{ name: "Ada", age: null, tags: null, note: [1] }, []],
  [{}, [["name", "Required."]]],
  [{ name: null }, [["name", "Required."]]],
  [{ name: "A" }, [["name", "This must have at least 2 characters."]]],
  [{ name: "Ada", tags: ["a", 1] }, [["tags", "This doesn't match: 1: must be text, not a number."]]],
  [
    { "no key": 1, name: "A", age: "x" },
    [
      ["no key", "Invalid key: use letters, digits and _."],
      ["name", "This must have at least 2 characters."],
      ["age", "This must be a whole number, not text."],
    ],
  ],
])("errors in run input are reported by key: %j", (input, errors) => {
  expect(findInputErrors(asked, input).map(({ key, message }) => [key, message])).toEqual(errors);
});

test("constraints between keys are checked once every key is valid", () => {
  const between = { ...schema, dependentRequired: { tags: ["note"] }, minProperties: 3 };
  const graph = withInput({ output_keys: ["note"], config: { input_schema: between } });
  const errorsOf = (input: Record<string, string | string[]>) => findInputErrors(graph, input);
  expect(errorsOf({ name: "A", tags: ["a"] })).toEqual([
    { key: "name", message: "This must have at least 2 characters." },
  ]);
  // Its age is there by its default.
  expect(errorsOf({ name: "Ada", tags: ["a"] })).toEqual([
    { key: "note", message: 'This is missing, as "tags" is given.' },
  ]);
  expect(errorsOf({ name: "Ada" })).toEqual([{ key: "", message: "This must have at least 3 keys." }]);
  expect(errorsByKey([])).toEqual([]);
  expect(fieldError({ schema: {} }, 1)).toBeUndefined();
});

test.each([
  ["gone", "This node isn't in the workflow."],
  ["note", "Notes can't run."],
  ["start", "A start node can't run alone. Run the workflow instead."],
  ["end", "An end node can't run alone. Run the workflow instead."],
])("the node %s can't run alone", (id, error) => {
  const graph = draw("start > a > end; note > end", { note: { node_type: "note", config: { text: "n" } } });
  expect([singleNodeError(graph, id), graphOfNode(graph, id)]).toEqual([error, null]);
});

test("a single-node run starts with the node's inputs and ends after it", () => {
  const graph = draw("start > a > b > end; a !> c > end", {
    a: {
      node_type: "transform",
      join: "any",
      input_keys: ["x", "y"],
      optional_input_keys: ["y", "z"],
      config: { set: { a: "state.x" } },
    },
  });
  graph.global_state_schema = { properties: { x: { type: "number" }, other: {} } };
  const alone = graphOfNode(graph, "a");
  expect(singleNodeError(graph, "a")).toBeNull();
  expect(
    alone?.edges.map(({ source_node_id, target_node_id, kind }) => [source_node_id, target_node_id, kind]),
  ).toEqual([
    ["before_a", "a", "normal"],
    ["a", "after_a", "normal"],
    ["a", "after_a", "error"],
  ]);
  expect(alone?.start_node_id).toBe("before_a");
  expect(Object.keys(alone?.nodes ?? {})).toEqual(["before_a", "a", "after_a"]);
  expect(alone?.nodes.a?.join).toBe("all");
  expect(alone?.nodes.before_a?.output_keys).toEqual(["x", "y", "z"]);
  expect(alone?.nodes.before_a?.config).toEqual({
    input_schema: {
      type: "object",
      required: ["x", "y"],
      properties: { x: { type: "number" }, y: {}, z: {} },
    },
  });
});

test("a single-node run adds a missing outgoing edge, except for routers", () => {
  const graph = draw("start > r; r yes> a; a !> end");
  const edgesOf = (id: string) =>
    graphOfNode(graph, id)?.edges.map(({ id: edge, kind, edge_label }) => [edge, kind, edge_label ?? null]);
  expect(edgesOf("a")).toEqual([
    ["only_in", "normal", null],
    ["e2", "error", null],
    ["only_out", "normal", null],
  ]);
  expect(edgesOf("r")).toEqual([
    ["only_in", "normal", null],
    ["e1", "normal", "yes"],
  ]);
});

test("a form has a field for each property of its schema", () => {
  expect(
    fieldsOfSchema({
      required: ["a"],
      properties: { a: { type: "string" }, b: { default: false }, c: true },
    }),
  ).toEqual([
    { key: "a", schema: { type: "string" }, required: true },
    { key: "b", schema: { default: false }, required: false, default: false },
    { key: "c", schema: {}, required: false },
  ]);
  expect([fieldsOfSchema({}), fieldsOfSchema({ properties: [], required: "a" })]).toEqual([[], []]);
});

test.each<[object, Choice[] | undefined]>([
  [
    { enum: ["a", 1, null] },
    [
      { value: "a", title: "a" },
      { value: 1, title: "1" },
      { value: null, title: "null" },
    ],
  ],
  [
    { enum: ["a", "b", "c"], enumNames: ["A", "", 3] },
    [
      { value: "a", title: "A" },
      { value: "b", title: "b" },
      { value: "c", title: "c" },
    ],
  ],
  [
    { oneOf: [{ const: 1, title: "One" }, { const: "two" }] },
    [
      { value: 1, title: "One" },
      { value: "two", title: "two" },
    ],
  ],
  [{ anyOf: [{ const: null, title: "" }] }, [{ value: null, title: "null" }]],
  [{ oneOf: [], anyOf: [{ const: 1 }] }, [{ value: 1, title: "1" }]],
  [{ oneOf: [{ const: 1 }, { type: "string" }], enum: ["e"] }, [{ value: "e", title: "e" }]],
  [{ oneOf: [{ const: 1 }, "text"] }, undefined],
  [{ enum: [] }, undefined],
  [{ enum: "a" }, undefined],
  [{ type: "string" }, undefined],
])("a field offers its schema's choices with their titles: %j", (field, expected) => {
  expect(choicesOf(JSON.parse(JSON.stringify(field)) as Parameters<typeof choicesOf>[0])).toEqual(expected);
});

test("a single-node run asks for every key that the node's templates and expressions read", () => {
  const graph = draw("start > t > a > r > end", {
    t: {
      node_type: "transform",
      when: "state.enabled",
      output_mapping: { total: "output.total + state.fee" },
      config: { set: { total: "state.amount * 2 + state.?discount.orValue(0)" } },
    },
    a: {
      node_type: "agent_task",
      input_keys: ["topic"],
      config: { task_description_template: 'On {{topic}} for {{reader}} in {{style | default: "plain"}}' },
    },
    r: {
      node_type: "conditional_router",
      input_mapping: { score: "state.points" },
      config: { kind: "value", value: "input.score > state.limit" },
    },
  });
  const asked = (id: string) =>
    inputFields(graphOfNode(graph, id) ?? graph).map(({ key, required }) => `${key}${required ? "" : "?"}`);
  expect(asked("t")).toEqual(["amount", "enabled", "fee", "discount?"]);
  expect(asked("a")).toEqual(["topic", "reader", "style?"]);
  expect(asked("r")).toEqual(["points", "limit"]);
});

test("a map runs alone with the group that it runs", () => {
  const graph = WorkflowGraph.parse({
    ...draw("start > m > end; a > b", {
      m: {
        node_type: "map",
        config: { items: "[1]", node: "body", input: { n: "item" } },
        output_keys: ["all"],
      },
    }),
    groups: [{ id: "body", node_ids: ["a", "b"] }],
  });
  const alone = graphOfNode(graph, "m");
  expect(Object.keys(alone?.nodes ?? {})).toEqual(["before_m", "m", "a", "b", "after_m"]);
  expect(alone?.groups?.map(({ id }) => id)).toEqual(["body"]);
  expect(
    alone?.edges.map(({ source_node_id, target_node_id }) => [source_node_id, target_node_id]),
  ).toContainEqual(["a", "b"]);
});
