import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import { PlanGraph } from "./plan-graph";

test("each line of a plan's graph has an arrow at the task that waits", () => {
  const plan = ExecutionPlan.parse({
    tasks: [
      { task_id: "find", description: "Find sources" },
      { task_id: "draft", description: "Draft the text", dependencies: ["find"] },
      { task_id: "check", description: "Check the text", dependencies: ["find", "draft"] },
    ],
  });
  render(<PlanGraph plan={plan} />);
  const [drawing] = screen.getByRole("region", { name: "Plan as a graph" }).getElementsByTagName("svg");
  const lines = [...(drawing?.children ?? [])].filter(({ tagName }) => tagName === "path");
  expect(lines.map((line) => line.getAttribute("marker-end"))).toEqual(Array(3).fill("url(#plan-arrow)"));
});
