import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { useEditor } from "../editing/editor-store";
import { sampleGraph } from "../testing";
import { openEditor } from "../testing-editor";
import { ProjectSection, StateKeys } from "./workflow-inspector";

test("the project context is saved in the workflow and removed when all its fields are empty", async () => {
  const { show, store } = openEditor();
  const person = show(<ProjectSection />);
  const project = () => store.getState().doc.graph.project_context;
  await person.type(screen.getByLabelText(/^Project name/), "Shop");
  await person.click(screen.getByRole("button", { name: "Add constraint" }));
  await person.keyboard("No network");
  expect(project()).toEqual({
    project_name: "Shop",
    description: "",
    constraints: ["No network"],
    conventions: [],
  });
  await person.click(screen.getByRole("button", { name: /^Remove/ }));
  await person.clear(screen.getByLabelText(/^Project name/));
  expect(project()).toBeUndefined();
});

test("changing a state key preserves the schemas of all other keys", async () => {
  const { show, store } = openEditor({
    ...sampleGraph(),
    global_state_schema: { type: "object", properties: { any: true, topic: { type: "string" } } },
  });
  const person = show(<State />);
  const schema = () => store.getState().doc.graph.global_state_schema;
  await person.click(screen.getByRole("button", { name: "Add key" }));
  expect(schema()).toEqual({
    type: "object",
    properties: { any: true, topic: { type: "string" }, key: { type: "string" } },
  });
});

const State = () => <StateKeys graph={useEditor(({ doc }) => doc.graph)} />;
