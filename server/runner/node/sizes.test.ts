import { expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { readyToRun } from "../lifecycle/launch";
import { fakeModels, fakeTools, newStage, role } from "../testing";

const chain = (steps: number) =>
  draw(
    ["start", ...Array.from({ length: steps }, (_, at) => `t${at}`), "end"].join(" > "),
    Object.fromEntries(
      Array.from({ length: steps }, (_, at) => [
        `t${at}`,
        { node_type: "transform", config: { set: { s: "state.s + state.s" } }, output_keys: ["s"] },
      ]),
    ),
  );
const ordinary = draw("start > a > b > end", {
  a: { node_type: "transform", config: { set: { n: "1 + 1" } }, output_keys: ["n"] },
  b: { node_type: "wait", config: { ms: 5 } },
});

test("a state that keeps doubling ends in a clear error, and concurrent runs finish", async () => {
  const stage = newStage();
  const loop = draw("start > blob > r; r again> blob; r out> end", {
    blob: {
      node_type: "transform",
      config: { set: { blob: "state.blob + state.blob" } },
      output_keys: ["blob"],
    },
    r: {
      node_type: "conditional_router",
      config: { kind: "expression", conditions: [{ label: "again", when: "true" }] },
    },
  });
  const bombs = [
    stage.start(chain(12), { input: { s: "x".repeat(100_000) } }),
    stage.start(loop, { input: { blob: "x".repeat(1000) } }),
  ];
  const others = Array.from({ length: 20 }, () => stage.start(ordinary));
  while ([...bombs, ...others].some((id) => stage.store.find(id)?.status !== "finished"))
    await new Promise((resolve) => setTimeout(resolve, 5));
  for (const id of others) expect(stage.store.find(id)?.final_status).toBe("COMPLETED");
  for (const id of bombs) {
    const { run } = stage.store.state(id)!;
    expect(run).toMatchObject({ final_status: "ERROR", reason_code: "TOO_LARGE" });
    expect(run.error?.message).toMatch(/too large: [\d,]+ characters; the maximum is 2,097,152 characters/);
    expect(JSON.stringify(stage.store.events(id, 0, 1e6)).length).toBeLessThan(12_000_000);
  }
});

test("a node's error setting applies to a result that is too large", async () => {
  const graph = chain(12);
  graph.nodes.t7!.on_error = "continue";
  graph.nodes.t7!.default_output = { s: "small" };
  const { state } = await newStage().run(graph, { input: { s: "x".repeat(10_000) } });
  expect(state.run.final_status).toBe("COMPLETED");
  expect((state.state.s as string).length).toBe(5 * 2 ** 4);
});

test("merged values count toward the size of the merged result", async () => {
  const graph = draw("start > add > r; r again> add; r out> end", {
    add: { node_type: "transform", config: { set: { list: "state.item" } }, output_keys: ["list"] },
    r: {
      node_type: "conditional_router",
      config: { kind: "expression", conditions: [{ label: "again", when: "true" }] },
      max_iterations: 900,
    },
  });
  graph.global_state_schema = { properties: { list: { "x-reducer": "append" } } };
  const { state } = await newStage().run(graph, {
    input: { item: "x".repeat(10_000) },
    config: { max_steps: 900, max_loop_iterations: 900, max_state_chars: 100_000 },
  });
  expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "TOO_LARGE" });
  expect((state.state.list as string[]).length).toBe(8);
});

test("a mapping that repeats a large value too often is rejected", async () => {
  const graph = draw("start > a > end", {
    a: {
      node_type: "transform",
      input_mapping: Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`k${at}`, "state.s"])),
      config: { set: { n: "1" } },
      output_keys: ["n"],
    },
  });
  const { state } = await newStage().run(graph, { input: { s: "x".repeat(200_000) } });
  expect(state.run.error).toMatchObject({
    code: "TOO_LARGE",
    message: expect.stringContaining("input of a"),
  });
});

