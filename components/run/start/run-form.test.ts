import { expect, test } from "vitest";
import { readInput, takenFor, toField, toValues } from "@/components/forms/schema/input-fields";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { approvalGraph } from "../run-example";
import { exampleInput, inputFields, modelsAskedFor } from "./run-form";

const graph = WorkflowGraph.parse({
  graph_id: "g",
  start_node_id: "s",
  nodes: {
    s: {
      id: "s",
      node_type: "start",
      output_keys: ["topic", "words", "tags", "draft", "tone", "note"],
      config: {
        words: 200,
        input_schema: {
          type: "object",
          required: ["topic"],
          properties: {
            topic: { type: "string", title: "Topic", description: "What it is about", maxLength: 80 },
            words: { type: "integer" },
            draft: { type: "boolean", default: true },
            tone: { enum: ["dry", "warm"] },
          },
        },
      },
    },
  },
  edges: [],
  global_state_schema: { type: "object", properties: { tags: { type: "array" } } },
});

test("a start node asks for its keys with their types and defaults", () => {
  expect(
    inputFields(graph).map(({ key, as, isRequired, initial }) => [key, as, isRequired, initial]),
  ).toEqual([
    ["topic", "line", true, ""],
    ["words", "number", false, "200"],
    ["tags", "json", false, ""],
    ["draft", "switch", false, true],
    ["tone", "choice", false, ""],
    ["note", "any", false, ""],
  ]);
});

test("keys without a schema accept any value and are required", () => {
  expect(inputFields(approvalGraph)).toMatchObject([
    { key: "user_request", title: "User request", as: "any", isRequired: true, initial: "" },
  ]);
});

test("entered text becomes typed input", () => {
  const fields = inputFields(graph);
  const { input, errors } = readInput(fields, {
    topic: "Bees",
    words: "12",
    tags: '["a"]',
    draft: false,
    tone: "warm",
    note: "",
  });
  expect(errors).toEqual([]);
  expect(input).toEqual({ topic: "Bees", words: 12, tags: ["a"], draft: false, tone: "warm" });
});

test("an invalid value is reported at its field", () => {
  const { errors } = readInput(inputFields(graph), { topic: " ", words: "1.5", tags: "[", tone: "loud" });
  expect(errors).toEqual([
    { key: "topic", message: "Required." },
    { key: "words", message: "Enter a whole number." },
    { key: "tags", message: "Invalid JSON." },
    { key: "tone", message: "Choose one of the options." },
  ]);
});

test("a previous input loaded into the form is returned unchanged", () => {
  const fields = inputFields(graph);
  const input = { topic: "Bees", words: 3, tags: [1, { a: null }], draft: true, tone: "dry", note: "yes" };
  expect(readInput(fields, toValues(fields, input)).input).toEqual(input);
});

test("schema violations are reported before submission", () => {
  const fields = [{ key: "days", schema: { type: "integer", maximum: 7 }, required: true }].map(toField);
  expect(readInput(fields, { days: "8" }).errors).toEqual([
    { key: "days", message: "This must be at most 7." },
  ]);
});

test("a value of any type is edited as text or JSON and restored unchanged", () => {
  const fields = [
    { key: "a", schema: {}, required: false },
    { key: "b", schema: { type: ["string", "number"] }, required: false },
    { key: "c", schema: { anyOf: [{ type: "integer" }, { type: "null" }] }, required: false },
  ].map(toField);
  expect(fields.map(({ as }) => as)).toEqual(["any", "any", "number"]);
  for (const input of [{ a: "3", b: 3, c: 3 }, { a: "plain", b: "[x" }, { a: { deep: [1] } }, {}])
    expect(readInput(fields, toValues(fields, input)).input).toEqual(input);
  expect(readInput(fields, { b: "[1," }).errors).toHaveLength(1);
});

test("a field of any type shows how it interprets the text, and accepts every text", () => {
  const [field] = [{ key: "a", schema: {}, required: true }].map(toField);
  const read = (text: string) => [readInput([field!], { a: text }).input.a, takenFor(field!, text)];
  expect(read("5")).toEqual([5, "Read as a number. Use quotes for text."]);
  expect(read("2026-01-01")).toEqual(["2026-01-01", undefined]);
  expect(read('{"a": 1}')).toEqual([{ a: 1 }, "Read as an object with 1 field. Use quotes for text."]);
  expect(read("[1, 2]")).toEqual([[1, 2], "Read as a list of 2 items. Use quotes for text."]);
  expect(read("true")).toEqual([true, "Read as true or false. Use quotes for text."]);
  expect(read('"5"')).toEqual(["5", "Read as the text inside the quotes."]);
  expect(read("[urgent] call")).toEqual(["[urgent] call", "Read as text because this isn't valid JSON."]);
  expect(read('"Hello," she said')).toEqual([
    '"Hello," she said',
    "Read as text because this isn't valid JSON.",
  ]);
});

test("enum options show their titles, and multiple choices are checkboxes", () => {
  const titled = (values: string[]) => values.map((value) => ({ const: value, title: value.toUpperCase() }));
  const fields = [
    { key: "one", schema: { oneOf: titled(["a", "b"]) }, required: true },
    { key: "named", schema: { enum: [1, 2], enumNames: ["first", "second"] }, required: false, default: 2 },
    {
      key: "some",
      schema: { type: "array", items: { anyOf: titled(["x", "y"]) } },
      required: true,
      default: ["y"],
    },
    { key: "none", schema: { type: "array", items: { enum: ["z"] } }, required: false },
  ].map(toField);
  expect(fields.map(({ as, initial, options }) => [as, initial, options?.map(({ title }) => title)])).toEqual(
    [
      ["choice", "", ["A", "B"]],
      ["choice", "2", ["first", "second"]],
      ["choices", ["y"], ["X", "Y"]],
      ["choices", [], ["z"]],
    ],
  );
  expect(readInput(fields, { one: "b", some: ["x", "y"] }).input).toEqual({
    one: "b",
    named: 2,
    some: ["x", "y"],
  });
});

test("the models that a workflow will call are known before a run", () => {
  expect(modelsAskedFor(graph)).toEqual([]);
  expect(modelsAskedFor(approvalGraph)).toEqual([{ provider_id: null, model: null }]);
});

test("a workflow suggests inputs from the examples in its schema", () => {
  const suggested = structuredClone(graph);
  Object.assign(suggested.nodes.s!.config as object, {
    input_schema: {
      type: "object",
      properties: {
        topic: { type: "string", examples: ["Bees"] },
        parts: { type: "array", items: { type: "string" }, examples: [["Life", "Work"]] },
        note: { type: "string" },
      },
    },
  });
  const example = { topic: "Bees", parts: ["Life", "Work"] };
  expect(exampleInput(suggested)).toEqual(example);
  const fields = inputFields(suggested);
  expect(readInput(fields, toValues(fields, example))).toMatchObject({ input: example, errors: [] });
});
