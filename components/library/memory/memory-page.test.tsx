import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { MemoryPage } from "./memory-page";

const row = async (text: string | RegExp) =>
  within(await screen.findByRole("list", { name: "Memories" })).findByText(text);

test("a person can add a memory, once per key", async () => {
  const { person, show } = openPage(<MemoryPage />, "/memory");
  show();
  const remember = async (text: string) => {
    await person.click(await screen.findByRole("button", { name: "New" }));
    const dialog = within(await screen.findByRole("dialog"));
    await person.type(dialog.getByLabelText(/^Key/), "house_style");
    await person.type(dialog.getByLabelText(/^Value/), text);
    await person.click(dialog.getByRole("button", { name: "Add memory" }));
  };
  await remember("Short sentences");
  await row("Short sentences");
  await row(/Project/);
  await row(/Written by a person/);
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());

  await remember("Long sentences");
  expect((await screen.findByRole("alert")).textContent).toContain("Edit it instead");
  await person.click(within(screen.getByRole("dialog")).getByRole("button", { name: "Cancel" }));
  await row("Short sentences");
});

test("memories can be searched, edited, deleted and restored", async () => {
  const { person, show, ask } = openPage(<MemoryPage />, "/memory");
  await ask.tools.tryOut({
    name: "store_memory",
    args: { key: "release_day", value: "We never release on a Friday", scope: "project" },
  });
  show();
  const search = await screen.findByRole("searchbox", { name: "Search memories" });
  await person.type(search, "frid");
  await row("We never release on a Friday");
  await row(/store_memory/);

  await person.click(screen.getByRole("button", { name: "Edit release_day" }));
  const dialog = within(await screen.findByRole("dialog"));
  const text = dialog.getByLabelText(/^Value/);
  await person.clear(text);
  await person.type(text, "We release on Tuesdays");
  await person.click(dialog.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  await person.clear(search);
  await person.type(search, "tuesdays");
  await row(/Corrected by a person/);

  await person.click(screen.getByRole("button", { name: "Delete release_day" }));
  await waitFor(() => expect(screen.queryByText("We release on Tuesdays")).toBeNull());
  await person.click(await screen.findByRole("button", { name: "Undo" }));
  await row("We release on Tuesdays");
});

test("a memory can be any JSON value, and the form shows and accepts it", async () => {
  const { person, show, ask } = openPage(<MemoryPage />, "/memory");
  await ask.memories.create({ key: "prices", value: { apple: 2 }, place: { scope: "project" } });
  show();
  await row(/"apple": 2/);
  await person.click(await screen.findByRole("button", { name: "Edit prices" }));
  const dialog = within(await screen.findByRole("dialog"));
  const text = dialog.getByLabelText(/^Value/);
  expect((text as HTMLTextAreaElement).value).toBe('{\n  "apple": 2\n}');
  await person.clear(text);
  await person.type(text, "[[1, 2]");
  await dialog.findByText(/Read as a list of 2/);
  await person.click(dialog.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect((await ask.memories.list({})).memories.map(({ value }) => value)).toEqual([[1, 2]]);
});
