import { expect, test, vi } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { fireKey } from "@/server/domain/trigger/overlap";
import { type Api, newApi } from "../testing";

const HOUR = 3_600_000;
const QUICK = draw("start > w > end", { w: { config: { ms: 1 } } });
/** Waits until it is cancelled. */
const LONG = draw("start > w > end", { w: { config: { ms: 3_600_000 } } });

/** A workflow with a schedule whose last `behind` hourly planned times are due. */
async function scheduled(
  overlap: string,
  behind: number,
  { graph = QUICK, api = newApi(), config = {} } = {},
) {
  const workflow = api.workflows.create({ name: "W", graph });
  const { body } = await api.ask("POST", `/workflows/${workflow}/triggers`, {
    kind: "schedule",
    config: { every: { unit: "hour" }, time_zone: "UTC", overlap, ...config },
  });
  const id = body.id as string;
  const next = body.next_at as number;
  api.triggerStore.save(id, { next_at: next - behind * HOUR, by: "session:1" });
  return { api, workflow, id, next };
}
const statuses = (api: Api, id: string) =>
  api.triggerStore
    .fires(id)
    .map(({ status }) => status)
    .reverse();
const until = (api: Api, id: string, expected: string[]) =>
  vi.waitFor(() => expect(statuses(api, id)).toEqual(expected), { timeout: 10_000 });
const ask = async (api: Api, method: string, where: string, body?: JsonObject) => {
  const answer = await api.ask(method, where, body);
  return answer.body as Record<string, unknown>;
};

test("a schedule starts its runs with its input, and says who started them", async () => {
  const graph = draw("start > w > end", { start: { output_keys: ["topic"] }, w: { config: { ms: 1 } } });
  const { api, id, workflow, next } = await scheduled("skip", 1, {
    graph,
    config: { input: { topic: "a" } },
  });
  api.triggers.start();
  await until(api, id, ["started"]);
  const [run] = api.runs.list({ workflow_id: workflow });
  expect(run).toMatchObject({ trigger: "schedule", trigger_id: id });
  expect(api.runs.state(run!.id)!.input).toEqual({ topic: "a" });
  expect(api.triggerStore.fires(id)[0]!.key).toBe(fireKey(next - HOUR));
});

test("waiting fires start one after another as earlier runs end", async () => {
  const { api, id } = await scheduled("buffer_all", 4);
  api.triggers.start();
  await until(api, id, ["started", "started", "started", "started"]);
});

test("cancel_other cancels the run and starts once it has ended; terminate_other starts at once", async () => {
  for (const overlap of ["cancel_other", "terminate_other"]) {
    const { api, id, workflow, next } = await scheduled(overlap, 1, { graph: LONG });
    api.triggers.start();
    await until(api, id, ["started"]);
    // Another due planned time, at any time of day.
    api.triggerStore.save(id, { next_at: next - 1.5 * HOUR, by: "session:1" });
    api.triggers.changed();
    await until(api, id, ["started", "started"]);
    await vi.waitFor(() =>
      expect(api.runs.list({ workflow_id: workflow }).map(({ final_status }) => final_status)).toEqual([
        null,
        "CANCELLED",
      ]),
    );
  }
});

test("waiting fires continue after a run fails to start, until the schedule is disabled", async () => {
  const graph = draw("start > a > end", { a: { config: { set: { a: "1 +" } } } });
  const { api, id } = await scheduled("buffer_all", 15, { graph });
  api.triggers.start();
  await vi.waitFor(() => expect(api.triggerStore.find(id)?.enabled).toBe(false));
  await until(api, id, [...Array(10).fill("failed"), ...Array(5).fill("skipped")]);
});

test("a schedule goes on when its workflow comes back from the trash, however long it was there", async () => {
  const { api, id, workflow, next } = await scheduled("allow_all", 12);
  api.workflows.remove(workflow);
  api.triggers.start();
  await until(api, id, Array(12).fill("skipped"));
  expect(api.triggerStore.find(id)).toMatchObject({ enabled: true, next_at: next });
});

