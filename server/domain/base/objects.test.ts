import { expect, test } from "vitest";
import { withoutKey, withoutUndefined } from "./objects";

test("what is undefined is taken away, all else stays as it was and in its order", () => {
  const settings = { name: "Ask", hint: undefined, retries: 0, default_output: null };
  expect(Object.entries(withoutUndefined(settings))).toEqual([
    ["name", "Ask"],
    ["retries", 0],
    ["default_output", null],
  ]);
  expect(Object.keys(settings)).toEqual(["name", "hint", "retries", "default_output"]);
});

test("a record without a key has all others, and the one it was made from has it still", () => {
  const rules = { wf_1: 30, wf_2: 7 };
  expect(withoutKey(rules, "wf_1")).toEqual({ wf_2: 7 });
  expect(withoutKey(rules, "wf_3")).toEqual(rules);
  expect(rules).toEqual({ wf_1: 30, wf_2: 7 });
});
