import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { Tooltip } from "./tooltip";

test("a tooltip is in a landmark, opens on keyboard focus and closes with Escape", async () => {
  const person = userEvent.setup();
  render(
    <main>
      <Tooltip content="Save it now">
        <button type="button">Save</button>
      </Tooltip>
    </main>,
  );
  await person.tab();
  const hint = await screen.findByRole("region", { name: "Tooltip" });
  expect(within(hint).getByText("Save it now")).toBeTruthy();
  await person.keyboard("{Escape}");
  expect(screen.queryByRole("region", { name: "Tooltip" })).toBeNull();
});
