import { expect, test } from "vitest";
import { z } from "zod";
import type { RunEvent } from "@/server/domain/run/events";
import { draw } from "@/server/domain/testing/drawing";
import { defineTool } from "@/server/tools/define";
import { cutAt, fakeTools, newStage } from "../testing";

const HOUR = 3_600_000;
const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
};
type Stage = ReturnType<typeof newStage>;
/** How many runs the process of a stage keeps in memory. */
const inMemory = ({ host }: Stage) => (host as unknown as { live: Map<string, unknown> }).live.size;
const answer = (stage: Stage, id: string) => {
  const [open] = Object.values(stage.store.state(id)!.interactions);
  return stage.host.steering.answer(id, open!.id, open!.requested.fingerprint, {
    answer: "approve",
    by: "ann",
  });
};

const tools = () =>
  fakeTools([
    defineTool({
      name: "say",
      description: "Says it",
      input: z.object({}),
      source: "builtin",
      risk: "HIGH",
      execute: () => ({}),
    }),
  ]);
const asking = draw("start > a > say > b > end", {
  say: { node_type: "tool_call", config: { tool_name: "say" } },
});
const sleeping = draw("start > a > w > b > end", { w: { config: { ms: HOUR } } });
const typesOf = (events: readonly RunEvent[]) => events.map(({ type }) => type);

test("a run that waits for a person is unloaded from memory and resumes when answered", async () => {
  const stage = newStage({ tools: tools() });
  const id = stage.start(asking);
  const seen: RunEvent[] = [];
  const following = (async () => {
    for await (const frame of stage.host.follow(id, 0))
      if (frame.kind === "events") seen.push(...frame.events);
  })();
  await until(() => stage.store.find(id)?.status === "waiting" && inMemory(stage) === 0);
  expect(stage.host.live.isHere(id)).toBe(true);
  const ended = stage.host.settled(id);
  expect(answer(stage, id)).toBe(true);
  await Promise.all([ended, following]);
  const events = stage.store.events(id, 0, 1e6);
  expect(stage.store.state(id)!.run.final_status).toBe("COMPLETED");
  expect(seen).toEqual(events);
  expect(typesOf(events)).not.toContain("run_recovered");
});

test("a run with a long wait is unloaded and wakes in time, and a short wait stays in memory", async () => {
  const shift = { ms: 0 };
  const clock = { now: () => Date.now() + shift.ms, monotonic: () => performance.now() };
  const stage = newStage({ clock });
  const short = stage.start(draw("start > w > end", { w: { config: { ms: 30_000 } } }));
  const id = stage.start(sleeping);
  await until(() => stage.store.find(id)?.status === "waiting" && inMemory(stage) === 1);
  shift.ms = HOUR - 1_000;
  await stage.host.settled(id);
  const { state, at } = { state: stage.store.state(id)!, at: stage.store.events(id, 0, 1e6).at(-1)!.ts };
  expect(state.run.final_status).toBe("COMPLETED");
  expect(at - state.run.started_at!).toBeGreaterThanOrEqual(HOUR);
  expect(stage.host.cancel(short, { by: "user", reason: "" })).toBe(true);
  await stage.host.settled(short);
});

test("an unloaded run can be cancelled", async () => {
  const stage = newStage();
  const id = stage.start(sleeping);
  await until(() => stage.store.find(id)?.status === "waiting" && inMemory(stage) === 0);
  expect(stage.host.cancel(id, { by: "user", reason: "enough" })).toBe(true);
  await stage.host.settled(id);
  expect(stage.store.state(id)!.run.final_status).toBe("CANCELLED");
});

test("a restart leaves waiting runs unloaded and resumes runs answered in the meantime", async () => {
  const first = newStage({ tools: tools() });
  const [waits, answered] = [first.start(sleeping), first.start(asking)];
  await until(() => first.store.countUnfinished() === 2 && inMemory(first) === 0);
  await until(() => first.store.find(answered)?.status === "waiting");
  const db = cutAt(first, waits, 1e6);
  db.$client
    .prepare(
      "update runs set status = 'waiting', last_turn = (select max(turn) from run_turns where run_id = id)",
    )
    .run();
  const second = newStage({ db, tools: tools() });
  const [open] = Object.values(second.store.state(answered)!.interactions);
  second.store.signal(answered, `answer:${open!.id}`, { answer: "approve", by: "ann" }, Date.now());
  expect(second.host.recover()).toBe(2);
  await second.host.settled(answered);
  expect(second.store.state(answered)!.run.final_status).toBe("COMPLETED");
  expect([inMemory(second), second.store.find(waits)!.status]).toEqual([0, "waiting"]);
  expect(typesOf(second.store.events(waits, 0, 1e6))).not.toContain("run_recovered");
  expect(second.host.cancel(waits, { by: "user", reason: "" })).toBe(true);
  await second.host.settled(waits);
  expect(typesOf(second.store.events(waits, 0, 1e6))).toContain("run_finished");
});
