import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { Toolbar } from "./toolbar";

const bar = (names: readonly string[]) => (
  <>
    <button type="button">Before</button>
    <Toolbar label="Tools">
      {names.map((name) => (
        <button key={name} type="button">
          {name}
        </button>
      ))}
    </Toolbar>
    <button type="button">Behind</button>
  </>
);

const here = () => document.activeElement?.textContent;

test("a toolbar is one Tab stop, arrow keys move within it, and Tab returns to the last position", async () => {
  const person = userEvent.setup();
  render(bar(["Cut", "Copy", "Paste"]));
  const went: (string | null | undefined)[] = [];
  for (const keys of [
    "{Tab}",
    "{Tab}",
    "{ArrowRight}",
    "{ArrowRight}",
    "{ArrowRight}",
    "{ArrowLeft}",
    "{Tab}",
  ]) {
    await person.keyboard(keys);
    went.push(here());
  }
  expect(went).toEqual(["Before", "Cut", "Copy", "Paste", "Cut", "Paste", "Behind"]);
  await person.keyboard("{Shift>}{Tab}{/Shift}");
  expect(here()).toBe("Paste");
  await person.keyboard("{Home}");
  expect(here()).toBe("Cut");
});

test("another control becomes the Tab stop when the current one is removed", async () => {
  const person = userEvent.setup();
  const { rerender } = render(bar(["Cut", "Copy"]));
  await person.click(screen.getByRole("button", { name: "Copy" }));
  rerender(bar(["Cut", "Paste"]));
  await person.click(screen.getByRole("button", { name: "Before" }));
  await person.keyboard("{Tab}");
  expect(here()).toBe("Cut");
  await person.keyboard("{Tab}");
  expect(here()).toBe("Behind");
});
