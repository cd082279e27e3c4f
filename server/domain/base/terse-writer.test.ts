import { expect, test } from "vitest";
import { z } from "zod";
import { writeFields, writeTersely } from "./terse-writer";

const schema = z.object({
  id: z.string(),
  on: z.boolean().default(true),
  note: z.string().nullable().optional(),
  kept: z.string().nullable().default(null),
  any: z.json().optional(),
  list: z.array(z.object({ n: z.number().default(0) })).optional(),
  by: z.record(z.string(), z.object({ n: z.number().default(0) })).optional(),
  one: z.union([z.object({ kind: z.literal("a"), n: z.number().default(1) }), z.string()]).optional(),
  read: z.preprocess((value) => value, z.object({ n: z.number().default(0) })).optional(),
  made: z
    .object({ n: z.number().default(0) })
    .transform((value) => value)
    .optional(),
});

test.each([
  [{ id: "x", on: true }, { id: "x" }],
  [
    { on: false, id: "x" },
    { id: "x", on: false },
  ],
  [
    { id: "x", note: null, kept: null, any: null },
    { id: "x", any: null },
  ],
  [
    { id: "x", note: "n", kept: "k", any: { b: 1 } },
    { id: "x", note: "n", kept: "k", any: { b: 1 } },
  ],
  [
    { id: "x", note: undefined, more: 1, nothing: undefined },
    { id: "x", more: 1 },
  ],
  [
    { id: "x", list: [{ n: 0 }, { n: 1 }] },
    { id: "x", list: [{}, { n: 1 }] },
  ],
  [
    { id: "x", by: { a: { n: 0 }, b: { n: 2 } } },
    { id: "x", by: { a: {}, b: { n: 2 } } },
  ],
  [
    { id: "x", one: { kind: "a", n: 1 } },
    { id: "x", one: { kind: "a" } },
  ],
  [
    { id: "x", one: "text" },
    { id: "x", one: "text" },
  ],
  [
    { id: "x", read: { n: 0 }, made: { n: 0 } },
    { id: "x", read: {}, made: {} },
  ],
  // What does not fit its schema stays as it is.
  [
    { id: "x", list: "text", by: [1], one: 5 },
    { id: "x", list: "text", by: [1], one: 5 },
  ],
  ["text", "text"],
  [null, null],
])("%j is written as %j", (value, expected) => {
  expect(writeTersely(schema, value)).toEqual(expected);
});

test("keys are written in schema order, followed by unknown keys", () => {
  const value = { more: 1, on: false, id: "x" };
  expect(Object.keys(writeFields(schema, value))).toEqual(["id", "on", "more"]);
});

test("parsing the terse form restores the value", () => {
  const read = schema.parse({ id: "x", list: [{}, { n: 3 }], one: { kind: "a" }, note: null });
  expect(schema.parse(writeTersely(schema, read))).toEqual({ ...read, note: undefined });
});

test("a union value is written with the first option that restores it", () => {
  const choice = z.union([z.object({ n: z.number().default(1) }), z.object({ m: z.number().default(2) })]);
  expect(writeTersely(choice, { n: 1 })).toEqual({});
  expect(writeTersely(choice, { m: 2 })).toEqual({});
  expect(writeTersely(choice, { m: 3 })).toEqual({ m: 3 });
});

test("null and undefined are written unchanged", () => {
  const optional = z.object({ n: z.number().default(0) }).nullable();
  expect(writeTersely(optional, null)).toBeNull();
  expect(writeTersely(optional, undefined)).toBeUndefined();
  expect(writeTersely(optional, { n: 0 })).toEqual({});
});
