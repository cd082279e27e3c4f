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

test("keys that a task newly mentions become inputs, and dropped keys are removed", () => {
  const first = withMentioned(task(""), task("Say {{greeting}} to {{ name | default: 'you' }}"));
  expect(reads(first)).toEqual([["greeting"], ["name"]]);
  const next = { ...task("Say {{word}}"), input_keys: ["greeting"], optional_input_keys: ["name"] };
  expect(reads(withMentioned(first, next))).toEqual([["word"], []]);
});

test("manual changes to inputs are kept while the text mentions the same keys", () => {
  const before = task("Say {{greeting}}", { input_keys: ["extra"] });
  const after = task("Say {{greeting}} loudly", { input_keys: ["extra"] });
  expect(reads(withMentioned(before, after))).toEqual([["extra"], []]);
});

test("mapped input names aren't added as state keys", () => {
  const mapped = { input_mapping: { topic: "state.subject" }, input_keys: ["topic"] };
  expect(reads(withMentioned(task("", mapped), task("{{topic}} {{other}}", mapped)))).toEqual([
    ["topic"],
    [],
  ]);
});

test("keys that other nodes need are proposed before the node's own name", () => {
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
