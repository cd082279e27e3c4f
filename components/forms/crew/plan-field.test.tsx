import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, test } from "vitest";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import { draw } from "@/server/domain/testing/drawing";
import { FormScopeContext } from "../form-scope";
import { PlanField } from "./plan-field";

function show(plan: ExecutionPlan) {
  let now: unknown = plan;
  const graph = draw("start > crew > end", {
    crew: { node_type: "crew_task", config: { crew: { agents: [{ agent_id: "a", role_name: "Writer" }] } } },
  });
  function Held() {
    const [value, setValue] = useState<ExecutionPlan | undefined>(plan);
    now = value;
    return (
      <FormScopeContext value={{ graph, node: graph.nodes.crew!, keys: [], roles: [] }}>
        <PlanField label="Plan" value={value} onChange={setValue} />
      </FormScopeContext>
    );
  }
  render(<Held />);
  return { person: userEvent.setup(), now: () => now as ExecutionPlan };
}

test("editing a task's priority, tags, expected output and duration preserves its other fields", async () => {
  const { person, now } = show(
    ExecutionPlan.parse({
      tasks: [{ task_id: "t1", description: "Write", metadata: { deadline: "2030-01-01" } }],
    }),
  );
  const [task] = screen.getAllByRole("listitem");
  await person.click(within(task!).getByText("Priority, tags and more"));
  await person.type(screen.getByLabelText("Tags of t1"), "design_review, launch");
  await person.type(screen.getByLabelText("Expected output of t1"), "One page");
  await person.type(screen.getByLabelText("Estimated duration of t1"), "soon");
  screen.getByText("Enter a duration like 15m or 2h");
  await person.clear(screen.getByLabelText("Estimated duration of t1"));
  await person.type(screen.getByLabelText("Estimated duration of t1"), "2h");
  await person.tab();
  expect(now().tasks[0]).toMatchObject({
    expected_output: "One page",
    estimated_duration: "2h",
    metadata: { tags: ["design_review", "launch"], deadline: "2030-01-01" },
  });
  screen.getByText("design_review, launch, 2h");
});

test("a plan is removed in one click", async () => {
  const { person, now } = show(
    ExecutionPlan.parse({
      tasks: ["t1", "t2"].map((task_id) => ({ task_id, description: "Write" })),
    }),
  );
  await person.click(screen.getByRole("button", { name: "Remove plan" }));
  expect(now()).toBeUndefined();
  expect(screen.queryByRole("button", { name: "Remove plan" })).toBeNull();
});

test("a plan.json with numbered tasks is imported like a workflow's plan, with findings", async () => {
  const { person, now } = show(ExecutionPlan.parse({ tasks: [{ task_id: "t1", description: "Write" }] }));
  await person.click(screen.getByRole("button", { name: "Import plan.json" }));
  const dialog = within(await screen.findByRole("dialog"));
  const use = dialog.getByRole("button", { name: "Import plan" });
  await person.click(dialog.getByLabelText("plan.json"));
  await person.paste('{"tasks": "none"}');
  dialog.getByText("Not a plan: the list of tasks is missing.");
  expect(use).toHaveProperty("disabled", true);

  await person.clear(dialog.getByLabelText("plan.json"));
  await person.paste(
    JSON.stringify({
      tasks: [
        { id: 1, description: "Find" },
        { id: 2, description: "Tell", dependencies: [1], priority: "whenever" },
      ],
    }),
  );
  expect(dialog.getByRole("status").textContent).toMatch(/^2 tasks\. Findings:.*priority/);
  await person.click(use);
  expect(now().tasks.map(({ task_id, dependencies }) => [task_id, dependencies])).toEqual([
    ["task_1", []],
    ["task_2", ["task_1"]],
  ]);
});