test("a disabled schedule starts nothing, and does not catch up when it is enabled", async () => {
  const { api, id, next } = await scheduled("buffer_all", 3, { graph: LONG });
  api.triggers.start();
  await until(api, id, ["started", "buffered", "buffered"]);
  await ask(api, "PUT", `/triggers/${id}`, { enabled: false });
  await until(api, id, ["started", "skipped", "skipped"]);
  expect(api.triggerStore.fires(id)[0]!.reason).toBe("The schedule was disabled.");
  expect(await ask(api, "GET", `/triggers/${id}/upcoming`)).toMatchObject({ next: [] });
  expect(await ask(api, "PUT", `/triggers/${id}`, { enabled: true })).toMatchObject({ next_at: next });
});

test("a change of the input keeps a planned time that is due", async () => {
  const { api, id, next } = await scheduled("skip", 1);
  const { body } = await api.ask("GET", `/triggers/${id}/upcoming`);
  expect(body).toMatchObject({ next: [next - HOUR, next, next + HOUR, next + 2 * HOUR, next + 3 * HOUR] });
  const config = { every: { unit: "hour" }, time_zone: "UTC", input: { topic: "b" } };
  expect(await ask(api, "PUT", `/triggers/${id}`, { config })).toMatchObject({ next_at: next - HOUR });
  const daily = { every: { unit: "day", at: "09:00" }, time_zone: "UTC" };
  const { next_at } = await ask(api, "PUT", `/triggers/${id}`, { config: daily });
  expect(next_at).toBeGreaterThan(Date.now());
});

test("missed planned times are listed, and a backfill runs them once", async () => {
  const { api, id, next } = await scheduled("skip", 6, { config: { catch_up_s: 2 * 3600 } });
  api.triggers.start();
  await until(api, id, ["missed", "missed", "missed", "missed", "started", "skipped"]);
  const upcoming = await ask(api, "GET", `/triggers/${id}/upcoming?count=2`);
  expect(upcoming).toMatchObject({
    description: "Every hour at :00, UTC",
    next: [next, next + HOUR],
    missed: [{ planned_at: next - 3 * HOUR, status: "missed" }, { planned_at: next - 4 * HOUR }],
    buffered: 0,
  });

  const range = { from: new Date(next - 8 * HOUR).toISOString(), to: new Date(next + HOUR).toISOString() };
  const preview = await ask(api, "POST", `/triggers/${id}/backfill`, range);
  expect(preview).toEqual({ count: 7, already_run: 1, confirmed: false });
  const done = await ask(api, "POST", `/triggers/${id}/backfill`, { ...range, confirm: true });
  expect(done).toEqual({ ...preview, confirmed: true });
  await until(api, id, Array(8).fill("started"));
  expect(await ask(api, "POST", `/triggers/${id}/backfill`, { ...range, confirm: true })).toMatchObject({
    count: 0,
    already_run: 8,
  });
});

test("refuses a backfill of more than 1,000 planned times, of a disabled schedule and of another kind", async () => {
  const { api, id, workflow } = await scheduled("skip", 0);
  const range = { from: "2020-01-01T00:00:00Z", to: "2026-01-01T00:00:00Z" };
  expect(await ask(api, "POST", `/triggers/${id}/backfill`, range)).toMatchObject({
    error: { code: "bad_request", message: expect.stringContaining("more than 1,000") },
  });
  await ask(api, "PUT", `/triggers/${id}`, { enabled: false });
  expect(await ask(api, "POST", `/triggers/${id}/backfill`, range)).toMatchObject({
    error: { code: "not_now" },
  });
  const hook = await ask(api, "POST", `/workflows/${workflow}/triggers`, { kind: "webhook" });
  expect(await ask(api, "GET", `/triggers/${String(hook.id)}/upcoming`)).toMatchObject({
    error: { code: "not_now" },
  });
});

