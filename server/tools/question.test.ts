import { describe, expect, test } from "vitest";
import { aboutQuestion, howToAnswer, readAnswer } from "./question";

const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", description: "Who travels", minLength: 2 },
    age: { type: "integer", minimum: 0 },
    seat: { type: "string", enum: ["aisle", "window"], default: "aisle" },
    meal: { type: "boolean" },
  },
  required: ["name"],
};

describe("an answer in a person's words", () => {
  test.each([
    [
      "lines of names and values",
      "name: Ann\nage: 41\nmeal: yes",
      { name: "Ann", age: 41, seat: "aisle", meal: true },
    ],
    ["JSON", '{"name": "Ann", "seat": "window", "other": 1}', { name: "Ann", seat: "window" }],
    ["colons in a value", "name: Ann: the first", { name: "Ann: the first", seat: "aisle" }],
  ])("is read from %s", (_how, words, content) => {
    expect(readAnswer(SCHEMA, words)).toEqual({ ok: true, content });
  });

  test("is just the value where one thing is asked, and what was given where nothing was written", () => {
    const one = { properties: { city: { type: "string", default: "Rome" } } };
    expect(readAnswer(one, "Paris, or so: yes")).toEqual({
      ok: true,
      content: { city: "Paris, or so: yes" },
    });
    expect(readAnswer(one, " ")).toEqual({ ok: true, content: { city: "Rome" } });
    expect(readAnswer({ properties: { error: { type: "string" } } }, "error: none")).toEqual({
      ok: true,
      content: { error: "none" },
    });
    expect(readAnswer({}, "anything")).toMatchObject({ ok: false });
  });

  test.each([
    "",
    "age: 4",
    "name: A",
    "name: Ann\nage: old",
    "name: Ann\nage: -1",
    "name: Ann\nseat: roof",
    "Ann, 41",
    "name: Ann\nmeal: maybe",
  ])("is refused with a reason: %j", (words) => {
    const read = readAnswer(SCHEMA, words);
    expect(read.ok).toBe(false);
    expect(read.ok ? [] : read.errors.join()).not.toBe("");
  });

  test("what is asked is said field by field, and an address with its host", () => {
    expect(aboutQuestion({ from: "a", message: "b", schema: SCHEMA })).toEqual({
      name: "Who travels; string; needed",
      age: "integer; may be left out",
      seat: 'one of: aisle, window; given: "aisle"',
      meal: "boolean; may be left out",
    });
    const url = "https://pay.example/x?y=1";
    expect(aboutQuestion({ from: "a", message: "b", url })).toEqual({ host: "pay.example", address: url });
    expect(howToAnswer({ from: "a", message: "b", url })).toContain("Look at the host first");
    expect(howToAnswer({ from: "a", message: "b", schema: SCHEMA })).toContain("enter no password");
  });
});
