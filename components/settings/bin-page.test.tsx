import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { draw } from "@/server/domain/testing/drawing";
import { BinPage } from "./bin-page";

async function binWith(...names: string[]) {
  const page = openPage(<BinPage />);
  for (const name of names) {
    const { id } = await page.ask.workflows.create({ name, graph: draw("start > end") });
    await page.ask.workflows.remove({ id });
  }
  page.show();
  return page;
}
const isGone = (name: string) => waitFor(() => expect(screen.queryByText(name)).toBeNull());

test("an item in the trash can be restored", async () => {
  const { person, ask } = await binWith("Tides", "Weather");
  await screen.findByText("Tides");
  await person.click(screen.getByRole("button", { name: "Restore Tides" }));
  await isGone("Tides");
  expect((await ask.workflows.list()).map(({ name }) => name)).toEqual(["Tides"]);
});

test("permanent deletion asks for confirmation", async () => {
  const { person, ask } = await binWith("Tides");
  await person.click(await screen.findByRole("button", { name: "Delete Tides permanently" }));
  const question = await screen.findByRole("alertdialog");
  await person.click(within(question).getByRole("button", { name: "Cancel" }));
  expect(await ask.bin.list()).toHaveLength(1);
  await person.click(screen.getByRole("button", { name: "Delete Tides permanently" }));
  await person.click(
    within(await screen.findByRole("alertdialog")).getByRole("button", { name: "Delete permanently" }),
  );
  await screen.findByText("Trash is empty");
  expect(await ask.bin.list()).toEqual([]);
});

test("the whole trash is emptied at once", async () => {
  const { person, ask } = await binWith("Tides", "Weather");
  await person.click(await screen.findByRole("button", { name: "Empty trash" }));
  await person.click(
    within(await screen.findByRole("alertdialog")).getByRole("button", { name: "Empty trash" }),
  );
  await screen.findByText("Trash is empty");
  expect(await ask.bin.list()).toEqual([]);
});
