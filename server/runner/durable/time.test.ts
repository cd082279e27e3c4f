import { afterEach, expect, test, vi } from "vitest";
import { z } from "zod";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { defineTool } from "@/server/tools/define";
import { cutAt, fakeModels, fakeTools, newStage, role } from "../testing";

/** A clock that goes as it does, and jumps when told. */
function newClock() {
  const shift = { wall: 0, work: 0 };
  return {
    now: () => Date.now() + shift.wall,
    monotonic: () => performance.now() + shift.work,
    /** As after a sleep of the machine, on a system whose timers count that time. */
    sleep(ms: number) {
      shift.wall += ms;
      shift.work += ms;
    },
    set(ms: number) {
      shift.wall += ms;
    },
    work(ms: number) {
      shift.work += ms;
    },
  };
}
afterEach(() => void vi.useRealTimers());

const HOUR = 3_600_000;
const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
};
const agentGraph = (more: object = {}): WorkflowGraph =>
  draw("start > write > after > end", {
    write: {
      node_type: "agent_task",
      config: { required_role: "Writer", task_description_template: "Write" },
      output_keys: ["text"],
      ...more,
    },
  });
const roles = [role("Writer")];

test("server downtime counts neither as active time nor toward a node's timeout", async () => {
  const first = newStage({ models: fakeModels(() => new Promise<string>(() => {})) });
  const graph = agentGraph({ run_timeout_ms: 8000 });
  const id = first.start(graph, { roles, config: { max_active_ms: 8000 } });
  await until(() => first.store.events(id).some(({ type }) => type === "llm_call_started"));
  await first.host.drain(0);
  const clock = newClock();
  clock.set(12_000);
  const second = newStage({ db: cutAt(first, id, 1e6), models: fakeModels(() => "done"), clock });
  second.host.recover();
  await second.host.settled(id);
  expect(second.store.state(id)!.run).toMatchObject({ final_status: "COMPLETED" });
});

test.each([
  ["a sleeping machine", (clock: ReturnType<typeof newClock>) => clock.sleep(HOUR)],
  ["a clock set forward", (clock: ReturnType<typeof newClock>) => clock.set(HOUR)],
  ["a clock set back", (clock: ReturnType<typeof newClock>) => clock.set(-HOUR)],
])("%s uses up no limit of a run", async (_name, jump) => {
  const clock = newClock();
  let answer = (_text: string) => {};
  const stage = newStage({
    clock,
    models: fakeModels(() => new Promise<string>((resolve) => (answer = resolve))),
  });
  const id = stage.start(agentGraph({ run_timeout_ms: 60_000 }), {
    roles,
    config: { max_active_ms: 60_000 },
  });
  await until(() => stage.store.events(id).some(({ type }) => type === "llm_call_started"));
  jump(clock);
  await new Promise((resolve) => setTimeout(resolve, 20));
  answer("done");
  await stage.host.settled(id);
  expect(stage.store.state(id)!.run).toMatchObject({ final_status: "COMPLETED" });
  // What was measured is in the log: a replay counts the same.
  const again = newStage({ db: cutAt(stage, id, stage.store.journal(id).turns.length - 1) });
  again.host.recover();
  await again.host.settled(id);
  expect(again.store.state(id)!.run).toMatchObject({ final_status: "COMPLETED" });
});

test("active time counts in full if the clock is set back", async () => {
  const clock = newClock();
  const stage = newStage({
    clock,
    models: fakeModels(async () => {
      clock.set(-HOUR);
      clock.work(1300);
      return "done";
    }),
  });
  const { state } = await stage.run(agentGraph(), { roles, config: { max_active_ms: 1000 } });
  expect(state.run).toMatchObject({ final_status: "INCOMPLETE", reason_code: "TIME_LIMIT" });
});

test.each([-HOUR, HOUR])(
  "a short wait keeps its duration although the clock changes by %i ms",
  async (ms) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
    const clock = newClock();
    const stage = newStage({ clock });
    const id = stage.start(draw("start > w > end", { w: { node_type: "wait", config: { ms: 150 } } }));
    const ending = () => stage.store.state(id)!.run.final_status;
    while (!stage.store.events(id).some(({ type }) => type === "node_waiting"))
      await new Promise((resolve) => setImmediate(resolve));
    clock.set(ms);
    await vi.advanceTimersByTimeAsync(149);
    expect(ending()).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    await stage.host.settled(id);
    expect(ending()).toBe("COMPLETED");
  },
);

