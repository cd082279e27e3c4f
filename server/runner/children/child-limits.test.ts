import { expect, test } from "vitest";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { fakeModels, newStage, role } from "../testing";

/*
 * What stops an item of a map is not always its failure: a limit of the run that started it, a person who cancels or
 * pauses, a question whether the run continues.
 */

type Stage = ReturnType<typeof newStage>;

const start = { node_type: "start", output_keys: ["n"] };
const ask = (text: string) => ({
  node_type: "agent_task",
  config: { required_role: "Worker", task_description_template: text },
  output_keys: ["said"],
});
const over = (items: string, more: JsonObject = {}) =>
  draw("start > m > end", {
    m: {
      node_type: "map",
      config: {
        items,
        workflow_id: "inner",
        input: { n: "item" },
        output: "output.said",
        on_item_error: "collect",
        concurrency: 1,
        ...more,
      },
      output_keys: ["results"],
    },
    end: { node_type: "end", input_keys: ["results"] },
  });
const twoTurns = draw("start > a > b > end", { start, a: ask("First {{n}}"), b: ask("Second {{n}}") });
const roles = [role("Worker")];
const after = (ms: number) =>
  fakeModels(async () => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return "done";
  });
const childOf = async (stage: Stage, id: string, at = 0): Promise<string> => {
  await expect.poll(() => stage.store.children(id, { limit: 9 })[at]).toBeDefined();
  return stage.store.children(id, { limit: 9 })[at]!.id;
};
const status = (stage: Stage, id: string) => expect.poll(() => stage.store.find(id)?.status);

test("an item that a person cancels fails the map, whatever it does with failures", async () => {
  const stage = newStage();
  const inner = draw("start > w1 > end", { start, w1: { node_type: "wait", config: { ms: 600_000 } } });
  const id = stage.start(over("[1, 2]"), { workflows: { inner } });
  stage.host.cancel(await childOf(stage, id), { by: "ann", reason: "" });
  await status(stage, id).toBe("finished");
  const { run } = stage.store.state(id)!;
  expect(run.error).toMatchObject({
    code: "CANCELLED",
    message: "Item 1 of 2 failed: inner was cancelled.",
  });
  expect(stage.store.children(id, { limit: 9 })).toHaveLength(1);
});

test("items that the time of the run stops continue once a person raises its limit", async () => {
  const models = after(150);
  const stage = newStage({ models });
  const id = stage.start(over("[1, 2]"), {
    roles,
    workflows: { inner: twoTurns },
    config: { max_active_ms: 200 },
  });
  await status(stage, id).toBe("finished");
  expect(stage.store.find(id)).toMatchObject({ final_status: "INCOMPLETE", reason_code: "TIME_LIMIT" });
  expect(stage.store.children(id, { limit: 9 })).toHaveLength(1);
  await stage.host.steering.raiseLimit(id, "max_active_ms", 60_000, "ann");
  await expect.poll(() => stage.store.find(id)?.final_status).toBe("COMPLETED");
  expect(stage.store.state(id)!.run.output?.results).toEqual(["done", "done"]);
  expect(models.requests).toHaveLength(4);
});

test("an item that stops at a limit of its own workflow is a failed item", async () => {
  const inner = { ...twoTurns, config: RunConfig.parse({ max_steps: 2 }) };
  const { state } = await newStage().run(over("[1]"), { roles, workflows: { inner } });
  expect(state.run.error).toBeUndefined();
  expect(state.run.output?.results).toEqual([
    { error: { code: "SUBRUN_FAILED", message: expect.stringMatching(/^inner stopped before its end/) } },
  ]);
});

test("the time in which only other runs work counts for the run that started them", async () => {
  const stage = newStage({ models: after(300) });
  const id = stage.start(over("[1, 2, 3, 4, 5, 6]", { concurrency: 2 }), {
    roles,
    workflows: { inner: { ...twoTurns, config: RunConfig.parse({ escalate: {} }) } },
    config: { escalate: { after_ms: 1000 } },
  });
  await status(stage, id).toBe("waiting");
  const question = () =>
    Object.values(stage.store.state(id)!.interactions).find((one) => one.status === "open")?.requested;
  await expect.poll(() => question()?.title, { timeout: 5000 }).toBe("Continue after 1 second?");
  expect(stage.store.children(id, { limit: 9 }).length).toBeLessThan(6);
  const { interaction_id, fingerprint } = question()!;
  const answer = { answer: "chosen" as const, option: "continue", by: "ann" };
  stage.host.steering.answer(id, interaction_id, fingerprint, answer);
  await status(stage, id).toBe("finished");
  expect(stage.store.find(id)?.final_status).toBe("COMPLETED");
  expect(stage.store.state(id)!.activations["m#1"]?.children).toMatchObject({ total: 6, done: 6 });
});

test("the time in which a run waits for a person does not count for the run that started it", async () => {
  const stage = newStage();
  const gate = { node_type: "approval_gate", config: { title: "Go on?" } };
  const id = stage.start(over("[1]"), {
    roles,
    workflows: { inner: draw("start > g > end", { start, g: gate }) },
    config: { max_active_ms: 300 },
  });
  const child = await childOf(stage, id);
  await status(stage, child).toBe("waiting");
  await new Promise((resolve) => setTimeout(resolve, 500));
  const [question] = Object.values(stage.store.state(child)!.interactions);
  const { interaction_id, fingerprint } = question!.requested;
  stage.host.steering.answer(child, interaction_id, fingerprint, { answer: "approve", by: "ann" });
  await status(stage, id).toBe("finished");
  expect(stage.store.find(id)?.final_status).toBe("COMPLETED");
});

test("a paused map starts no further item", async () => {
  const stage = newStage({ models: after(100) });
  const inner = draw("start > a > end", { start, a: ask("Do {{n}}") });
  const id = stage.start(over("[1, 2]"), { roles, workflows: { inner } });
  const child = await childOf(stage, id);
  await status(stage, child).toBe("running");
  await stage.host.steering.command(id, { kind: "pause" }, "ann");
  await stage.host.steering.command(child, { kind: "resume" }, "ann");
  await status(stage, child).toBe("finished");
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(stage.store.find(id)?.status).toBe("paused");
  expect(stage.store.children(id, { limit: 9 })).toHaveLength(1);
  await stage.host.steering.command(id, { kind: "resume" }, "ann");
  await status(stage, id).toBe("finished");
  expect(stage.store.find(id)?.final_status).toBe("COMPLETED");
});

test("a fork that waited for a run of its original counts that run's cost as inherited", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const models = fakeModels(async () => {
    await held;
    return "done";
  });
  const stage = newStage({ models, maxRuns: 1 });
  const inner = draw("start > a > end", { start, a: ask("Do {{n}}") });
  const id = stage.start(over("[1]"), { roles, workflows: { inner } });
  await expect.poll(() => models.requests.length).toBe(1);
  const { run_id } = stage.host.fork({
    run_id: id,
    at: { seq: stage.store.find(id)!.last_seq },
    ...{ patches: {}, graph: "original", by: "ann", trigger: "editor" },
  });
  release();
  await status(stage, run_id).toBe("finished");
  const { totals, run } = stage.store.state(run_id)!;
  expect(stage.store.children(run_id, { limit: 9 })).toEqual([]);
  expect(totals).toMatchObject({ cost_usd: 0, usage: { input_tokens: 0 } });
  expect(run.inherited).toMatchObject({ cost_usd: 0.001, usage: { input_tokens: 10 } });
});
