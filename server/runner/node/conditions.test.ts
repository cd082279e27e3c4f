import { expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { newStage } from "../testing";

// What goes wrong in a condition is a failure of the node that it belongs to, by that node's own rules.

const BROKEN = "state.a > 3";
const drawn = (text: string, nodes: Record<string, object>, condition?: { to: string; is: string }) => {
  const graph = draw(text, nodes as never);
  for (const edge of graph.edges) if (edge.target_node_id === condition?.to) edge.condition = condition.is;
  return graph;
};

test("an edge condition that can't be evaluated fails its node with an error that names it", async () => {
  const graph = drawn("start > a > end", {}, { to: "end", is: BROKEN });
  const { state } = await newStage().run(graph);
  expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "CONFIG" });
  expect(state.failing).toMatchObject({ code: "CONFIG", node_id: "a", user_action: "edit_graph" });
  expect(state.failing!.message).toMatch(
    /^The condition of the connection from a to end \(state\.a > 3\) can't be evaluated: /,
  );
});

test.each([
  ["error_edge", "start > a > end; a !> caught > end", { caught: "completed" }],
  [
    "skip_branch",
    "start > a > b > end; start > caught > end",
    { a: "failed", b: "skipped", caught: "completed" },
  ],
] as const)(
  "a failed edge condition follows the error setting of its node: %s",
  async (on_error, text, nodes) => {
    const to = on_error === "error_edge" ? "end" : "b";
    const graph = drawn(text, { a: { on_error } }, { to, is: BROKEN });
    for (const edge of graph.edges) if (edge.source_node_id !== "a") delete edge.condition;
    const { state } = await newStage().run(graph);
    expect(state.run).toMatchObject({ final_status: "COMPLETED" });
    for (const [id, status] of Object.entries(nodes))
      expect([id, state.nodes[id]?.status]).toEqual([id, status]);
  },
);

test("a node that continues on error evaluates its edge conditions with the default output", async () => {
  const graph = (value: unknown) =>
    drawn(
      "start > a > end",
      { a: { on_error: "continue", default_output: { a: value }, output_keys: ["a"] } },
      { to: "end", is: BROKEN },
    );
  expect((await newStage().run(graph(5))).state.run.final_status).toBe("COMPLETED");
  expect((await newStage().run(graph("no number"))).state.run).toMatchObject({
    final_status: "ERROR",
    reason_code: "CONFIG",
  });
});

test("a node condition that can't be evaluated fails the node without a retry and takes its error edge", async () => {
  const retry = { max_attempts: 3, initial_delay_ms: 1, retry_on: ["CONFIG"] };
  const failed = await newStage().run(drawn("start > a > b > end", { b: { when: BROKEN, retry } }));
  expect(failed.state.run).toMatchObject({ final_status: "ERROR", reason_code: "CONFIG" });
  expect(failed.state.failing!.message).toMatch(/^The condition of b \(state\.a > 3\) can't be evaluated: /);
  expect(failed.events.filter(({ type }) => type === "node_failed")).toHaveLength(1);
  const caught = await newStage().run(drawn("start > a > b > end; b !> c > end", { b: { when: BROKEN } }));
  expect(caught.state.run.final_status).toBe("COMPLETED");
  expect(caught.state.nodes.c?.status).toBe("completed");
});

test("a skipped node fails if its outgoing conditions can't be evaluated", async () => {
  const graph = drawn("start > a > b > end", { b: { when: "false" } }, { to: "end", is: BROKEN });
  const { state } = await newStage().run(graph);
  expect(state.failing).toMatchObject({ code: "CONFIG", node_id: "b" });
});

test("missing inputs are retried if the node is set to do so", async () => {
  const retry = { max_attempts: 2, initial_delay_ms: 1, retry_on: ["INPUT_MISSING"] };
  const { state, events } = await newStage().run(
    draw("start > b > end", { b: { input_keys: ["x"], retry } }),
  );
  expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "INPUT_MISSING" });
  expect(events.filter(({ type }) => type === "node_failed")).toHaveLength(2);
});

const HEAVY =
  "'abcdefgh'.split('').map(a, 'abcdefgh'.split('').map(b, 'abcdefgh'.split('').map(c, 'abcdefgh'.split('').map(d, a + b + c + d)))).size()";
const dozen = <T>(make: (k: number) => T) => Array.from({ length: 12 }, (_, k) => make(k));

test("all expressions of a node share a work budget", async () => {
  const set = Object.fromEntries(dozen((k) => [`k${k}`, HEAVY]));
  const one = await newStage().run(draw("start > a > end", { a: { config: { set: { k: HEAVY } } } }));
  expect(one.state.run.final_status).toBe("COMPLETED");
  const many = await newStage().run(draw("start > a > end", { a: { config: { set } } }));
  expect(many.state.failing).toMatchObject({
    code: "CONFIG",
    message: expect.stringContaining("Too much work for one step"),
  });
  const mapped = await newStage().run(draw("start > a > end", { a: { input_mapping: set } }));
  expect(mapped.state.failing).toMatchObject({ code: "INPUT_MISSING" });
});

test("all edge conditions of a node share a work budget", async () => {
  const graph = draw(dozen((k) => `start > a > b${k} > end`).join("; "));
  const edges = new Map(graph.edges.map((edge) => [`${edge.source_node_id} ${edge.target_node_id}`, edge]));
  graph.edges = [...edges.values()];
  for (const edge of graph.edges) if (edge.source_node_id === "a") edge.condition = `${HEAVY} == 8`;
  const { state } = await newStage().run(graph);
  expect(state.failing).toMatchObject({ code: "CONFIG", node_id: "a" });
});
