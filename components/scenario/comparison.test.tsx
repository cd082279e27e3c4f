import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { RoleDefinition } from "@/server/domain/agent/role";
import { draw } from "@/server/domain/testing/drawing";
import { fakeModels } from "@/server/runner/testing";
import { CompareRuns } from "./comparison-runs";
import { TestsPage } from "./tests-page";

const RUBRIC = "It speaks of rain.";
const GRAPH = () =>
  draw("start > desk > end", {
    desk: {
      node_type: "crew_task",
      name: "Desk",
      config: {
        plan_description_template: "Write on {{ topic }}",
        crew: { agents: [{ agent_id: "one", role_name: "Copywriter" }] },
        plan: { tasks: [{ task_id: "draft", description: "Draft", assigned_agent: "one" }] },
      },
      input_keys: ["topic"],
      output_keys: ["text"],
    },
  });

/** A workflow with a crew and a test with a judge, answered by the demo model, and its page of tests. */
async function openDesk() {
  let workflowId = "";
  const Late = () => <TestsPage workflowId={workflowId} />;
  const page = openPage(<Late />);
  const { ask, troupe } = page;
  troupe.testParts.demoModels = () =>
    fakeModels(({ messages }) =>
      messages.some(({ content }) => content.includes(RUBRIC))
        ? JSON.stringify({ reason: "It is all about rain.", score: 0.9 })
        : "It rains.",
    );
  troupe.roles.put(RoleDefinition.parse({ name: "Copywriter" }));
  ({ id: workflowId } = await ask.workflows.create({ name: "News", graph: GRAPH() }));
  await ask.tests.create({
    workflow_id: workflowId,
    name: "Rain",
    input: { topic: "rain" },
    simulated: true,
    expect: [
      { kind: "status", is: "COMPLETED" },
      {
        kind: "judge",
        rubric: RUBRIC,
        key: "text",
        of: "state",
        threshold: 0.7,
        gate_kappa: 0.6,
      },
    ],
  });
  page.show();
  return { ...page, workflowId };
}

test("two variants are compared in a test, with a caveat about simulated numbers", async () => {
  const { person } = await openDesk();
  await screen.findByRole("link", { name: "Rain" });
  await person.click(screen.getByRole("button", { name: "Compare" }));
  const dialog = within(await screen.findByRole("dialog", { name: "Compare variants" }));
  await person.click(dialog.getByRole("button", { name: "Compare" }));
  expect(dialog.getByText("Choose a model.")).toBeTruthy();
  await person.click(dialog.getByRole("combobox", { name: "Change" }));
  await person.click(await screen.findByRole("option", { name: /^Different prompt/ }));
  await person.click(dialog.getByRole("combobox", { name: "Agent or crew task" }));
  await person.click(await screen.findByRole("option", { name: "Desk" }));
  await person.click(dialog.getByRole("button", { name: "Compare" }));
  const table = within(await dialog.findByRole("table", { name: "Total" }));
  const rows = table.getAllByRole("row").map(({ textContent }) => textContent ?? "");
  expect(rows).toEqual([
    expect.stringContaining("Variant") as string,
    expect.stringContaining("Unchanged") as string,
    expect.stringContaining("Prompt for Desk") as string,
  ]);
  expect(rows.slice(1).every((row) => row.includes("1 of 1"))).toBe(true);
  expect(dialog.getByText(/^Simulated: the offline demo model answered/)).toBeTruthy();

  await person.click(dialog.getByRole("button", { name: "Change variants" }));
  await person.click(dialog.getByRole("checkbox", { name: "Rain" }));
  await person.click(dialog.getByRole("button", { name: "Compare" }));
  expect(dialog.getByRole("alert").textContent).toBe("Choose a test, or add an input.");
});

test("recorded answers are imported into a test, and a file without any is rejected", async () => {
  const { person, ask, workflowId } = await openDesk();
  await person.click(await screen.findByRole("link", { name: "Rain" }));
  const sheet = within(await screen.findByRole("dialog", { name: "Test" }));
  const take = await sheet.findByLabelText("Import recorded answers");
  const file = (content: object) =>
    new File([JSON.stringify(content)], "answers.json", { type: "application/json" });
  await person.upload(take, file({ some: "thing" }));
  await screen.findByText(/^No recorded answers found/);
  const answers = [{ request: "a".repeat(64), kind: "model" as const, asked: {}, value: "It rains." }];
  await person.upload(take, file({ format: "troupe.cassette", version: 1, answers }));
  await sheet.findByText("Use 1 recorded answer");
  const test = await ask.tests.get({ workflow_id: workflowId, test_id: "rain" });
  expect([test.answers?.answers, test.simulated]).toEqual([answers, undefined]);
});

test("a comparison URL without two runs links to where they are selected", () => {
  openPage(<CompareRuns pair={null} />).show();
  screen.getByRole("heading", { level: 1, name: "Compare two runs" });
  expect(screen.getByRole("link", { name: "All runs" }).getAttribute("href")).toBe("/runs");
});
