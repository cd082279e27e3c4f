import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, test } from "vitest";
import { WORKFLOW_LIMITS } from "@/server/domain/agent/limits-form";
import { RunConfig } from "@/server/domain/agent/outcome";
import { FormParts } from "../form-parts";

test("a formatted number field stores an integer and stays unchanged until it is edited", async () => {
  const person = userEvent.setup();
  let kept = RunConfig.parse({});
  const Limits = () => {
    const [config, setConfig] = useState(kept);
    kept = config;
    return <FormParts parts={WORKFLOW_LIMITS} value={config} onChange={setConfig} />;
  };
  render(<Limits />);
  const state = screen.getByLabelText<HTMLInputElement>("State size");
  const before = kept.max_state_chars;
  expect(state.value).toMatch(/^[\d,]+$/);
  await person.click(state);
  await person.tab();
  expect(kept.max_state_chars).toBe(before);
  await person.clear(state);
  await person.type(state, "12");
  await person.tab();
  expect(kept.max_state_chars).toBe(12_000);
});
