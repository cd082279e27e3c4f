import { expect, test } from "vitest";
import { argumentFields, readInput } from "@/components/forms/schema/input-fields";
import { describeType, parametersOf } from "@/components/forms/schema/schema-labels";

const schema = {
  type: "object",
  properties: {
    query: { type: "string", description: "What to look for" },
    count: { type: "integer", minimum: 1, maximum: 10, default: 5 },
    scope: { type: "string", enum: ["run", "global"] },
    deep: { type: "boolean" },
    filters: {
      type: "array",
      items: { type: "object", properties: { field: { type: "string" } }, required: ["field"] },
    },
  },
  required: ["query", "count"],
};

test("a schema is listed in plain language, with nested fields below their parent", () => {
  expect(
    parametersOf(schema).map(({ name, depth, type, required }) => [name, depth, type, required]),
  ).toEqual([
    ["query", 0, "Text", true],
    ["count", 0, "Whole number from 1 to 10", true],
    ["scope", 0, "One of run, global", false],
    ["deep", 0, "Yes or no", false],
    ["filters", 0, "List of object", false],
    ["field", 1, "Text", true],
  ]);
  expect(parametersOf(schema)[1]?.standard).toBe("5");
});

test("unusual schemas are described, and deep nesting is cut off", () => {
  expect(describeType({ anyOf: [{ type: "string" }, { type: "null" }] })).toBe("Text or nothing");
  expect(describeType({ type: ["number", "string"] })).toBe("Number or Text");
  expect(describeType({})).toBe("Anything");
  const endless: { type: string; properties: Record<string, unknown> } = { type: "object", properties: {} };
  endless.properties.again = {
    type: "object",
    properties: {
      x: {
        type: "object",
        properties: { y: { type: "object", properties: { z: { type: "object", properties: { w: {} } } } } },
      },
    },
  };
  expect(Math.max(...parametersOf(endless as never).map(({ depth }) => depth))).toBe(3);
});

test("entered text becomes typed arguments, and empty fields are omitted", () => {
  const fields = argumentFields(schema);
  expect(
    readInput(fields, { query: "crews", count: "3", deep: "true", scope: "", filters: '[{"field":"a"}]' }),
  ).toEqual({
    errors: [],
    input: { query: "crews", count: 3, deep: true, filters: [{ field: "a" }] },
  });
});

test("invalid arguments are reported at their field, and fields with a default may stay empty", () => {
  expect(readInput(argumentFields(schema), { count: "2.5", filters: "[" })).toEqual({
    input: {},
    errors: [
      { key: "query", message: "Required." },
      { key: "count", message: "Enter a whole number." },
      { key: "filters", message: "Invalid JSON." },
    ],
  });
  expect(readInput(argumentFields(schema), { query: "x", count: "" }).input).toEqual({ query: "x" });
  expect(readInput(argumentFields(schema), { query: "x", count: "11" }).errors).toEqual([
    { key: "count", message: "This must be at most 10." },
  ]);
});
