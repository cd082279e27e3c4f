import { expect, test } from "vitest";
import { z } from "zod";
import type { Json } from "@/server/domain/base/values";
import type { RunCommand } from "@/server/domain/run/commands/command";
import { draw } from "@/server/domain/testing/drawing";
import { defineTool } from "@/server/tools/define";
import { fakeTools, newStage } from "../testing";

type Stage = ReturnType<typeof newStage>;
const stateOf = (stage: Stage, id: string) => stage.store.state(id)!;
const sendCommand = (stage: Stage, id: string, command: RunCommand) =>
  stage.host.steering.command(id, command, "ann");
const statusIs = (stage: Stage, id: string, status: string) =>
  expect.poll(() => stage.store.find(id)?.status).toBe(status);

/** A tool whose calls end when the test says so, and how many were under way at most. */
function newWork() {
  const open: ((value: Json) => void)[] = [];
  const seen = { most: 0, begun: 0 };
  const tool = defineTool({
    name: "work",
    description: "Works",
    input: z.object({}),
    source: "builtin",
    risk: "LOW",
    execute: () => {
      seen.begun++;
      return new Promise<Json>((resolve) => {
        open.push(resolve);
        seen.most = Math.max(seen.most, open.length);
      });
    },
  });
  const end = async () => {
    await expect.poll(() => open.length).toBeGreaterThan(0);
    open.shift()?.("done");
  };
  return { tools: fakeTools([tool]), open, seen, end };
}
const work = (more: object = {}) => ({ node_type: "tool_call", config: { tool_name: "work" }, ...more });

test.each([
  ["with the same concurrency key run in sequence", { concurrency_key: "k" }, { concurrency_key: "k" }, 1],
  ["with different concurrency keys run in parallel", { concurrency_key: "k" }, { concurrency_key: "l" }, 2],
  ["without a concurrency key run in parallel", {}, {}, 2],
  ["with and without a concurrency key run in parallel", { concurrency_key: "k" }, {}, 2],
])("nodes %s", async (_how, a, b, most) => {
  const { tools, seen, end } = newWork();
  const stage = newStage({ tools });
  const id = stage.start(draw("start > a > end; start > b > end", { a: work(a), b: work(b) }));
  await expect.poll(() => seen.begun).toBe(most);
  await end();
  await end();
  await stage.host.settled(id);
  expect([seen, stateOf(stage, id).run.final_status]).toEqual([{ most, begun: 2 }, "COMPLETED"]);
});

test.each([
  ["up to the limit of the run", 2, 2],
  ["all at once within the limit", 3, 3],
])("parallel branches run %s", async (_how, max_parallel_nodes, most) => {
  const { tools, seen, end } = newWork();
  const stage = newStage({ tools });
  const graph = draw("start > a > end; start > b > end; start > c > end", {
    a: work(),
    b: work(),
    c: work(),
  });
  const id = stage.start(graph, { config: { max_parallel_nodes } });
  await expect.poll(() => seen.begun).toBe(most);
  for (let k = 0; k < 3; k++) await end();
  await stage.host.settled(id);
  expect(seen).toEqual({ most, begun: 3 });
});

test.each([
  [{ x: "ERROR" }, "ERROR"],
  [{ x: "COMPLETED" }, "COMPLETED"],
] as const)("a run that reaches two end nodes, the second with %j, ends as %s", async ({ x }, status) => {
  const { state } = await newStage().run(
    draw("start > endA; start > endB", { endB: { config: { status: x } } }),
  );
  expect([state.run.final_status, state.run.reason_code]).toEqual([status, "END_REACHED"]);
});

test("a run whose branches all end before an end node reports how to fix it", async () => {
  const { state } = await newStage().run(draw("start > a"));
  expect(state.run).toMatchObject({
    final_status: "INCOMPLETE",
    reason_code: "NO_END_REACHED",
    error: {
      code: "NO_END_REACHED",
      message: "Every branch ended before it reached an end node.",
      retryable: false,
      user_action: "edit_graph",
    },
  });
});

test.each([
  ["Slow one", "Slow one timed out after 100 ms."],
  ["", "a timed out after 100 ms."],
])("the timeout error of a node names the node (%j)", async (name, text) => {
  const { tools } = newWork();
  const { state } = await newStage({ tools }).run(
    draw("start > a > end", { a: work({ name, run_timeout_ms: 100 }) }),
  );
  expect(state.run).toMatchObject({
    final_status: "ERROR",
    error: { code: "TIMEOUT", retryable: true, user_action: "retry" },
  });
  expect(state.run.error?.message).toContain(text);
});

test("a cancelled run reports the given reason or a default reason", async () => {
  for (const [reason, message] of [
    ["Enough.", "Enough."],
    ["", "The run was cancelled."],
  ]) {
    const { tools, seen } = newWork();
    const stage = newStage({ tools });
    const id = stage.start(draw("start > a > end", { a: work() }));
    await expect.poll(() => seen.begun).toBe(1);
    stage.host.cancel(id, { by: "ann", reason: reason ?? "" });
    await stage.host.settled(id);
    const { run, activations } = stateOf(stage, id);
    expect([run.final_status, activations["a#1"]?.status]).toEqual(["CANCELLED", "cancelled"]);
    expect(JSON.stringify(stage.store.events(id, 0, 1e6))).toContain(message);
    expect(stage.host.cancel(id, { by: "ann", reason: "" })).toBe(false);
  }
  expect(newStage().host.cancel("run_nobody", { by: "ann", reason: "" })).toBe(false);
});

test("a pause extends the time to answer a question", async () => {
  const clock = { ahead: 0, now: () => Date.now() + clock.ahead, monotonic: () => performance.now() };
  const send = defineTool({
    name: "send",
    description: "Sends",
    input: z.object({}),
    source: "builtin",
    risk: "HIGH",
    execute: () => "sent",
  });
  const stage = newStage({ clock, people: { answer_within_ms: 3_600_000 }, tools: fakeTools([send]) });
  const id = stage.start(
    draw("start > n > end", { n: { node_type: "tool_call", config: { tool_name: "send" } } }),
  );
  await statusIs(stage, id, "waiting");
  const until = () => Object.values(stateOf(stage, id).interactions)[0]?.requested.expires_at ?? 0;
  const before = until();
  await sendCommand(stage, id, { kind: "pause" });
  await statusIs(stage, id, "paused");
  clock.ahead = 600_000;
  await sendCommand(stage, id, { kind: "resume" });
  await statusIs(stage, id, "waiting");
  expect(until() - before).toBeGreaterThanOrEqual(600_000);
  const [open] = Object.values(stateOf(stage, id).interactions);
  stage.host.steering.answer(id, open!.id, open!.requested.fingerprint, { answer: "approve", by: "ann" });
  await stage.host.settled(id);
  expect(stateOf(stage, id).run.final_status).toBe("COMPLETED");
});

test("stepping doesn't stop at a node that its condition skips", async () => {
  const stage = newStage();
  const id = stage.start(draw("start > a > b > end", { a: { when: "false" } }), {
    config: { mode: "step" },
  });
  const stops: (string | undefined)[] = [];
  for (;;) {
    await expect.poll(() => ["paused", "finished"].includes(stage.store.find(id)!.status)).toBe(true);
    if (stage.store.find(id)!.status === "finished") break;
    stops.push(stateOf(stage, id).run.paused_at?.activation_id);
    await sendCommand(stage, id, { kind: "step", granularity: "node" });
  }
  expect(stops).toEqual(["start#1", "b#1", "end#1"]);
});
