import { expect, test } from "vitest";
import { writeChoice } from "./choice";
import { readChoice } from "./read-choice";

test("what the palette writes into a drag is read again, with all settings that have a standard", () => {
  const choice = { type: "agent_task", config: { required_role: "Critic" }, name: "Critic" } as const;
  expect(readChoice(writeChoice(choice))).toEqual({
    ...choice,
    config: { required_role: "Critic", task_description_template: "", guardrails: [] },
  });
});

test("a drag from elsewhere brings no kind that is not there, and no settings of another shape", () => {
  expect(readChoice("Hello")).toBeNull();
  expect(readChoice('{"type":"shell"}')).toBeNull();
  expect(readChoice('{"type":"note","config":{"text":{"a":1}}}')).toBeNull();
  expect(readChoice('{"type":"wait","config":{"ms":5,"more":1},"name":7}')).toEqual({
    type: "wait",
    config: { ms: 5 },
  });
});
