import { describe, expect, test } from "vitest";
import { fieldsOfSchema } from "@/server/domain/graph/form-fields";
import { answerErrors, checkAnswer, questionError, typedTexts } from "./tool-question";

const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 2 },
    mail: { type: "string", format: "email" },
    age: { type: "integer", minimum: 0 },
    seat: { type: "string", enum: ["aisle", "window"], default: "aisle" },
    meals: {
      type: "array",
      minItems: 1,
      maxItems: 2,
      items: { anyOf: ["soup", "rice", "cake"].map((meal) => ({ const: meal, title: meal.toUpperCase() })) },
    },
    quiet: { type: "boolean" },
  },
  required: ["name"],
};
const asks = { from: "travel", message: "For whom?", schema: SCHEMA };

describe("an answer to a form", () => {
  test("an answer gets the defaults of its form, but not for fields set to null", () => {
    const full = { name: "Ann", mail: "ann@example.org", age: 41, meals: ["soup", "cake"], quiet: false };
    expect(checkAnswer(SCHEMA, full)).toEqual({ ok: true, content: { ...full, seat: "aisle" } });
    expect(checkAnswer(SCHEMA, { name: "Ann", seat: null, age: null })).toEqual({
      ok: true,
      content: { name: "Ann" },
    });
    expect(checkAnswer({}, {})).toEqual({ ok: true, content: {} });
  });

  test.each([
    ["name", {}, "Required."],
    ["name", { name: null }, "Required."],
    ["name", { name: "A" }, "2"],
    ["mail", { name: "Ann", mail: "ann" }, "email"],
    ["age", { name: "Ann", age: "old" }, "number"],
    ["age", { name: "Ann", age: -1 }, "0"],
    ["seat", { name: "Ann", seat: "roof" }, "aisle"],
    ["meals", { name: "Ann", meals: [] }, "1"],
    ["meals", { name: "Ann", meals: ["stone"] }, ""],
    ["other", { name: "Ann", other: 1 }, "Unknown field"],
  ])("an answer is rejected at the invalid field: %s in %j", (key, content, text) => {
    const read = checkAnswer(SCHEMA, content);
    expect(read.ok ? [] : read.errors).toEqual([{ key, message: expect.stringContaining(text) }]);
  });
});

test("only an approved form has content in its answer", () => {
  const form = { kind: "question", asks } as const;
  const page = { kind: "question", asks: { from: "a", message: "b", url: "https://a.example/" } } as const;
  const call = { kind: "tool_confirmation" } as const;
  const content = { name: "Ann" };
  expect(answerErrors(form, { answer: "approve", content })).toEqual([]);
  expect(answerErrors(form, { answer: "reject" })).toEqual([]);
  expect(answerErrors(form, { answer: "cancel" })).toEqual([]);
  expect(answerErrors(page, { answer: "approve" })).toEqual([]);
  expect(answerErrors(call, { answer: "approve_always" })).toEqual([]);
  expect(answerErrors(form, { answer: "approve" })).toMatchObject([{ key: "name" }]);
  expect(answerErrors(form, { answer: "approve_always", content })).toMatchObject([{ key: "answer" }]);
  for (const [asked, answer] of [
    [form, "reject"],
    [page, "approve"],
    [call, "approve"],
  ] as const)
    expect(answerErrors(asked, { answer, content })).toMatchObject([{ key: "content" }]);
  expect(answerErrors(call, { answer: "cancel" })).toMatchObject([{ key: "answer" }]);
  for (const answer of ["chosen", "given"] as const)
    expect(answerErrors(form, { answer })).toMatchObject([{ key: "answer" }]);
  expect(answerErrors(form, { answer: "approve", content: { name: "x".repeat(70_000) } })).toMatchObject([
    { key: "content" },
  ]);
});

test("a question with an unsupported form or a URL that is not a web URL is rejected", () => {
  expect(questionError({})).toBeNull();
  expect(questionError({ schema: SCHEMA })).toBeNull();
  expect(questionError({ url: "https://pay.example/x" })).toBeNull();
  for (const url of ["javascript:alert(1)", "xhttp://a", "a.example", ""])
    expect(questionError({ url })).toContain("to open a URL that is not a web URL");
  expect(questionError({ schema: { properties: { deep: { type: "object" } } } })).toContain("“deep”");
  expect(questionError({ schema: { properties: { any: { type: "array", items: {} } } } })).toContain("“any”");
  const many = Object.fromEntries(Array.from({ length: 51 }, (_none, at) => [`f${at}`, { type: "string" }]));
  expect(questionError({ schema: { properties: many } })).toContain("more than 50");
  const { f50: _last, ...most } = many;
  expect(questionError({ schema: { properties: most } })).toBeNull();
  const described = (length: number) => questionError({ schema: { description: "x".repeat(length) } });
  const limit = 64 * 1024 - JSON.stringify({ description: "" }).length;
  expect(described(limit)).toBeNull();
  expect(described(limit + 1)).toContain("too large");
});

test("only texts that a person typed count as their words, not defaults and options from the server", () => {
  const schema = {
    properties: {
      to: { type: "string" },
      via: { type: "string", default: "evil.example" },
      seat: { enum: ["a"] },
    },
  };
  const content = { to: "bob@example.org", via: "evil.example", seat: "a" };
  expect(typedTexts({ ...asks, schema }, content)).toEqual(["bob@example.org"]);
  expect(typedTexts({ ...asks, schema }, { to: 1 })).toEqual([]);
  expect(typedTexts({ from: "a", message: "b" }, content)).toEqual([]);
  expect(fieldsOfSchema(schema).map(({ key, default: preset }) => [key, preset])).toEqual([
    ["to", undefined],
    ["via", "evil.example"],
    ["seat", undefined],
  ]);
});
