import { expect, test } from "vitest";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { fromFields, toFields } from "./simple-schema";

test("a schema that fields can show comes back the same", () => {
  const schema = {
    type: "object",
    properties: {
      verdict: { type: "string", enum: ["yes", "no"], description: "The decision" },
      score: { type: "number" },
      count: { type: "integer" },
      done: { type: "boolean" },
      notes: { type: "array", items: { type: "string" } },
      more: { type: "object" },
    },
    required: ["verdict", "score"],
  };
  expect(fromFields(toFields(schema)!)).toEqual(schema);
});

test("the schemas of the roles that come along can be edited as fields", () => {
  const shown = builtinRoles.flatMap(({ output_schema }) => (output_schema ? [toFields(output_schema)] : []));
  expect(shown.length).toBeGreaterThan(0);
  expect(shown).not.toContain(null);
});

test("what fields cannot show is left to JSON", () => {
  for (const schema of [
    { type: "string" },
    { type: "object", properties: { a: { type: "string", minLength: 3 } } },
    { type: "object", properties: { a: { type: "array", items: { type: "number" } } } },
    { type: "object", properties: {}, allOf: [] },
    { type: "object", properties: { a: { anyOf: [] } } },
  ])
    expect(toFields(schema)).toBeNull();
});

test("no fields, no schema", () => {
  expect(toFields(undefined)).toEqual([]);
  expect(fromFields([])).toBeUndefined();
});
