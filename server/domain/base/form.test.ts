import { expect, test } from "vitest";
import { choicesOf, settingAt, withSetting } from "./form";

test("a field writes its key and leaves the others alone; nothing leaves the key out", () => {
  const budget = { tokens: 5, dollars: 1 };
  const settings = { name: "a", budget };
  expect(withSetting(settings, "name", "b")).toEqual({ name: "b", budget });
  expect(withSetting(settings, "name", undefined)).toStrictEqual({ budget });
  expect(withSetting(settings, "name", null)).toEqual({ name: null, budget });
  expect(settings).toEqual({ name: "a", budget: { tokens: 5, dollars: 1 } });
});

test("a field inside an object makes the object where it is missing, and an empty one goes", () => {
  const none: { budget?: { tokens?: number; dollars?: number } } = {};
  const some = withSetting(none, "budget.tokens", 5);
  expect(some).toEqual({ budget: { tokens: 5 } });
  expect(settingAt(some, "budget.tokens")).toBe(5);
  expect(settingAt(some, "budget.dollars")).toBeUndefined();
  expect(settingAt(none, "budget.tokens")).toBeUndefined();
  expect(withSetting(some, "budget.tokens", undefined)).toStrictEqual({});
});

test("what values are called makes choices in the order in which it is written", () => {
  expect(choicesOf({ chat: "Chat", text: { label: "Text", hint: "Plain" } })).toEqual([
    { value: "chat", label: "Chat" },
    { value: "text", label: "Text", hint: "Plain" },
  ]);
});
