import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { must } from "@/server/domain/base/must";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { keysAvailableAt } from "@/server/domain/graph/keys/data-flow";
import { textEdits } from "../editing/text-edits";
import { sampleGraph } from "../testing";
import { openEditor } from "../testing-editor";
import type { ShownProblem } from "../use-problems";
import { Keys } from "./node-keys";

function showKeys(graph: WorkflowGraph, id: string, problems: readonly ShownProblem[] = []) {
  const { inEditor } = openEditor(graph);
  const node = must(graph.nodes, id);
  const scope = { graph, node, roles: [], keys: keysAvailableAt(graph, id), change: () => undefined };
  openPage(inEditor(<Keys node={node} scope={scope} problems={problems} />)).show();
}

const problem = (severity: "error" | "warning"): ShownProblem => ({
  severity,
  code: "W_INPUT_KEY_NOT_PRODUCED",
  at: { kind: "node", id: "draft", field: "input_keys" },
  message: `Nothing writes it (${severity}).`,
  isToDo: false,
});

test.each([
  ["warning", false],
  ["error", true],
] as const)(
  "a problem of severity %s is shown at its key, and only an error invalidates the field",
  (severity, isInvalid) => {
    showKeys(sampleGraph(), "ask", [problem(severity)]);
    expect(screen.getByText(`Nothing writes it (${severity}).`)).toBeTruthy();
    expect(screen.queryByLabelText("Warning") !== null).toBe(!isInvalid);
  },
);

test("an end node without keys states that it returns everything", () => {
  showKeys(sampleGraph(), "done");
  expect(screen.getByText("Returns")).toBeTruthy();
  expect(screen.getByPlaceholderText("All keys")).toBeTruthy();
  expect(screen.getByText("Everything")).toBeTruthy();
});

test("a value router shows the key it reads", () => {
  const graph = textEdits.setConfig.apply(sampleGraph(), {
    id: "route",
    patch: { kind: "value", value: "state.answer" },
  });
  showKeys(graph, "route");
  expect(screen.getByText("Its settings also read answer.")).toBeTruthy();
});
