import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { heldMessage } from "@/server/domain/run/quarantine";
import { draw } from "@/server/domain/testing/drawing";
import { RunHistory } from "./run-history";

/** The list of runs, after workflows of these names ran with these notes. */
async function listOf(...ran: [name: string, note: string][]) {
  const page = openPage(<RunHistory />);
  for (const [name, note] of ran) {
    const { id } = await page.ask.workflows.create({ name, graph: draw("start > end") });
    const { run_id } = await page.ask.runs.start({ workflow_id: id, input: { note } });
    await page.troupe.host.settled(run_id);
  }
  page.show();
  await screen.findByRole("list", { name: "Runs" });
  return page;
}
const rows = () => within(screen.getByRole("list", { name: "Runs" })).getAllByRole("listitem");
const names = () => rows().map((row) => within(row).getByRole("link").textContent);

test("a run shows its input and is found by it", async () => {
  const { person } = await listOf(["Tides", "Ebb at noon"], ["Weather", "Rain in Bern"]);
  expect(names()).toEqual(["Weather", "Tides"]);
  expect(within(rows()[1]!).getAllByTitle("Ebb at noon")).toHaveLength(2);
  await person.type(screen.getByLabelText("Search runs"), "ebb");
  await waitFor(() => expect(names()).toEqual(["Tides"]));
  await person.clear(screen.getByLabelText("Search runs"));
  await person.type(screen.getByLabelText("Search runs"), "nothing like it");
  await person.click(await screen.findByRole("button", { name: "Show all" }));
  await waitFor(() => expect(names()).toHaveLength(2));
});

test("runs are filtered by outcome", async () => {
  const { person } = await listOf(["Tides", "a"]);
  await person.click(screen.getByRole("radio", { name: "Failed" }));
  await screen.findByText("No matching runs");
  await person.click(screen.getByRole("radio", { name: "Completed" }));
  await waitFor(() => expect(names()).toEqual(["Tides"]));
});

test("several runs are deleted at once, and one click restores them", async () => {
  const { person, ask } = await listOf(["One", "a"], ["Two", "b"], ["Three", "c"]);
  await person.click(screen.getByRole("checkbox", { name: /^Select One/ }));
  const bar = screen.getByRole("toolbar", { name: "Selected runs" });
  await person.click(within(bar).getByRole("button", { name: "Select all shown" }));
  await person.click(screen.getByRole("checkbox", { name: /^Select Three/ }));
  expect(within(bar).getByText("2 runs selected")).toBeTruthy();
  await person.click(within(bar).getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(names()).toEqual(["Three"]));
  expect(await ask.bin.list()).toHaveLength(2);
  await person.click(await screen.findByRole("button", { name: "Undo" }));
  await waitFor(() => expect(names()).toEqual(["Three", "Two", "One"]));
});

test("a waiting run shows its reason and remaining time", async () => {
  const page = openPage(<RunHistory />);
  const graph = draw("start > w > end", { w: { node_type: "wait", config: { ms: 3_600_000 } } });
  const { id } = await page.ask.workflows.create({ name: "Slow", graph });
  const { run_id } = await page.ask.runs.start({ workflow_id: id });
  await expect.poll(() => page.troupe.runs.find(run_id)?.status).toBe("waiting");
  page.show();
  expect((await screen.findByText(/^Scheduled to resume/)).textContent).toMatch(
    /, (59 min \d\d s|59 min|1 h) left$/,
  );
  expect(
    screen.getByRole("checkbox", { name: /^Select Slow/, hidden: true }).getAttribute("aria-disabled"),
  ).toBe("true");
});

test("a run on an unconfigured engine shows the problem and its fix in the list", async () => {
  const page = openPage(<RunHistory />);
  const pay = { node_type: "wait", config: { signal: "paid" } } as const;
  const { id } = await page.ask.workflows.create({
    name: "Order",
    graph: draw("start > pay > end", { pay }),
  });
  const { run_id } = await page.ask.runs.start({ workflow_id: id });
  await expect.poll(() => page.troupe.runs.find(run_id)?.status).toBe("waiting");
  const message = heldMessage("engine_missing", "It is at work in Restate.");
  page.troupe.runs.hold(run_id, { code: "engine_missing", message, at: Date.now() });
  page.show();
  const [row] = await screen.findAllByRole("listitem");
  expect(within(row!).getByText(message).textContent).toContain(
    "Start the server with TROUPE_RESTATE_INGRESS",
  );
  expect(
    within(row!)
      .getAllByRole("button")
      .map((button) => button.textContent),
  ).toEqual(["Retry", "Cancel"]);
});

test("an earlier input can be edited and rerun from the list", async () => {
  const { person, ask } = await listOf(["Tides", "Ebb at noon"]);
  const list = await ask.workflows.list();
  await person.click(screen.getByRole("button", { name: /^Actions for Tides/ }));
  await person.click(await screen.findByRole("menuitem", { name: "Edit input and rerun" }));
  const sheet = await screen.findByRole("dialog");
  await person.click(await within(sheet).findByRole("button", { name: "Start" }));
  await waitFor(async () => expect(await ask.runs.list({ workflow_id: list[0]!.id })).toHaveLength(2));
});
