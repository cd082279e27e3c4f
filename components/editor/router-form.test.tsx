import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, test, vi } from "vitest";
import { FieldView } from "@/components/forms/field-view";
import { FormScopeContext } from "@/components/forms/form-scope";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { keysAvailableAt } from "@/server/domain/graph/keys/data-flow";
import { getNodeKind } from "@/server/domain/nodes";
import { textEdits } from "./editing/text-edits";

const GRAPH = WorkflowGraph.parse({
  graph_id: "g",
  start_node_id: "start",
  nodes: {
    start: { id: "start", node_type: "start", config: {} },
    ask: {
      id: "ask",
      node_type: "agent_task",
      name: "Ask",
      output_keys: ["approval_status"],
      config: {
        required_role: "Writer",
        task_description_template: "x",
        output_schema: {
          type: "object",
          properties: { approval_status: { type: "string", enum: ["approved", "rejected"] } },
        },
      },
    },
    route: { id: "route", node_type: "conditional_router", name: "Route", config: { kind: "value" } },
    act: { id: "act", node_type: "end", name: "Act", config: {} },
    tell: { id: "tell", node_type: "end", name: "Tell", config: {} },
  },
  edges: [
    { id: "edge_1", source_node_id: "start", target_node_id: "ask" },
    { id: "edge_2", source_node_id: "ask", target_node_id: "route" },
  ],
});

/** The form of the router as the editor draws it; `seen` hears of every change. */
function RouterForm({ seen }: { seen: (graph: WorkflowGraph) => void }) {
  const [graph, setGraph] = useState(GRAPH);
  const write = (next: WorkflowGraph) => {
    setGraph(next);
    seen(next);
  };
  const node = graph.nodes.route;
  if (!node) return null;
  const config = node.config as Record<string, unknown>;
  const { fields } = getNodeKind(node.node_type);
  return (
    <FormScopeContext.Provider
      value={{
        graph,
        node,
        roles: [],
        keys: keysAvailableAt(graph, "route"),
        change: (_label, apply) => write(apply(graph)),
      }}
    >
      {fields
        .filter((field) => field.as !== "llm" && (field.showIf?.(config) ?? true))
        .map((field) => (
          <FieldView
            key={field.key}
            field={field}
            label={field.label}
            hint={field.hint}
            value={config[field.key]}
            onChange={(value) =>
              write(textEdits.setConfig.apply(graph, { id: "route", patch: { [field.key]: value } }))
            }
          />
        ))}
    </FormScopeContext.Provider>
  );
}

function open() {
  const seen = vi.fn<(graph: WorkflowGraph) => void>();
  render(<RouterForm seen={seen} />);
  const drawn = () => seen.mock.lastCall?.[0] ?? GRAPH;
  return { person: userEvent.setup(), drawn, config: () => drawn().nodes.route?.config };
}

test("a value router is built from suggested keys, routes and target nodes", async () => {
  const { person, drawn, config } = open();
  await person.type(await screen.findByRole("combobox", { name: "Value" }), "approval_status");
  await person.tab();
  expect(config()).toMatchObject({ kind: "value", value: "state.approval_status" });
  await person.click(screen.getByRole("button", { name: "Add approved, rejected" }));
  await person.click(screen.getByRole("combobox", { name: "Route 1 target" }));
  await person.click(await screen.findByRole("option", { name: /^Act/ }));
  await person.click(screen.getByRole("combobox", { name: "Otherwise" }));
  await person.click(await screen.findByRole("option", { name: /^Tell/ }));
  await waitFor(() =>
    expect(
      drawn().edges.flatMap((edge) =>
        edge.source_node_id === "route" ? [[edge.edge_label, edge.target_node_id, edge.is_default]] : [],
      ),
    ).toEqual([
      ["approved", "act", false],
      [undefined, "tell", true],
    ]),
  );
});

test("changing how a router decides keeps its routes and edges", async () => {
  const { person, drawn, config } = open();
  await person.type(await screen.findByRole("combobox", { name: "Value" }), "approval_status");
  await person.tab();
  await person.click(screen.getByRole("button", { name: "Add approved, rejected" }));
  const lines = drawn().edges;
  const decideBy = async (option: RegExp) => {
    await person.click(screen.getByRole("combobox", { name: "Route by" }));
    await person.click(await screen.findByRole("option", { name: option }));
  };
  await decideBy(/^Conditions/);
  expect(config()).toMatchObject({
    kind: "expression",
    conditions: [
      { label: "approved", when: 'state.approval_status == "approved"' },
      { label: "rejected", when: 'state.approval_status == "rejected"' },
    ],
  });
  await decideBy(/^Model/);
  expect(config()).toMatchObject({ kind: "llm", ways: ["approved", "rejected"] });
  await decideBy(/^Value/);
  expect(config()).toMatchObject({ value: "state.approval_status", ways: ["approved", "rejected"] });
  expect(drawn().edges).toEqual(lines);
});

test("a condition suggests the possible values of its key", async () => {
  const { person, config } = open();
  await person.click(await screen.findByRole("combobox", { name: "Route by" }));
  await person.click(await screen.findByRole("option", { name: /^Conditions/ }));
  await person.click(screen.getByRole("button", { name: "Add route" }));
  await person.type(
    screen.getByRole("combobox", { name: "Condition of route 1, row 1: key" }),
    "approval_status",
  );
  await person.click(screen.getByRole("combobox", { name: "Condition of route 1, row 1: value" }));
  await person.click(await screen.findByRole("option", { name: "rejected" }));
  expect(config()).toMatchObject({
    conditions: [{ label: "way 1", when: 'state.approval_status == "rejected"' }],
  });
});

test("suggested values of a key exclude the router's own routes", async () => {
  const { person } = open();
  await person.type(await screen.findByRole("combobox", { name: "Value" }), "note");
  await person.tab();
  await person.click(screen.getByRole("button", { name: "Add route" }));
  expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Route 1" }));
  expect(screen.queryByText(/^note is/)).toBeNull();
  await person.clear(screen.getByRole("combobox", { name: "Value" }));
  await person.type(screen.getByRole("combobox", { name: "Value" }), "approval_status");
  await person.tab();
  expect(screen.getByText(/^approval_status is .*: approved, rejected\./)).toBeTruthy();
});
