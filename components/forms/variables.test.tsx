import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { draw } from "@/server/domain/testing/drawing";
import { completeExpression } from "./fields/expression-field";
import { completeTemplate, lintTemplate } from "./fields/template-field";
import { Variables } from "./variables";

test("variables are added, changed and deleted; a workflow can replace those of Settings", async () => {
  const { person, show, ask, troupe } = openPage(<Page />, "/settings");
  function Page() {
    return <Variables workflowId={id} />;
  }
  const id = troupe.workflows.create({ name: "Reads", graph: draw("start > t > end") });
  await ask.variables.set({ name: "LIMIT", value: 5 });
  show();
  const list = within(await screen.findByRole("list", { name: "Variables" }));
  await list.findByText("5 (from Settings)");
  await person.click(list.getByRole("button", { name: "Replace LIMIT" }));
  let dialog = within(await screen.findByRole("dialog"));
  await person.clear(dialog.getByLabelText("Value"));
  await person.type(dialog.getByLabelText("Value"), "7");
  await person.click(dialog.getByRole("button", { name: "Save" }));
  await list.findByText("7");
  await person.click(screen.getByRole("button", { name: "Add variable" }));
  dialog = within(await screen.findByRole("dialog"));
  await person.type(dialog.getByLabelText("Name"), "a b");
  await dialog.findByText(/no spaces/);
  await person.clear(dialog.getByLabelText("Name"));
  await person.type(dialog.getByLabelText("Name"), "GREETING");
  await person.type(dialog.getByLabelText("Value"), "Hello");
  await person.click(dialog.getByRole("button", { name: "Add variable" }));
  await list.findByText("Hello");
  const own = await ask.variables.listOfWorkflow({ workflow_id: id });
  expect(own.map(({ name, value }) => [name, value])).toEqual([
    ["GREETING", "Hello"],
    ["LIMIT", 7],
  ]);
  await person.click(list.getByRole("button", { name: "Delete LIMIT" }));
  await list.findByText("5 (from Settings)");
  await waitFor(() => expect(list.queryByRole("button", { name: "Delete LIMIT" })).toBeNull());
});

const scope = { graph: draw("start > t > end"), node: null, keys: [], roles: [], variables: ["HOST"] };
const labels = (completed: { options: { label: string }[] } | null) =>
  completed?.options.map(({ label }) => label);

test("fields suggest variables, and mark those that don't exist", () => {
  expect(labels(completeTemplate("Ask {{", 6, scope))).toEqual(["vars.HOST"]);
  expect(labels(completeTemplate("Ask {{vars.H", 12, scope))).toEqual(["vars.HOST"]);
  expect(labels(completeExpression("vars.", 5, scope, []))).toEqual(["vars.HOST"]);
  expect(lintTemplate("{{vars.HOST}}", scope)).toEqual([]);
  expect(lintTemplate("{{vars.POST}}", scope)).toMatchObject([
    { severity: "warning", message: "There is no variable POST." },
  ]);
});
