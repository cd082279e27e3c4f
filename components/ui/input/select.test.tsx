import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { Select } from "./select";

test("an open list of options is in a landmark that is removed on close", async () => {
  const person = userEvent.setup();
  render(
    <Select
      label="Size"
      options={[
        { value: "s", label: "Small" },
        { value: "l", label: "Large" },
      ]}
      value="s"
      onValueChange={() => {}}
    />,
  );
  await person.click(screen.getByRole("combobox", { name: "Size" }));
  await screen.findByRole("region", { name: "Options" });
  await person.click(await screen.findByRole("option", { name: "Large" }));
  expect(screen.queryByRole("region", { name: "Options" })).toBeNull();
});
