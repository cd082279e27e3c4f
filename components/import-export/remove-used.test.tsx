import { screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { WorkflowList } from "@/components/workflows/workflow-list";
import { draw } from "@/server/domain/testing/drawing";

test("deleting a workflow that others run names them first", async () => {
  const { person, ask, show } = openPage(<WorkflowList />);
  const { id } = await ask.workflows.create({ name: "Letters", graph: draw("start > t > end") });
  const calls = { node_type: "sub_workflow", config: { workflow_id: id } };
  await ask.workflows.create({ name: "Mailing", graph: draw("start > sub > end", { sub: calls }) });
  show();
  await person.click(await screen.findByRole("button", { name: "Actions for Letters" }));
  expect(await screen.findByRole("menuitem", { name: "Mailing" })).toBeTruthy();
  await person.click(screen.getByRole("menuitem", { name: "Delete" }));
  const dialog = await screen.findByRole("alertdialog", { name: "Delete “Letters”?" });
  expect(dialog.textContent).toContain("Mailing");
  expect(await ask.workflows.list()).toHaveLength(2);
  await person.click(screen.getByRole("button", { name: "Delete workflow" }));
  await waitFor(async () => expect(await ask.workflows.list()).toHaveLength(1));
});