test("a short wait resumed after the clock was set back lasts no longer than configured", async () => {
  const first = newStage();
  const graph = draw("start > w > end", { w: { node_type: "wait", config: { ms: 300 } } });
  const id = first.start(graph);
  await until(() => first.store.events(id).some(({ type }) => type === "node_waiting"));
  await first.host.drain(0);
  const clock = newClock();
  clock.set(-HOUR);
  const second = newStage({ db: cutAt(first, id, 1e6), clock });
  second.host.recover();
  await second.host.settled(id);
  expect(second.store.state(id)!.run.final_status).toBe("COMPLETED");
});

test("a long wait ends at its due time, even if the machine slept", async () => {
  const clock = newClock();
  const stage = newStage({ clock });
  const graph = draw("start > w > end", { w: { node_type: "wait", config: { ms: 8 * HOUR } } });
  const id = stage.start(graph);
  await until(() => stage.store.events(id).some(({ type }) => type === "node_waiting"));
  await stage.host.drain(0);
  clock.sleep(9 * HOUR);
  const second = newStage({ db: cutAt(stage, id, 1e6), clock });
  second.host.recover();
  await second.host.settled(id);
  expect(second.store.state(id)!.run.final_status).toBe("COMPLETED");
});

const send = defineTool({
  name: "send",
  description: "Sends",
  input: z.object({}),
  source: "builtin",
  risk: "HIGH",
  execute: () => "sent",
});
const sending = draw("start > n > end", {
  n: { node_type: "tool_call", config: { tool_name: "send" } },
});

test("an open question can still be answered after the server slept or was down", async () => {
  const clock = newClock();
  const people = { answer_within_ms: HOUR };
  const first = newStage({ clock, people, tools: fakeTools([send]) });
  const id = first.start(sending);
  await until(() => first.store.find(id)?.status === "waiting");
  clock.sleep(9 * HOUR);
  await first.host.drain(0);
  const second = newStage({ db: cutAt(first, id, 1e6), clock, tools: fakeTools([send]) });
  second.host.recover();
  await until(() => second.store.events(id).some(({ type }) => type === "interaction_extended"));
  await new Promise((resolve) => setTimeout(resolve, 20));
  const [open] = Object.values(second.store.state(id)!.interactions);
  expect(open).toMatchObject({ status: "open" });
  expect(open!.requested.expires_at).toBeGreaterThan(clock.now() + 4 * 60_000);
  const { fingerprint } = open!.requested;
  expect(second.host.steering.answer(id, open!.id, fingerprint, { answer: "approve", by: "ann" })).toBe(true);
  await second.host.settled(id);
  expect(second.store.state(id)!.run.final_status).toBe("COMPLETED");
});

test("a question can be answered right after the machine wakes, before any timer fires", async () => {
  const clock = newClock();
  const stage = newStage({ clock, people: { answer_within_ms: HOUR }, tools: fakeTools([send]) });
  const id = stage.start(sending);
  await until(() => stage.store.find(id)?.status === "waiting");
  clock.sleep(9 * HOUR);
  const [open] = Object.values(stage.store.state(id)!.interactions);
  const { fingerprint } = open!.requested;
  expect(stage.host.steering.answer(id, open!.id, fingerprint, { answer: "approve", by: "ann" })).toBe(true);
  await stage.host.settled(id);
  expect(stage.store.state(id)!.run.final_status).toBe("COMPLETED");
});

test("an external event carries the time at which it arrived", async () => {
  const clock = newClock();
  const stage = newStage({ clock, models: fakeModels(() => new Promise<string>(() => {})) });
  const id = stage.start(agentGraph(), { roles });
  await until(() => stage.store.events(id).some(({ type }) => type === "llm_call_started"));
  clock.set(8000);
  stage.host.cancel(id, { by: "user", reason: "" });
  await stage.host.settled(id);
  const { run } = stage.store.state(id)!;
  expect(run.final_status).toBe("CANCELLED");
  expect(run.finished_at! - run.started_at!).toBeGreaterThanOrEqual(8000);
});
