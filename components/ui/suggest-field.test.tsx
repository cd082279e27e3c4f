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
      suggestions={[{ value: "approved" }]}
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
