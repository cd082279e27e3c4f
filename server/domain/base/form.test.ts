import { expect, test } from "vitest";
import { choicesOf, settingAt, withSetting } from "./form";

test("setting a field keeps other keys, and undefined removes the key", () => {
  const budget = { tokens: 5, dollars: 1 };
  const settings = { name: "a", budget };
  expect(withSetting(settings, "name", "b")).toEqual({ name: "b", budget });
  expect(withSetting(settings, "name", undefined)).toStrictEqual({ budget });
  expect(withSetting(settings, "name", null)).toEqual({ name: null, budget });
  expect(settings).toEqual({ name: "a", budget: { tokens: 5, dollars: 1 } });
});

test("setting a nested field creates its parent, and clearing it removes an empty parent", () => {
  const none: { budget?: { tokens?: number; dollars?: number } } = {};
  const some = withSetting(none, "budget.tokens", 5);
  expect(some).toEqual({ budget: { tokens: 5 } });
  expect(settingAt(some, "budget.tokens")).toBe(5);
  expect(settingAt(some, "budget.dollars")).toBeUndefined();
  expect(settingAt(none, "budget.tokens")).toBeUndefined();
  expect(withSetting(some, "budget.tokens", undefined)).toStrictEqual({});
});

test("choices keep the order of their labels", () => {
  expect(choicesOf({ chat: "Chat", text: { label: "Text", hint: "Plain" } })).toEqual([
    { value: "chat", label: "Chat" },
    { value: "text", label: "Text", hint: "Plain" },
  ]);
});
