import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { openEditor } from "./testing-editor";
import { ProjectSection } from "./workflow-inspector";

test("what is said of the project stands in the drawing, and nothing said is nothing there", async () => {
  const { show, store } = openEditor();
  const person = show(<ProjectSection />);
  const project = () => store.getState().doc.graph.project_context;
  await person.type(screen.getByLabelText(/^Name of the project/), "Shop");
  await person.click(screen.getByRole("button", { name: "Add constraint" }));
  await person.keyboard("No network");
  expect(project()).toEqual({
    project_name: "Shop",
    description: "",
    constraints: ["No network"],
    conventions: [],
  });
  await person.click(screen.getByRole("button", { name: /^Remove/ }));
  await person.clear(screen.getByLabelText(/^Name of the project/));
  expect(project()).toBeUndefined();
});
