import { expect, test } from "vitest";
import { withoutUndefined } from "./objects";

test("what is undefined is taken away, all else stays as it was and in its order", () => {
  const settings = { name: "Ask", hint: undefined, retries: 0, default_output: null };
  expect(Object.entries(withoutUndefined(settings))).toEqual([
    ["name", "Ask"],
    ["retries", 0],
    ["default_output", null],
  ]);
  expect(Object.keys(settings)).toEqual(["name", "hint", "retries", "default_output"]);
});
