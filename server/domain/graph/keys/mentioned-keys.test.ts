import { expect, test } from "vitest";
import { WorkflowGraph, WorkflowNode } from "../graph";
import { proposedKeys, withMentioned } from "./mentioned-keys";

const task = (text: string, more: Record<string, unknown> = {}) =>
  WorkflowNode.parse({
    id: "ask",
    name: "Ask for approval",
    node_type: "agent_task",
    config: { required_role: "Writer", task_description_template: text },
    ...more,
  });
const reads = ({ input_keys, optional_input_keys }: WorkflowNode) => [input_keys, optional_input_keys];

test("what a task newly names is read, what it names no more is not", () => {
  const first = withMentioned(task(""), task("Say {{greeting}} to {{ name | default: 'you' }}"));
  expect(reads(first)).toEqual([["greeting"], ["name"]]);
  const next = { ...task("Say {{word}}"), input_keys: ["greeting"], optional_input_keys: ["name"] };
  expect(reads(withMentioned(first, next))).toEqual([["word"], []]);
});

test("what was corrected by hand stays while the text goes on naming it", () => {
  const before = task("Say {{greeting}}", { input_keys: ["extra"] });
  const after = task("Say {{greeting}} loudly", { input_keys: ["extra"] });
  expect(reads(withMentioned(before, after))).toEqual([["extra"], []]);
});

test("names inside of a node are no keys of the state", () => {
  const mapped = { input_mapping: { topic: "state.subject" }, input_keys: ["topic"] };
  expect(reads(withMentioned(task("", mapped), task("{{topic}} {{other}}", mapped)))).toEqual([
    ["topic"],
    [],
  ]);
});

test("what others ask for and nobody writes is proposed before a name of one's own", () => {
  const node = task("");
  const graph = WorkflowGraph.parse({
    graph_id: "g",
    nodes: {
      ask: node,
      end: { id: "end", node_type: "end", config: {}, input_keys: ["approval_status"] },
    },
    edges: [],
  });
  expect(proposedKeys(graph, node)).toEqual(["approval_status", "ask_for_approval"]);
});
