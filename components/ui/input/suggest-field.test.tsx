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

test("Escape never clears the typed text", async () => {
  const person = userEvent.setup();
  render(<Form />);
  const field = screen.getByLabelText("Value");
  await person.click(field);
  await person.keyboard("rejected{Escape}{Escape}");
  expect(field).toHaveProperty("value", "rejected");
});

test("Enter accepts the highlighted suggestion while typing", async () => {
  const person = userEvent.setup();
  render(<Form />);
  const field = screen.getByLabelText("Value");
  await person.click(field);
  await person.keyboard("status{Enter}");
  expect(field).toHaveProperty("value", "approval_status");
});

test("Enter keeps text without a matching suggestion, and accepts none before typing", async () => {
  const person = userEvent.setup();
  render(<Form />);
  const field = screen.getByLabelText("Value");
  await person.click(field);
  await person.keyboard("{Enter}");
  expect(field).toHaveProperty("value", "");
  await person.keyboard("denied{Enter}");
  expect(field).toHaveProperty("value", "denied");
});
