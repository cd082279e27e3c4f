import { describe, expect, test } from "vitest";
import { bodyIdOf } from "@/server/domain/nodes";
import { lossesOf, readWorkflow, writeWorkflow } from "./document";

const read = (nodes: unknown, more: object = {}) => {
  const { graph, findings } = readWorkflow({ graph_id: "g", nodes, edges: [], ...more });
  return {
    graph: graph!,
    body: (id: string) => graph && graph.nodes[id] && bodyIdOf(graph.nodes[id]),
    told: findings.map(({ level, at, message }) => `${level} ${at}: ${message}`),
  };
};
const map = (node: unknown, more: object = {}) => ({
  node_type: "map",
  config: { items: "state.tickets", node, input: { ticket: "item" } },
  ...more,
});

describe("a node in the settings of a map", () => {
  test("becomes a node of the canvas that the map names", () => {
    const { graph, body, told } = read({
      start: { node_type: "start" },
      each: map({ node_type: "agent", config: { task_description_template: "Summarize {{ticket}}" } }),
    });
    expect(body("each")).toBe("agent_task");
    expect(graph.nodes.agent_task).toMatchObject({
      node_type: "agent_task",
      config: { task_description_template: "Summarize {{ticket}}" },
    });
    expect(told).toEqual([
      'changed nodes.each.config.node: This node had no ID. Its ID is now "agent_task".',
      'changed nodes.each.config.node: The node inside each is now the node "agent_task" on the canvas.',
    ]);
  });

  test("keeps its ID unless another node has it", () => {
    const { graph, body } = read({
      each: map({ id: "work", node_type: "transform", config: { set: { x: "1" } } }),
      work: { node_type: "wait" },
    });
    expect(body("each")).toBe("work_2");
    expect(graph.nodes.work?.node_type).toBe("wait");
  });

  test("can hold another one itself", () => {
    const { graph, body } = read({ outer: map(map({ node_type: "transform" }, { name: "Inner" })) });
    expect(body("outer")).toBe("Inner");
    expect(body("Inner")).toBe("transform");
    expect(Object.keys(graph.nodes)).toEqual(["outer", "Inner", "transform"]);
  });

  test("of an unknown type is left out with a finding, and the map stays", () => {
    const { graph, body, told } = read({ each: map({ node_type: "teleport" }) });
    expect(Object.keys(graph.nodes)).toEqual(["each"]);
    expect(body("each")).toBeUndefined();
    expect(told.join()).toContain('has the unknown type "teleport"');
  });

  test("counts among the nodes that a file may have", () => {
    const nodes = Object.fromEntries(
      Array.from({ length: 600 }, (_, at) => [`m${at}`, map({ node_type: "transform" })]),
    );
    expect(readWorkflow({ graph_id: "g", nodes, edges: [] }).findings[0]?.message).toContain(
      "this one has 1200 and 0",
    );
  });
});

test("a map follows the new IDs of nodes and groups", () => {
  const { body } = read(
    { "my step": { node_type: "transform" }, a: map("my step"), b: map("g"), g: { node_type: "wait" } },
    { groups: [{ id: "g2", name: "", node_ids: ["my step"] }] },
  );
  expect(body("a")).toBe("my_step");
  expect(body("b")).toBe("g");
  const renamed = read(
    { c: map("start"), d: { node_type: "transform" } },
    { groups: [{ id: "d", node_ids: ["d"] }] },
  );
  expect(renamed.graph.groups?.[0]?.id).toBe("d_2");
});

test("maps and sub-workflows are written as they are read", () => {
  const { graph } = read({
    start: { node_type: "start" },
    each: map({ id: "work", node_type: "transform" }),
    sub: {
      node_type: "sub_workflow",
      config: { workflow_id: "wf_1", input: { a: "state.b" } },
      output_keys: ["c"],
    },
  });
  const text = writeWorkflow(graph, { flavour: "troupe" });
  const again = readWorkflow(text);
  expect(again.findings).toEqual([]);
  expect(again.graph).toEqual(graph);
  expect(writeWorkflow(again.graph!, { flavour: "troupe" })).toBe(text);
  expect(lossesOf(graph, { flavour: "troupe" }).map(({ at, message }) => `${at}: ${message}`)).toEqual([
    'nodes.sub.config.workflow_id: The workflow that "sub" runs isn\'t part of this file, only its ID. Export it as well, and choose it again after importing.',
  ]);
});
