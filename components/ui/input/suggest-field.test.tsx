import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, test } from "vitest";
import { SuggestField } from "./suggest-field";

function Form() {
  const [value, setValue] = useState("");
  return (
    <SuggestField
      label="Value"
      value={value}
      onValueChange={setValue}
      suggestions={[{ value: "approved" }, { value: "approval_status" }]}
    />
  );
}

test("Escape never takes away what was written", async () => {
  const person = userEvent.setup();
  render(<Form />);
  const field = screen.getByLabelText("Value");
  await person.click(field);
  await person.keyboard("rejected{Escape}{Escape}");
  expect(field).toHaveProperty("value", "rejected");
});

test("Enter takes the suggestion that is highlighted while somebody writes", async () => {
  const person = userEvent.setup();
  render(<Form />);
  const field = screen.getByLabelText("Value");
  await person.click(field);
  await person.keyboard("status{Enter}");
  expect(field).toHaveProperty("value", "approval_status");
});

test("Enter keeps what fits no suggestion, and takes none before anything is written", async () => {
  const person = userEvent.setup();
  render(<Form />);
  const field = screen.getByLabelText("Value");
  await person.click(field);
  await person.keyboard("{Enter}");
  expect(field).toHaveProperty("value", "");
  await person.keyboard("denied{Enter}");
  expect(field).toHaveProperty("value", "denied");
});
