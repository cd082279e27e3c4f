import { expect, test } from "vitest";
import { writeChoice } from "./choice";
import { readChoice } from "./read-choice";

test("a palette drag restores its node type with all default settings", () => {
  const choice = { type: "agent_task", config: { required_role: "Critic" }, name: "Critic" } as const;
  expect(readChoice(writeChoice(choice))).toEqual({
    ...choice,
    config: { required_role: "Critic", task_description_template: "", guardrails: [] },
  });
});

test("a drag from outside yields no unknown node type and no invalid settings", () => {
  expect(readChoice("Hello")).toBeNull();
  expect(readChoice('{"type":"shell"}')).toBeNull();
  expect(readChoice('{"type":"note","config":{"text":{"a":1}}}')).toBeNull();
  expect(readChoice('{"type":"wait","config":{"ms":5,"more":1},"name":7}')).toEqual({
    type: "wait",
    config: { ms: 5 },
  });
});
