import { describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { fakeModels, newStage, role } from "../testing";

const calls = (workflow_id: string, input: JsonObject, more: JsonObject = {}) => ({
  node_type: "sub_workflow",
  config: { workflow_id, input },
  output_keys: ["result"],
  ...more,
});
const maps = (config: JsonObject, more: JsonObject = {}) => ({
  node_type: "map",
  config,
  output_keys: ["results"],
  ...more,
});
const start = (...output_keys: string[]) => ({ node_type: "start", output_keys });
const gives = (...input_keys: string[]) => ({ node_type: "end", input_keys });
const sets = (set: JsonObject) => ({ node_type: "transform", config: { set } });
const asks = (template: string, key: string) => ({
  node_type: "agent_task",
  config: { required_role: "Worker", task_description_template: template },
  output_keys: [key],
});

const DOUBLE = draw("start > t > end", {
  start: start("n"),
  t: sets({ doubled: "state.n * 2" }),
  end: gives("doubled"),
});

describe("a sub-workflow", () => {
  const PARENT = draw("start > sub > end", {
    start: start("n"),
    sub: calls("double", { n: "state.n + 1" }),
    end: gives("result"),
  });

  test("starts a separate run and returns its output", async () => {
    const stage = newStage();
    const { state, id } = await stage.run(PARENT, { input: { n: 4 }, workflows: { double: DOUBLE } });
    expect(state.run.final_status).toBe("COMPLETED");
    expect(state.run.output).toEqual({ result: { doubled: 10 } });
    const [child] = stage.store.children(id, { limit: 10 });
    expect(child).toMatchObject({
      workflow_id: "double",
      workflow_name: "double",
      trigger: "workflow",
      final_status: "COMPLETED",
      parent: { run_id: id, activation_id: "sub#1", item: null },
    });
    expect(stage.store.list().map((run) => run.id)).toEqual([id]);
  });

  test("its tokens and cost count as its parent's, its model turns as its own", async () => {
    const stage = newStage();
    const ask = draw("start > a > end", {
      start: start("n"),
      a: asks("Do {{n}}", "answer"),
      end: gives("answer"),
    });
    const { state } = await stage.run(PARENT, {
      input: { n: 4 },
      roles: [role("Worker")],
      workflows: { double: ask },
    });
    expect(state.run.output).toEqual({ result: { answer: "done" } });
    expect(state.totals).toMatchObject({
      cost_usd: 0.001,
      global_iterations: 0,
      usage: { input_tokens: 10 },
    });
    expect(state.activations["sub#1"]).toMatchObject({ cost_usd: 0.001 });
    expect(state.run.simulated).toBe(true);
    expect(stage.store.spent(0)).toMatchObject({ runs: 1, cost_usd: 0.001 });
  });

  test("a failure in it fails the node, with its reason", async () => {
    const stage = newStage();
    const bad = draw("start > t > end", { start: start("n"), t: sets({ x: "state.n.missing" }) });
    const { state } = await stage.run(PARENT, { input: { n: 4 }, workflows: { double: bad } });
    expect(state.run.error).toMatchObject({ code: "SUBRUN_FAILED", node_id: "sub" });
    expect(state.run.error?.message).toMatch(/^double failed: t/);
  });

  test("an input that it does not take fails the node before anything starts", async () => {
    const stage = newStage();
    const { state, id } = await stage.run(draw("start > sub > end", { sub: calls("double", {}) }), {
      workflows: { double: DOUBLE },
    });
    expect(state.run.error?.message).toBe('The input "n" of double is invalid: Required.');
    expect(stage.store.children(id, { limit: 10 })).toEqual([]);
  });

  test("workflows nest as deep as the run allows, and no deeper", async () => {
    const nest = draw("start > sub > end", {
      start: start("n"),
      sub: calls("deep", { n: "state.n" }),
      end: gives("result"),
    });
    const workflows = {
      double: DOUBLE,
      deep: draw("start > s > end", {
        start: start("n"),
        s: calls("double", { n: "state.n" }),
        end: gives("result"),
      }),
    };
    const fits = await newStage().run(nest, { input: { n: 1 }, workflows, config: { max_subrun_depth: 2 } });
    expect(fits.state.run.output).toEqual({ result: { doubled: 2 } });
    const tooDeep = await newStage().run(nest, {
      input: { n: 1 },
      workflows,
      config: { max_subrun_depth: 1 },
    });
    expect(tooDeep.state.run.error?.message).toMatch(/double would be 2 levels deep; at most 1 are allowed/);
  });

  test("seventeen runs that wait for others finish with sixteen places", async () => {
    const stage = newStage({ maxRuns: 16 });
    const slow = draw("start > w1 > end", {
      start: start("n"),
      w1: { node_type: "wait", config: { ms: 20 } },
    });
    const ids = Array.from({ length: 17 }, () =>
      stage.start(PARENT, { input: { n: 1 }, workflows: { double: slow } }),
    );
    await expect.poll(() => stage.store.countUnfinished()).toBe(0);
    expect(ids.map((id) => stage.store.find(id)?.final_status)).toEqual(ids.map(() => "COMPLETED"));
  });

  test("cancelling its parent cancels it", async () => {
    const stage = newStage();
    const waits = draw("start > w1 > end", {
      start: start("n"),
      w1: { node_type: "wait", config: { ms: 600_000 } },
    });
    const id = stage.start(PARENT, { input: { n: 1 }, workflows: { double: waits } });
    const child = await childOf(stage, id);
    stage.host.cancel(id, { by: "ann", reason: "" });
    await stage.host.settled(id);
    await stage.host.settled(child);
    expect(stage.store.find(child)?.final_status).toBe("CANCELLED");
  });
});

/** The first run that a run starts, once it is there. */
async function childOf(stage: ReturnType<typeof newStage>, id: string): Promise<string> {
  for (;;) {
    const [child] = stage.store.children(id, { limit: 1 });
    if (child) return child.id;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

describe("a map", () => {
  const over = (config: JsonObject, body: Record<string, JsonObject> = {}) =>
    draw(`start > m > end; ${Object.keys(body).join(";")}`, {
      start: start("list"),
      m: maps({ items: "state.list", ...config }),
      end: gives("results"),
      ...body,
    });

  test("runs a workflow for each item and keeps their order", async () => {
    const stage = newStage();
    const { state, id } = await stage.run(
      over({ workflow_id: "double", input: { n: "item + index" }, output: "output.doubled", concurrency: 2 }),
      { input: { list: [5, 3, 9] }, workflows: { double: DOUBLE } },
    );
    expect(state.run.output).toEqual({ results: [10, 8, 22] });
    expect(state.activations["m#1"]?.children).toEqual({ total: 3, running: 0, done: 3, failed: 0 });
    expect(stage.store.children(id, { limit: 10 }).map((run) => run.parent?.item)).toEqual([0, 1, 2]);
  });

  test("computes a transform of the same workflow without starting runs", async () => {
    const stage = newStage();
    const { state, id } = await stage.run(
      over(
        { node: "t", input: { n: "item" }, output: "output.square" },
        { t: sets({ square: "state.n * state.n" }) },
      ),
      { input: { list: Array.from({ length: 1200 }, (_, n) => n) } },
    );
    expect((state.run.output?.results as number[]).slice(-2)).toEqual([1198 ** 2, 1199 ** 2]);
    expect(stage.store.children(id, { limit: 10 })).toEqual([]);
    expect(state.activations["m#1"]?.children).toMatchObject({ total: 1200, done: 1200 });
  });

  test("runs a node of the same workflow for each item", async () => {
    const models = fakeModels(({ messages }) =>
      JSON.stringify(messages).includes("yes") ? "seen yes" : "seen no",
    );
    const stage = newStage({ models });
    const { state } = await stage.run(
      over(
        { node: "a", input: { word: "item" }, output: "output.said" },
        { a: asks("Say {{word}}", "said") },
      ),
      { input: { list: ["yes", "no"] }, roles: [role("Worker")] },
    );
    expect(state.run.output).toEqual({ results: ["seen yes", "seen no"] });
  });

  test.each([
    ["fail", undefined, "ERROR"],
    ["skip", [2, 6], "COMPLETED"],
    [
      "collect",
      [2, { error: { code: "SUBRUN_FAILED", message: expect.stringMatching(/^double failed/) } }, 6],
      "COMPLETED",
    ],
  ])("with on_item_error %s, its results are %j", async (on_item_error, results, status) => {
    const { state } = await newStage().run(
      over({ workflow_id: "double", input: { n: "item" }, output: "output.doubled", on_item_error }),
      { input: { list: [1, "x", 3] }, workflows: { double: DOUBLE } },
    );
    expect(state.run.final_status).toBe(status);
    expect(state.run.output?.results).toEqual(results);
    if (status === "ERROR") expect(state.run.error?.message).toMatch(/^Item 2 of 3 failed: double failed/);
  });
});
