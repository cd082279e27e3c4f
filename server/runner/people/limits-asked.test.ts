import { expect, test } from "vitest";
import { z } from "zod";
import type { RunConfig } from "@/server/domain/agent/outcome";
import type { Json } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { defineTool } from "@/server/tools/define";
import { cutAt, fakeTools, newStage } from "../testing";

/*
 * Limits that are met before a node starts. Where the run is set to ask, a person decides; while they think, nothing new
 * starts and the run's time stands still.
 */

const chain = draw("start > a > b > c > end");
const done = { start: 1, a: 1, b: 1, c: 1, end: 1 };

type Stage = ReturnType<typeof newStage>;
const config = (more: Partial<RunConfig>) => ({ config: { on_limit: "ask" as const, ...more } });
async function asked(stage: Stage, id: string) {
  const open = () =>
    Object.values(stage.store.state(id)?.interactions ?? {}).find(({ status }) => status === "open");
  await expect.poll(open).toBeDefined();
  await expect.poll(() => stage.store.find(id)!.status).toBe("waiting");
  return open()!;
}
const give = (stage: Stage, id: string, option: string, value?: Json) => {
  const open = Object.values(stage.store.state(id)!.interactions).find(({ status }) => status === "open")!;
  stage.host.steering.answer(id, open.id, open.requested.fingerprint, {
    answer: "chosen",
    option,
    ...(value === undefined ? {} : { value }),
    by: "ann",
  });
};
/** How often each node was carried out. */
const times = (stage: Stage, id: string) => {
  const counts: Record<string, number> = {};
  for (const { node_id, status } of Object.values(stage.store.state(id)!.activations))
    if (status === "completed") counts[node_id] = (counts[node_id] ?? 0) + 1;
  return counts;
};

test("a run at its step limit asks before it stops, and continues once the limit is raised", async () => {
  const stage = newStage();
  const id = stage.start(chain, config({ max_steps: 2 }));
  const open = await asked(stage, id);
  expect(open).toMatchObject({ node_id: "b", activation_id: "" });
  expect(open.requested).toMatchObject({
    kind: "budget",
    mode: "sync",
    title: "The run reached a limit",
    why: "The run reached its limit of 2 node executions. Raise the limit to continue.",
    args: { limit: "max_steps", now: 2 },
    options: [
      { label: "Raise the limit", value: "raise" },
      { label: "Stop here", value: "stop" },
    ],
    response_schema: {
      type: "object",
      properties: {
        to: {
          type: "integer",
          title: "New limit, in node runs",
          exclusiveMinimum: 2,
          maximum: 5000,
          default: 4,
        },
      },
    },
  });
  expect(stage.store.find(id)).toMatchObject({ status: "waiting", waits_for: "person" });
  give(stage, id, "raise", { to: 50 });
  await stage.host.settled(id);
  const { run } = stage.store.state(id)!;
  expect([run.final_status, run.config.max_steps, times(stage, id)]).toEqual(["COMPLETED", 50, done]);
});

test("a run answered with stop ends at its limit, and asks again after a later raise", async () => {
  const stage = newStage();
  const id = stage.start(chain, config({ max_steps: 2 }));
  await asked(stage, id);
  give(stage, id, "stop");
  await stage.host.settled(id);
  expect(stage.store.state(id)!.run).toMatchObject({
    final_status: "INCOMPLETE",
    reason_code: "MAX_STEPS",
    resumable: ["max_steps"],
  });
  void stage.host.steering.raiseLimit(id, "max_steps", 3, "ann");
  expect((await asked(stage, id)).requested.args).toEqual({ limit: "max_steps", now: 3 });
  give(stage, id, "raise");
  await stage.host.settled(id);
  expect([stage.store.state(id)!.run.final_status, times(stage, id)]).toEqual(["COMPLETED", done]);
});

test("an unanswered limit question stops the run and raises nothing", async () => {
  const stage = newStage({ people: { answer_within_ms: 40 } });
  const id = stage.start(chain, config({ max_steps: 2 }));
  await stage.host.settled(id);
  await expect.poll(() => stage.store.state(id)!.run.final_status, { timeout: 10_000 }).toBe("INCOMPLETE");
  expect(stage.store.state(id)!.run).toMatchObject({ reason_code: "MAX_STEPS", config: { max_steps: 2 } });
});

