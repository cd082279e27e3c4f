import { expect, test } from "vitest";
import { parseText } from "./text-files";

test("a duplicate key is rejected with its location, even if nested", () => {
  expect(parseText("a: 1\nb: 2\na: 3\n")).toEqual({
    error: "Invalid YAML: line 3, column 1: Map keys must be unique",
  });
  expect(parseText("list:\n  - x: 1\n    x: 2\n")).toEqual({
    error: "Invalid YAML: line 3, column 5: Map keys must be unique",
  });
  expect(parseText("a: 1\nb: { a: 1 }\n")).toEqual({ value: { a: 1, b: { a: 1 } } });
});

test("many keys are parsed in linear time", () => {
  const text = Array.from({ length: 11_000 }, (_, at) => `k${at}: 1\n`).join("");
  expect(parseText(text)).toMatchObject({ value: { k10999: 1 } });
});