test("a run at its log limit stops, and continues once the limit is raised", async () => {
  const stage = newStage();
  const graph = chain(6);
  const id = stage.start(graph, { input: { s: "x".repeat(2000) }, config: { max_log_chars: 50_000 } });
  await stage.host.settled(id);
  expect(stage.store.state(id)!.run).toMatchObject({
    final_status: "INCOMPLETE",
    reason_code: "LOG_LIMIT",
    resumable: ["max_log_chars"],
  });
  void stage.host.steering.raiseLimit(id, "max_log_chars", 1_000_000, "user");
  await stage.host.settled(id);
  expect(stage.store.state(id)!.run.final_status).toBe("COMPLETED");
});

test("an answer that is too large for the log fails with an error that says so", async () => {
  const graph = draw("start > a > end", {
    a: {
      node_type: "agent_task",
      config: { required_role: "Writer", task_description_template: "Write" },
      output_keys: ["text"],
    },
  });
  const models = fakeModels(() => "x".repeat(9_000_000));
  const stage = newStage({ models, tools: fakeTools([]) });
  const { state } = await stage.run(graph, { roles: [role("Writer")] });
  expect(state.run.error).toMatchObject({
    code: "TOO_LARGE",
    message: expect.stringMatching(/9,000,\d+ characters/),
  });
});

test("an input that is too large for a run is rejected before the start, by key", () => {
  const start = (input: JsonObject) =>
    readyToRun(
      draw("start > end"),
      [],
      { input, config: { max_state_chars: 5000 } },
      fakeModels(() => ""),
    );
  expect(start({ text: "x".repeat(4000) }).input).toBeDefined();
  expect(() => start({ text: "x".repeat(6000), other: "y" })).toThrow(
    expect.objectContaining({
      details: {
        errors: [{ key: "text", message: expect.stringContaining("the maximum is 5,000 characters") }],
      },
    }),
  );
});

test.each([
  ["a list", "state.all + [state.item]", [], 600],
  ["a text", "state.all + state.item", "", 150],
  ["an object", "{'list': state.all.list + [state.item], 'n': 1}", { list: [] }, 150],
])(
  "a loop that collects %s logs only additions, and each iteration stays visible",
  async (_name, expression, empty, rounds) => {
    const length = 1_020_000 / rounds;
    const graph = draw("start > add > r; r again> add; r out> end", {
      add: {
        node_type: "transform",
        input_keys: ["all"],
        config: { set: { all: expression } },
        output_keys: ["all"],
      },
      r: {
        node_type: "conditional_router",
        config: { kind: "expression", conditions: [{ label: "again", when: "true" }] },
      },
      end: { input_keys: [] },
    });
    const { state, events } = await newStage().run(graph, {
      input: { all: empty, item: "x".repeat(length) },
      config: { max_steps: 5000, max_loop_iterations: rounds },
    });
    expect(state.run.error?.code).toBe("LOOP_LIMIT");
    expect(JSON.stringify(state.state.all).length).toBeGreaterThan(1_000_000);
    expect(JSON.stringify(events.slice(0, -1)).length).toBeLessThan(4_000_000);
    const rendered = JSON.stringify(state.activations["add#50"]!.output).length;
    expect(JSON.stringify(state.activations["add#51"]!.input).length).toBe(rendered);
    expect(Math.abs(rendered - 50 * length)).toBeLessThan(300);
  },
  60_000,
);

test("many branches with large results take turns, and all complete", async () => {
  const names = Array.from({ length: 40 }, (_, at) => `b${at}`);
  const graph = draw(
    `${names.map((name) => `start > ${name} > j`).join("; ")}; j > end`,
    Object.fromEntries(
      names.map((name) => [
        name,
        { node_type: "transform", config: { set: { n: "1", big: "state.s" } }, output_keys: ["n"] },
      ]),
    ),
  );
  graph.global_state_schema = { properties: { n: { "x-reducer": "add" } } };
  const { state } = await newStage().run(graph, {
    input: { s: "x".repeat(900_000), n: 0 },
    config: { max_parallel_nodes: 64 },
  });
  expect(state.run.final_status).toBe("COMPLETED");
  expect(state.state.n).toBe(40);
});