test("a waiting fire starts with the input that the schedule has by then, and with the trust of it", async () => {
  const graph = draw("start > w > end", {
    start: { output_keys: ["topic"] },
    w: { config: { ms: 3_600_000 } },
  });
  const { api, id, workflow } = await scheduled("buffer_all", 2, {
    graph,
    config: { input: { topic: "a" } },
  });
  api.triggers.start();
  await until(api, id, ["started", "buffered"]);
  const stored = api.db.$client.prepare("select input from trigger_fires").pluck();
  expect(stored.all()).toEqual([null, null]);
  const { config } = api.triggerStore.ofKind("schedule")[0]!;
  api.triggerStore.save(id, { config: { ...config, input: { topic: "b" } }, by: "session:s" });
  const [first] = api.runs.list({ workflow_id: workflow });
  await ask(api, "POST", `/runs/${first!.id}/cancel`, {});
  await until(api, id, ["started", "started"]);
  const { input, run } = api.runs.state(api.triggerStore.fires(id)[0]!.run_id!)!;
  expect([input, run.origin?.trusted]).toEqual([{ topic: "b" }, true]);
  expect(api.runs.state(first!.id)!.run.origin?.trusted).toBeUndefined();
});

test("a backfill that would let more than 1,000 fires wait is refused, whether or not it is confirmed", async () => {
  const { api, id, next } = await scheduled("buffer_all", 0);
  const waiting = Array.from({ length: 998 }, (_, k) => next - (k + 100) * HOUR);
  api.triggerStore.addFires(
    id,
    waiting.map((planned_at) => ({ key: fireKey(planned_at), planned_at, status: "buffered" })),
    next,
  );
  const range = (hours: number) => ({
    from: new Date(next - hours * HOUR).toISOString(),
    to: new Date(next).toISOString(),
  });
  for (const confirm of [false, true])
    expect(await ask(api, "POST", `/triggers/${id}/backfill`, { ...range(3), confirm })).toMatchObject({
      error: { code: "not_now", message: expect.stringContaining("998 fires already wait") },
    });
  expect(await ask(api, "POST", `/triggers/${id}/backfill`, { ...range(2), confirm: true })).toMatchObject({
    count: 2,
  });
});

test("all waiting fires of a disabled schedule are skipped, however many", async () => {
  const { api, id, next } = await scheduled("buffer_all", 0);
  const waiting = Array.from({ length: 2_100 }, (_, k) => next - (k + 1) * HOUR);
  api.triggerStore.addFires(
    id,
    waiting.map((planned_at) => ({ key: fireKey(planned_at), planned_at, status: "buffered" })),
    next,
  );
  await ask(api, "PUT", `/triggers/${id}`, { enabled: false });
  api.triggers.start();
  await vi.waitFor(() => expect(api.triggerStore.countFires(id, "skipped")).toBe(2_100), { timeout: 10_000 });
});

test("a schedule with a very large input is refused", async () => {
  const api = newApi();
  const workflow = api.workflows.create({ name: "W", graph: QUICK });
  const config = { every: { unit: "hour" }, time_zone: "UTC", input: { a: "x".repeat(64_000) } };
  const answer = await ask(api, "POST", `/workflows/${workflow}/triggers`, { kind: "schedule", config });
  expect(answer).toMatchObject({ error: { message: expect.stringContaining("64,000 characters") } });
});

test("an invalid schedule is refused with what is wrong with it", async () => {
  const api = newApi();
  const workflow = api.workflows.create({ name: "W", graph: QUICK });
  const answer = await ask(api, "POST", `/workflows/${workflow}/triggers`, {
    kind: "schedule",
    config: { every: { cron: "0 0 30 2 *" }, time_zone: "UTC" },
  });
  expect(answer).toMatchObject({ error: { message: expect.stringContaining("This date never comes") } });
});

test("services that were not started fire nothing, as in a second process or while a backup is restored", async () => {
  const { api, id } = await scheduled("skip", 2);
  api.triggers.changed();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(statuses(api, id)).toEqual([]);
});
