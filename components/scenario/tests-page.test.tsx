import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { draw } from "@/server/domain/testing/drawing";
import { TestsPage } from "./tests-page";
import { scenarioOf } from "./use-tests";

const LABELED_NODES = { r: { name: "Which way" }, a: { name: "Plain" }, b: { name: "Fancy" } };
/** Goes to `a` or `b`, as its input says. */
const forking = () =>
  draw("start > r; r a> a > end; r b> b > end", { start: { output_keys: ["r"] }, ...LABELED_NODES });

/** A workflow with a test that was kept from a run that went to `a`, and its page. */
async function openTests({ kept = true }: { kept?: boolean } = {}) {
  let workflowId = "";
  const Late = () => <TestsPage workflowId={workflowId} />;
  const page = openPage(<Late />);
  const { ask, troupe } = page;
  ({ id: workflowId } = await ask.workflows.create({ name: "Forking", graph: forking() }));
  const { run_id } = await ask.runs.start({ workflow_id: workflowId, input: { r: "a" } });
  await troupe.host.settled(run_id);
  if (kept) await ask.tests.keep({ run_id, name: "Takes the plain way" });
  return { ...page, workflowId };
}
const row = async (name: string) => within(await screen.findByRole("row", { name: new RegExp(name) }));

test("an empty tests page explains how to create a test", async () => {
  const { show, workflowId } = await openTests({ kept: false });
  show();
  await screen.findByText("No tests yet");
  expect(screen.getByRole("link", { name: "View runs" }).getAttribute("href")).toBe(
    `/workflows/${workflowId}/runs`,
  );
  expect(screen.queryByRole("button", { name: "Run all" })).toBeNull();
});

test("a test passes, fails after a workflow change, and its history shows both results", async () => {
  const { show, person, ask, workflowId } = await openTests();
  show();
  const kept = await row("Takes the plain way");
  expect(kept.getByText("Passed")).toBeTruthy();
  expect(kept.getByText("4 of 4 passed")).toBeTruthy();

  const changed = draw("start > r; r b> a > end; r a> b > end", {
    start: { output_keys: ["r"] },
    ...LABELED_NODES,
  });
  const { revision } = await ask.workflows.get({ id: workflowId });
  await ask.workflows.save({ id: workflowId, revision, graph: changed });
  await person.click(screen.getByRole("button", { name: "Run all" }));
  await screen.findByText("1 failed.");
  await waitFor(() => expect(kept.getByText("Failed")).toBeTruthy());

  await person.click(screen.getByRole("link", { name: "Takes the plain way" }));
  const sheet = within(await screen.findByRole("dialog", { name: "Test" }));
  const list = within(await sheet.findByRole("list", { name: "Expectations" }));
  expect(list.getByText("Step 3: expected Plain, but Fancy ran.")).toBeTruthy();
  expect(list.getAllByRole("link", { name: "Show Fancy on the canvas" })[0]?.getAttribute("href")).toBe(
    `/workflows/${workflowId}?node=b`,
  );

  await person.click(sheet.getByRole("tab", { name: "History" }));
  const history = within(await sheet.findByRole("list", { name: "History" }));
  expect(history.getAllByRole("button").map((one) => one.textContent?.slice(0, 6))).toEqual([
    "Failed",
    "Passed",
  ]);
  await person.click(history.getByRole("button", { name: /^Passed/ }));
  await sheet.findByText("All 4 expectations passed.");
  expect(sheet.getByText(/with version 1 of the workflow/)).toBeTruthy();
});

test("a deleted test is restored in one click", async () => {
  const { show, person } = await openTests();
  show();
  const kept = await row("Takes the plain way");
  await person.click(kept.getByRole("button", { name: "Actions for Takes the plain way" }));
  await person.click(await screen.findByRole("menuitem", { name: "Delete" }));
  await screen.findByText("No tests yet");
  await person.click(await screen.findByRole("button", { name: "Undo" }));
  await row("Takes the plain way");
});

test("a test form reports missing values at their field, then runs the test", async () => {
  const { show, person, ask, workflowId } = await openTests({ kept: false });
  show();
  await person.click(await screen.findByRole("link", { name: "New test" }));
  const sheet = within(await screen.findByRole("dialog", { name: "New test" }));
  await person.click(await sheet.findByRole("button", { name: "Create test" }));
  const name = sheet.getByRole("textbox", { name: "Name" });
  expect(name.getAttribute("aria-invalid")).toBe("true");
  await sheet.findByText("Fix 2 problems first.");
  await person.type(name, "Goes the fancy way");
  await person.type(sheet.getByRole("textbox", { name: "R" }), "b");

  await person.click(sheet.getByRole("button", { name: "Add an expectation" }));
  const added = within(sheet.getByRole("group", { name: "Expectation 2" }));
  await person.click(added.getByRole("combobox", { name: "Key" }));
  await person.type(added.getByRole("combobox", { name: "Key" }), "zz");
  await person.click(sheet.getByRole("button", { name: "Create test" }));
  await sheet.findByText("Fix 1 problem first.");
  await person.click(sheet.getByRole("button", { name: "Remove expectation 2" }));
  await person.click(sheet.getByRole("button", { name: "Create test" }));

  const made = within(await screen.findByRole("dialog", { name: "Test" }));
  await person.click(await made.findByRole("button", { name: "Run" }));
  await person.click(made.getByRole("tab", { name: "Report" }));
  await made.findByText("The expectation passed.");
  const [test] = await ask.tests.list({ workflow_id: workflowId });
  expect(test).toMatchObject({
    name: "Goes the fancy way",
    last: { status: "passed", expected: 1, passed: 1 },
  });
});

test("closing a test with unsaved changes asks first, and a concurrent save is not lost", async () => {
  const { show, person, ask, workflowId } = await openTests();
  show();
  await person.click(await screen.findByRole("link", { name: "Takes the plain way" }));
  const sheet = within(await screen.findByRole("dialog", { name: "Test" }));
  await person.click(await sheet.findByRole("tab", { name: "Test" }));
  const name = sheet.getByRole("textbox", { name: "Name" });
  await person.type(name, " again");
  await person.click(sheet.getByRole("tab", { name: "Report" }));
  await person.click(sheet.getByRole("button", { name: "Close" }));
  await person.click(await screen.findByRole("button", { name: "Keep editing" }));

  const [{ id, revision } = { id: "", revision: 0 }] = await ask.tests.list({ workflow_id: workflowId });
  const theirs = await ask.tests.get({ workflow_id: workflowId, test_id: id });
  const { id: _, ...fields } = scenarioOf(theirs);
  await ask.tests.save({ ...fields, workflow_id: workflowId, test_id: id, name: "Theirs", revision });
  await person.click(sheet.getByRole("tab", { name: /^Test/ }));
  await person.click(sheet.getByRole("button", { name: "Save" }));
  await person.click(await sheet.findByRole("button", { name: "Overwrite with mine" }));
  await waitFor(async () =>
    expect((await ask.tests.list({ workflow_id: workflowId })).map((one) => one.name)).toEqual([
      "Takes the plain way again",
    ]),
  );
});
