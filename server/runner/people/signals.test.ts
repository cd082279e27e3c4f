import { expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import type { RunCommand } from "@/server/domain/run/commands/command";
import { draw } from "@/server/domain/testing/drawing";
import { newStage } from "../testing";

type Stage = ReturnType<typeof newStage>;

const paid = { node_type: "wait" as const, output_keys: ["amount"], config: { signal: "paid" } };
const one = draw("start > w > end", { w: paid });
const signal = (name: string, data: Json = null): RunCommand => ({ kind: "signal", name, data });
const sendCommand = async (stage: Stage, id: string, command: RunCommand) => {
  const { heard } = await stage.host.steering.command(id, command, "ann");
  return heard === "ended" ? null : heard;
};
const refusal = async (stage: Stage, id: string, command: RunCommand) => {
  const event = (await sendCommand(stage, id, command))?.find(({ type }) => type === "warning");
  return event?.type === "warning" ? event.payload.message : null;
};
const waits = (stage: Stage, id: string) => expect.poll(() => stage.store.find(id)?.status).toBe("waiting");
const outcome = async (stage: Stage, id: string) => {
  await expect.poll(() => stage.store.find(id)?.status).toBe("finished");
  const { run, state } = stage.store.state(id)!;
  return [run.final_status, state.amount];
};

test("a run waits for a signal across a restart and continues with its data", async () => {
  const first = newStage();
  const id = first.start(one);
  await waits(first, id);
  expect(first.store.find(id)?.waits_for).toBeNull();
  const stage = newStage({ db: first.db });
  stage.host.recover();
  await sendCommand(stage, id, signal("paid", { amount: 7, from: "ann" }));
  expect(await outcome(stage, id)).toEqual(["COMPLETED", 7]);
});

test("a node with a single output key receives all data of a signal", async () => {
  const stage = newStage();
  const id = stage.start(one);
  await waits(stage, id);
  await sendCommand(stage, id, signal("paid", [1, 2]));
  expect(await outcome(stage, id)).toEqual(["COMPLETED", [1, 2]]);
});

test("a signal resumes every node that waits for it", async () => {
  const stage = newStage();
  const id = stage.start(
    draw("start > a > j; start > b > j; j > end", { a: paid, b: { ...paid, output_keys: [] } }),
  );
  await waits(stage, id);
  await sendCommand(stage, id, signal("paid", 5));
  expect(await outcome(stage, id)).toEqual(["COMPLETED", 5]);
});

test("early signals are kept and consumed in the order in which they arrived", async () => {
  const stage = newStage();
  const graph = draw("start > a > b > end", { a: paid, b: { ...paid, output_keys: ["more"] } });
  const id = stage.start(graph, { config: { breakpoints: [{ on: "node_start", node_id: "a" }] } });
  await expect.poll(() => stage.store.find(id)?.status).toBe("paused");
  await sendCommand(stage, id, signal("paid", 1));
  await sendCommand(stage, id, signal("paid", 2));
  await sendCommand(stage, id, { kind: "resume" });
  expect(await outcome(stage, id)).toEqual(["COMPLETED", 1]);
  expect(stage.store.state(id)?.state.more).toBe(2);
});

test("a wait for a signal times out", async () => {
  const stage = newStage();
  const id = stage.start(
    draw("start > w > end", { w: { ...paid, config: { signal: "paid", timeout_ms: 20 } } }),
  );
  expect((await outcome(stage, id))[0]).toBe("ERROR");
  expect(stage.store.state(id)?.run.error?.message).toBe('No one sent the signal "paid" in time.');
});

test("a signal that no node waits for or that lacks data is rejected and not stored", async () => {
  const stage = newStage();
  const two = { ...paid, output_keys: ["amount", "from"] };
  const graph = draw("start > a > w > end", { a: two, w: { node_type: "wait", config: { signal: "done" } } });
  const id = stage.start(graph);
  await waits(stage, id);
  expect([
    await refusal(stage, id, signal("luck")),
    await refusal(stage, id, signal("paid", { amount: 1 })),
  ]).toEqual([
    'Nothing in this workflow waits for a signal "luck".',
    "a needs these values in the signal's data: amount, from.",
  ]);
  await sendCommand(stage, id, signal("paid", { amount: 1, from: "ann" }));
  await waits(stage, id);
  expect(await refusal(stage, id, signal("paid", { amount: 1, from: "ann" }))).toBe(
    'Nothing in this run is still waiting for the signal "paid".',
  );
  expect(stage.store.state(id)?.signals).toEqual({});
  await sendCommand(stage, id, signal("done"));
  expect(await outcome(stage, id)).toEqual(["COMPLETED", 1]);
});
