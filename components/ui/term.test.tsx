import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { GlossaryContext, Term } from "./term";

test("a glossary term explains itself on hover, including its plural, and other labels are plain text", async () => {
  render(
    <GlossaryContext value={{ guardrail: "A check of an agent's answer." }}>
      <h2>
        <Term>Guardrails</Term>
      </h2>
      <p>
        <Term>Name</Term>
      </p>
    </GlossaryContext>,
  );
  await userEvent.hover(screen.getByText("Guardrails"));
  expect(await screen.findByText("A check of an agent's answer.")).toBeTruthy();
  expect(screen.getByText("Name").tagName).toBe("P");
});
