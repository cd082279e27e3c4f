import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { isSameJson, parseJson } from "@/server/domain/base/json";
import { asSchema } from "@/server/domain/base/json-schema";
import type { JsonObject, JsonSchema } from "@/server/domain/base/values";
import {
  choicesError,
  choicesOfText,
  newRow,
  presetError,
  readSchema,
  unlistedKeywords,
  withType,
  writeSchema,
} from "./schema-rows";

const rowsOf = (schema: JsonSchema | undefined) => {
  const { rows, reason } = readSchema(schema);
  expect(reason).toBeNull();
  return rows ?? [];
};
const thereAndBack = (schema: JsonSchema) => writeSchema(rowsOf(schema), schema);
const typesOf = (properties: JsonObject) =>
  rowsOf({ type: "object", properties }).map(({ name, type }) => [name, type]);

describe("schema rows", () => {
  test("each property has a familiar type name", () => {
    expect(
      typesOf({
        verdict: { type: "string", enum: ["yes", "no"], description: "The decision" },
        tone: { enum: ["dry", "warm"] },
        score: { type: "number" },
        count: { type: "integer" },
        done: { type: "boolean" },
        notes: { type: "array", items: { type: "string" } },
        lists: { type: "array" },
        more: { type: "object" },
        whatever: {},
      }),
    ).toEqual([
      ["verdict", "choice"],
      ["tone", "choice"],
      ["score", "number"],
      ["count", "integer"],
      ["done", "boolean"],
      ["notes", "texts"],
      ["lists", "array"],
      ["more", "object"],
      ["whatever", "any"],
    ]);
  });

  test("a schema with a title, a default or additionalProperties is shown as rows and keeps them", () => {
    const schema = {
      type: "object",
      title: "Request",
      additionalProperties: false,
      properties: {
        user_request: { type: "string", title: "Request", description: "What is asked", minLength: 1 },
        days: { type: "integer", default: 3, "x-reducer": "last" },
        code: { default: "3" },
        none: { type: "string", default: "", description: "" },
      },
      required: ["user_request", "described_elsewhere"],
    };
    expect(thereAndBack(schema)).toEqual(schema);
    expect(unlistedKeywords(schema)).toEqual(["title", "additionalProperties"]);
  });

  test("a property of an unsupported type is a JSON row, and the others stay rows", () => {
    const properties = {
      a: { type: ["string", "null"] },
      b: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
      c: { enum: [1, 2] },
      d: { $ref: "#/$defs/d", description: "by reference" },
      e: true,
      f: { type: "string" },
      g: { enum: ["two\nlines"] },
    };
    expect(typesOf(properties).filter(([, type]) => type !== "json")).toEqual([["f", "string"]]);
    const schema = { type: "object", properties, $defs: { d: {} } };
    expect(thereAndBack(schema)).toEqual(schema);
  });

  test("a schema that isn't an object with properties is JSON as a whole, with the reason", () => {
    for (const schema of [{ type: "array" }, { properties: [] }, { type: "object", required: "a" }]) {
      const { rows, reason } = readSchema(schema);
      expect(rows).toBeNull();
      expect(reason).toMatch(/^Shown as JSON because it/);
    }
  });

  test("converting a schema to rows and back loses nothing", () => {
    const property = fc.oneof(
      fc.record(
        {
          type: fc.constantFrom("string", "number", "integer", "boolean", "array", "object", "null", [
            "string",
          ]),
          description: fc.string(),
          default: fc.jsonValue(),
          enum: fc.array(fc.jsonValue(), { maxLength: 3 }),
          items: fc.constantFrom({ type: "string" }, { type: "number" }, true),
          title: fc.string(),
        },
        { requiredKeys: [] },
      ),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string(), property, { noNullPrototype: true }), (properties) => {
        const schema = asSchema(parseJson(JSON.stringify({ type: "object", properties })));
        const written = thereAndBack(schema) ?? { type: "object", properties: {} };
        expect(isSameJson(written, schema)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test("the schemas of built-in roles are rows without JSON", () => {
    const shown = builtinRoles.flatMap(({ output_schema }) => (output_schema ? [rowsOf(output_schema)] : []));
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.flat().filter(({ type }) => type === "json")).toEqual([]);
  });

  test("empty rows yield no schema unless the schema has other keywords", () => {
    expect(readSchema(undefined)).toEqual({ rows: [], reason: null });
    expect(writeSchema([], { type: "object", properties: { a: {} } })).toBeUndefined();
    expect(writeSchema([], { type: "object", title: "T" })).toEqual({
      type: "object",
      title: "T",
      properties: {},
    });
  });
});

describe("a schema row", () => {
  const written = (row: ReturnType<typeof newRow>) =>
    (writeSchema([row])?.properties as Record<string, unknown>)[row.name];

  test("a row becomes an enum when it has options, and text again without them", () => {
    const choice = withType({ ...newRow("tone"), description: "How" }, "choice");
    expect(written(choice)).toEqual({ type: "string", enum: ["yes", "no"], description: "How" });
    expect(written(withType(choice, "string"))).toEqual({ type: "string", description: "How" });
  });

  test("a row becomes JSON with all its keywords", () => {
    const row = { ...newRow("n"), type: "integer" as const, preset: "3", rest: { minimum: 1 } };
    expect(written(withType(row, "json"))).toEqual({ type: "integer", default: 3, minimum: 1 });
  });

  test("a former JSON row keeps all keywords except its type", () => {
    const json = { type: ["string", "null"], description: "Who", default: "me", "x-reducer": "first" };
    const [row] = rowsOf({ type: "object", properties: { who: json } });
    expect(written(withType(row!, "string"))).toEqual({ ...json, type: "string" });
  });

  test("a row rejects a default of the wrong type", () => {
    expect(presetError({ preset: "abc", type: "number" })).toBe("Enter a number.");
    expect(presetError({ preset: "12", type: "integer" })).toBeNull();
    expect(presetError({ preset: "[1]", type: "texts" })).toBe('Enter a JSON array of strings: ["…"]');
    expect(presetError({ preset: "loud", type: "choice", choices: ["dry"] })).toBe(
      "Enter one of the options.",
    );
  });

  test("a row rejects empty or duplicate options", () => {
    expect(choicesOfText("dry\n\n warm, soft ")).toEqual(["dry", "warm, soft"]);
    expect(choicesError(" \n")).toBe("Enter at least one option.");
    expect(choicesError("a\na")).toBe("Each option must be unique.");
    expect(choicesError("a\nb")).toBeNull();
  });
});
