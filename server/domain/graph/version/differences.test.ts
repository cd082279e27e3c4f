import { expect, test } from "vitest";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { differences, versionDifferences } from "./differences";

const before = draw("start > ask > end", {
  ask: {
    node_type: "agent_task",
    name: "Ask",
    config: { required_role: "Writer", task_description_template: "Ask nicely" },
    ui: { x: 0, y: 0 },
  },
});
const changed = (change: (graph: WorkflowGraph) => void) => {
  const graph = structuredClone(before);
  change(graph);
  return graph;
};
const inWords = (after: WorkflowGraph) =>
  differences({ name: "A", graph: before }, { name: "A", graph: after }).map(
    ({ kind, text, details }) => `${text} ${kind}${details ? `: ${details}` : ""}`,
  );

test("a changed node lists its fields by their labels, and its previous name", () => {
  const after = changed(({ nodes }) => {
    const node = nodes.ask!;
    Object.assign(node, { name: "Question", when: "state.ok", output_keys: ["answer"] });
    Object.assign(node.config, { task_description_template: "Ask twice" });
  });
  expect(inWords(after)).toEqual(["Node “Question” changed: was “Ask”, Writes, Task, Condition"]);
  const [difference] = differences({ name: "A", graph: before }, { name: "B", graph: after }).slice(1);
  expect(difference?.at).toEqual({ kind: "node", id: "ask" });
  expect(difference?.texts).toContainEqual({ label: "Task", before: "Ask nicely", after: "Ask twice" });
});

test("nodes that only moved come last", () => {
  const after = changed((graph) => {
    graph.nodes.ask!.ui = { x: 50, y: 0 };
    graph.description = "Asks";
    graph.groups = WorkflowGraph.shape.groups.parse([{ id: "g", name: "Both", node_ids: ["ask"] }]);
    graph.edges = [];
  });
  expect(inWords(after)).toEqual([
    "Connection start → Ask removed",
    "Connection Ask → end removed",
    "Group “Both” added",
    "Workflow settings changed: Description",
    "Node “Ask” moved",
  ]);
});

test("texts of a crew's agents are compared one by one", () => {
  const crew = (backstory: string) =>
    changed(({ nodes }) =>
      Object.assign(nodes.ask!.config, { crew: { agents: [{ agent_id: "writer", backstory }] } }),
    );
  const [difference] = differences({ name: "A", graph: crew("Old") }, { name: "A", graph: crew("New") });
  expect(difference?.texts).toEqual([
    { label: "Crew › agents › writer › backstory", before: "Old", after: "New" },
  ]);
});

test("roles and permissions are compared, too", () => {
  const role = (name: string, goal: string) => ({ name, goal }) as never;
  const { differences: all } = versionDifferences(
    { graph: before, roles: [role("Writer", "Write"), role("Critic", "")], withheld: ["tool:web_search"] },
    { graph: before, roles: [role("Writer", "Edit"), role("Judge", "")], withheld: ["host:example.org"] },
  );
  expect(all).toEqual([
    {
      kind: "changed",
      at: { kind: "role", id: "Writer" },
      text: "Role “Writer”",
      details: "Goal",
      texts: [{ label: "Goal", before: "Write", after: "Edit" }],
    },
    { kind: "removed", at: { kind: "role", id: "Critic" }, text: "Role “Critic”" },
    { kind: "added", at: { kind: "role", id: "Judge" }, text: "Role “Judge”" },
    {
      kind: "removed",
      at: { kind: "permission", id: "host:example.org" },
      text: "Permission “host:example.org”",
    },
    {
      kind: "added",
      at: { kind: "permission", id: "tool:web_search" },
      text: "Permission “tool:web_search”",
    },
  ]);
});
