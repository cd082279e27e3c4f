import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { ArgumentForm } from "./argument-form";

test("an argument form labels its fields, validates them by schema and submits typed values", async () => {
  const person = userEvent.setup();
  const onSubmit = vi.fn();
  render(
    <ArgumentForm
      schema={{
        type: "object",
        required: ["query", "count"],
        properties: {
          query: { type: "string", title: "What to look for" },
          count: { type: "integer", maximum: 10, default: 5 },
          deep: { type: "boolean" },
          note: { anyOf: [{ type: "string" }, { type: "null" }] },
        },
      }}
      pending={false}
      submit="Run tool"
      onSubmit={onSubmit}
    />,
  );
  const send = () => person.click(screen.getByRole("button", { name: "Run tool" }));
  const count = screen.getByLabelText<HTMLInputElement>(/^count/);
  expect(count.value).toBe("5");
  await person.clear(count);
  await person.type(count, "11");
  await send();
  screen.getByText("Required.");
  screen.getByText("This must be at most 10.");
  expect(onSubmit).not.toHaveBeenCalled();

  await person.type(screen.getByLabelText(/^query/), "crews");
  await person.clear(count);
  await person.type(count, "3{Enter}");
  // What nobody said is not sent, neither as "no" nor as an empty text.
  expect(onSubmit).toHaveBeenLastCalledWith({ query: "crews", count: 3 });

  await person.click(screen.getByLabelText(/^deep/));
  await person.click(await screen.findByRole("option", { name: "No" }));
  await send();
  expect(onSubmit).toHaveBeenLastCalledWith({ query: "crews", count: 3, deep: false });
});
