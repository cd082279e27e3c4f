import { screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { present } from "@/server/domain/base/must";
import { keysAvailableAt } from "@/server/domain/graph/data-flow";
import { sampleGraph } from "../testing";
import { openEditor } from "../testing-editor";
import type { ShownProblem } from "../use-problems";
import { Keys } from "./node-keys";

vi.mock("../use-grants", () => ({ useAllow: () => ({ change: () => undefined, isPending: false }) }));

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
  "what a %s says of keys is told where they are, and only a mistake makes the field invalid",
  (severity, isInvalid) => {
    const graph = sampleGraph();
    const { show } = openEditor(graph);
    const node = present(
      Object.values(graph.nodes).find(({ node_type }) => node_type === "agent_task"),
      "a task",
    );
    const scope = { graph, node, roles: [], keys: keysAvailableAt(graph, node.id), change: () => undefined };
    show(<Keys node={node} scope={scope} problems={[problem(severity)]} />);
    expect(screen.getByText(`Nothing writes it (${severity}).`)).toBeTruthy();
    expect(screen.queryByLabelText("Warning") !== null).toBe(!isInvalid);
  },
);
