import { expect, test } from "vitest";
import { withoutKey, withoutUndefined } from "./objects";

test("undefined values are removed, and the others keep their order", () => {
  const settings = { name: "Ask", hint: undefined, retries: 0, default_output: null };
  expect(Object.entries(withoutUndefined(settings))).toEqual([
    ["name", "Ask"],
    ["retries", 0],
    ["default_output", null],
  ]);
  expect(Object.keys(settings)).toEqual(["name", "hint", "retries", "default_output"]);
});

test("removing a key copies the record and leaves the original unchanged", () => {
  const rules = { wf_1: 30, wf_2: 7 };
  expect(withoutKey(rules, "wf_1")).toEqual({ wf_2: 7 });
  expect(withoutKey(rules, "wf_3")).toEqual(rules);
  expect(rules).toEqual({ wf_1: 30, wf_2: 7 });
});