test("raising a limit on the run's page answers its question", async () => {
  const stage = newStage();
  const id = stage.start(chain, config({ max_steps: 2 }));
  const open = await asked(stage, id);
  void stage.host.steering.raiseLimit(id, "max_steps", 90, "bo");
  await stage.host.settled(id);
  const { run, interactions } = stage.store.state(id)!;
  expect([run.final_status, run.config.max_steps, interactions[open.id]!.answered?.by]).toEqual([
    "COMPLETED",
    90,
    "bo",
  ]);
});

test("the log limit asks as well", async () => {
  const stage = newStage();
  const graph = draw(`start > ${Array.from({ length: 60 }, (_, at) => `t${at}`).join(" > ")} > end`);
  const id = stage.start(graph, config({ max_log_chars: 16_000 }));
  const { requested } = await asked(stage, id);
  expect([requested.args?.limit, requested.why]).toEqual([
    "max_log_chars",
    expect.stringContaining("characters. Raise the limit to continue, or store less data in its nodes"),
  ]);
  give(stage, id, "raise", { to: 1_000_000 });
  await stage.host.settled(id);
  expect(stage.store.state(id)!.run.final_status).toBe("COMPLETED");
});

test("the limit of active time asks in seconds and takes its answer in seconds", async () => {
  const slow = defineTool({
    name: "slow",
    description: "Takes its time",
    input: z.object({}),
    source: "builtin",
    risk: "LOW",
    execute: () => new Promise<Json>((resolve) => setTimeout(() => resolve("done"), 40)),
  });
  const stage = newStage({ tools: fakeTools([slow]) });
  const act = { node_type: "tool_call", config: { tool_name: "slow" } };
  const id = stage.start(draw("start > act > a > end", { act }), config({ max_active_ms: 1 }));
  const { requested } = await asked(stage, id);
  expect(requested.response_schema).toMatchObject({
    properties: {
      to: {
        title: "New limit, in seconds of active time",
        exclusiveMinimum: 0.001,
        maximum: 86_400,
        default: 1,
      },
    },
  });
  give(stage, id, "raise", { to: 30 });
  await stage.host.settled(id);
  expect(stage.store.state(id)!.run).toMatchObject({
    final_status: "COMPLETED",
    config: { max_active_ms: 30_000 },
  });
});

test("a run that is not set to ask stops at its limit without a question", async () => {
  const { state } = await newStage().run(chain, { config: { max_steps: 2 } });
  expect([state.run.final_status, state.interactions]).toEqual(["INCOMPLETE", {}]);
});

test("a failure in another branch still fails a run that asked about a limit", async () => {
  const stage = newStage();
  const graph = draw("start > a > b > end; start > w > x", {
    w: { config: { ms: 150 } },
    x: { node_type: "transform", config: { set: { y: "state.missing.deeper" } }, output_keys: ["y"] },
  });
  const id = stage.start(graph, config({ max_steps: 3 }));
  await asked(stage, id);
  give(stage, id, "raise");
  await stage.host.settled(id);
  expect(stage.store.state(id)!.run.final_status).toBe("ERROR");
});

test("a run paused while it asks can be answered, and continues only after the resume", async () => {
  const stage = newStage();
  const id = stage.start(chain, config({ max_steps: 2 }));
  await asked(stage, id);
  void stage.host.steering.command(id, { kind: "pause" }, "bo");
  await expect.poll(() => stage.store.find(id)!.status).toBe("paused");
  give(stage, id, "raise", { to: 50 });
  await expect.poll(() => stage.store.state(id)!.run.config.max_steps).toBe(50);
  expect(times(stage, id)).toEqual({ start: 1, a: 1 });
  void stage.host.steering.command(id, { kind: "resume" }, "bo");
  await stage.host.settled(id);
  expect([stage.store.state(id)!.run.final_status, times(stage, id)]).toEqual(["COMPLETED", done]);
});

test("a run interrupted at any turn asks about its limit once and continues once", async () => {
  const stage = newStage();
  const id = stage.start(chain, config({ max_steps: 2 }));
  const open = await asked(stage, id);
  give(stage, id, "raise", { to: 50 });
  await stage.host.settled(id);
  const turns = stage.store.journal(id).turns.length;
  for (let cut = 2; cut < turns; cut++) {
    const again = newStage({ db: cutAt(stage, id, cut) });
    again.host.recover();
    await again.host.settled(id);
    if (again.store.find(id)!.status === "waiting") give(again, id, "raise", { to: 50 });
    await again.host.settled(id);
    await expect.poll(() => again.store.state(id)!.run.final_status).toBe("COMPLETED");
    expect([times(again, id), Object.keys(again.store.state(id)!.interactions)]).toEqual([done, [open.id]]);
  }
});
