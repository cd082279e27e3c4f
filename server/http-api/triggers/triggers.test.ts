import { expect, test, vi } from "vitest";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { ScheduleConfig } from "@/server/domain/trigger/schedule";
import { type Api, newApi } from "../testing";
import { serveHook } from "./webhooks";

const HOST = "127.0.0.1:3000";
const inputs = (...keys: string[]) => ({ start: { output_keys: keys } });
const OK = draw("start > w > end");
const FAILS = draw("start > a > end", { a: { config: { set: { a: "state.missing" } } } });

const addTrigger = async (api: Api, workflow: string, body: JsonObject) =>
  api.ask("POST", `/workflows/${workflow}/triggers`, body);

/** A delivery with an ID to the webhook with this key. */
const deliver = (api: Api, key: string, id: string, body = "{}") =>
  serveHook(
    new Request(`http://${HOST}/hooks/${key}`, {
      method: "POST",
      headers: {
        ...{ host: HOST, "content-type": "application/json", "webhook-id": id },
        ...{ "x-forwarded-for": key, "content-length": String(body.length) },
      },
      body,
    }),
    key,
    () => api,
  );

const runsOf = (api: Api, workflow_id: string) => api.runs.list({ workflow_id, limit: 200 });
const hasEnded = (api: Api, workflow: string, count: number) =>
  vi.waitFor(() => {
    const runs = runsOf(api, workflow);
    expect(runs.filter(({ status }) => status === "finished")).toHaveLength(count);
    return runs;
  });

/** The state that the next process finds after a kill. */
async function afterKill(api: Api): Promise<Api> {
  api.triggers.stop();
  await api.host.drain(0);
  const next = newApi(undefined, undefined, api.db);
  next.host.recover();
  next.triggers.start();
  return next;
}

test("the end of a run starts a run of another workflow with its output as input", async () => {
  const api = newApi();
  api.triggers.start();
  const first = api.workflows.create({ name: "First", graph: draw("start > a > end") });
  const second = api.workflows.create({ name: "Second", graph: draw("start > w > end", inputs("a")) });
  await addTrigger(api, second, { kind: "workflow", config: { workflow_id: first } });
  await api.ask("POST", `/workflows/${first}/runs`, {});
  const [run] = await hasEnded(api, second, 1);
  const state = api.runs.state(run!.id)!;
  expect(run).toMatchObject({ trigger: "event" });
  expect(state.input).toEqual({ a: "a" });
  expect(state.run.origin).toMatchObject({ kind: "event", depth: 1 });
});

test("failed runs start a workflow that waits for failures, with the error; runs of single nodes don't", async () => {
  const api = newApi();
  api.triggers.start();
  const first = api.workflows.create({ name: "First", graph: FAILS });
  const second = api.workflows.create({ name: "Second", graph: draw("start > w > end", inputs("why")) });
  const input = { why: "status + ': ' + error" };
  await addTrigger(api, second, {
    kind: "workflow",
    config: { workflow_id: first, on: ["failed", "completed"], input },
  });
  await api.ask("POST", `/workflows/${first}/nodes/a/runs`, { state: { missing: 1 } });
  await api.ask("POST", `/workflows/${first}/runs`, {});
  await hasEnded(api, first, 2);
  const runs = await hasEnded(api, second, 1);
  expect(api.runs.state(runs[0]!.id)!.input.why).toMatch(/^failed: .*missing/);
});

test("runs that ended while the server was down start their followers once after a restart", async () => {
  const api = newApi();
  const first = api.workflows.create({ name: "First", graph: OK });
  const second = api.workflows.create({ name: "Second", graph: OK });
  await addTrigger(api, second, { kind: "workflow", config: { workflow_id: first } });
  for (let k = 0; k < 3; k++) await api.ask("POST", `/workflows/${first}/runs`, {});
  await hasEnded(api, first, 3);
  expect(runsOf(api, second)).toEqual([]);
  const next = await afterKill(api);
  await hasEnded(next, second, 3);
  const again = await afterKill(next);
  await again.ask("POST", `/workflows/${first}/runs`, {});
  await hasEnded(again, second, 4);
});

test("a run that failed while no one watched starts its follower, however many were completed before", async () => {
  const api = newApi();
  const first = api.workflows.create({ name: "First", graph: FAILS });
  const second = api.workflows.create({ name: "Second", graph: OK });
  await addTrigger(api, second, { kind: "workflow", config: { workflow_id: first, on: ["failed"] } });
  const insert = api.db.$client.prepare(
    `insert into runs (id, workflow_id, workflow_name, status, final_status, interpreter_version, trigger, created_at, finished_at)
     values (?, ?, 'First', 'finished', 'COMPLETED', 1, 'api', @at, @at)`,
  );
  for (let k = 0; k < 1_001; k++) insert.run(`run_${k}`, first, { at: Date.now() });
  await api.ask("POST", `/workflows/${first}/runs`, {});
  await hasEnded(api, second, 0);
  await vi.waitFor(() => expect(api.runs.list({ final_status: "ERROR" })).toHaveLength(1));
  await hasEnded(await afterKill(api), second, 1);
});

test("a trigger that would let a workflow start itself is refused", async () => {
  const api = newApi();
  const [a, b, c] = ["A", "B", "C"].map((name) => api.workflows.create({ name, graph: OK }));
  const after = (workflow: string, other: string) =>
    addTrigger(api, workflow, { kind: "workflow", config: { workflow_id: other } });
  expect((await after(a!, a!)).body.error.code).toBe("trigger_loop");
  expect((await after(b!, a!)).status).toBe(201);
  expect((await after(c!, b!)).status).toBe(201);
  expect(await after(a!, c!)).toMatchObject({ status: 422, body: { error: { code: "trigger_loop" } } });
  expect((await after(a!, "none")).status).toBe(404);
});

test("a chain stops after five ended runs", async () => {
  const api = newApi();
  api.triggers.start();
  const ids = Array.from({ length: 8 }, (_, k) => api.workflows.create({ name: `${k}`, graph: OK }));
  const last: string[] = [];
  for (const [k, id] of ids.entries())
    if (k > 0)
      last.push(
        (await addTrigger(api, id, { kind: "workflow", config: { workflow_id: ids[k - 1]! } })).body.id,
      );
  await api.ask("POST", `/workflows/${ids[0]}/runs`, {});
  await hasEnded(api, ids[5]!, 1);
  await vi.waitFor(async () =>
    expect((await api.ask("GET", `/triggers/${last[5]}/fires`)).body.fires).toMatchObject([
      { status: "skipped", run_id: null },
    ]),
  );
  expect(runsOf(api, ids[6]!)).toEqual([]);
});

const reported = async (api: Api) => (await api.ask("GET", "/triggers/disabled")).body.triggers;

test("a trigger is disabled after ten failures in a row and reported until it is enabled", async () => {
  const api = newApi();
  api.triggers.start();
  const first = api.workflows.create({ name: "First", graph: OK });
  const workflow = api.workflows.create({ name: "Fails", graph: FAILS });
  const { body } = await addTrigger(api, workflow, { kind: "workflow", config: { workflow_id: first } });
  const start = () => api.ask("POST", `/workflows/${first}/runs`, {});
  for (let k = 0; k < 9; k++) await start();
  await hasEnded(api, workflow, 9);
  expect(await reported(api)).toEqual([]);
  await start();
  await vi.waitFor(async () =>
    expect(await reported(api)).toMatchObject([
      { id: body.id, enabled: false, failures: 10, workflow_name: "Fails" },
    ]),
  );
  await api.ask("PUT", `/triggers/${body.id}`, { enabled: true });
  expect(await reported(api)).toEqual([]);
});

test("deliveries don't disable a webhook, whatever they make of its runs, but failed runs are reported", async () => {
  const api = newApi();
  api.triggers.start();
  const workflow = api.workflows.create({ name: "Fails", graph: FAILS });
  const { body } = await addTrigger(api, workflow, { kind: "webhook" });
  for (let k = 0; k < 10; k++) await deliver(api, body.key, `${k}`);
  await vi.waitFor(async () =>
    expect(await reported(api)).toMatchObject([{ id: body.id, enabled: true, disabled_reason: null }]),
  );
  expect((await deliver(api, body.key, "10")).status).toBe(202);
  await api.ask("PUT", `/triggers/${body.id}`, { enabled: true });
  expect(await reported(api)).toEqual([]);
});

test("a webhook is disabled after ten runs that could not start, unless that is because of their input", async () => {
  const api = newApi();
  const graph = (set: JsonObject) => draw("start > a > end", { ...inputs("text"), a: { config: { set } } });
  const workflow = api.workflows.create({
    name: "W",
    graph: { ...graph({}), config: RunConfig.parse({ max_state_chars: 1_000 }) },
  });
  const { body } = await addTrigger(api, workflow, { kind: "webhook" });
  const large = JSON.stringify({ text: "x".repeat(2_000) });
  for (let k = 0; k < 10; k++) expect((await deliver(api, body.key, `${k}`, large)).status).toBe(503);
  expect(await reported(api)).toEqual([]);
  expect(api.triggerStore.fires(body.id)[0]).toMatchObject({
    status: "skipped",
    reason: "The input is too large.",
  });
  api.workflows.save({ id: workflow, revision: 1, graph: graph({ a: "1 +" }) });
  for (let k = 0; k < 10; k++) await deliver(api, body.key, `late ${k}`, '{"text": "a"}');
  expect(await reported(api)).toMatchObject([{ id: body.id, enabled: false }]);
  expect((await deliver(api, body.key, "later")).status).toBe(404);
});

test("a completed run resets the count of failures, and tests of the trigger don't count", async () => {
  const api = newApi();
  api.triggers.start();
  const workflow = api.workflows.create({ name: "Mixed", graph: FAILS });
  const { body } = await addTrigger(api, workflow, { kind: "webhook" });
  const failures = async () =>
    (await api.ask("GET", `/workflows/${workflow}/triggers`)).body.triggers[0].failures;
  for (let k = 0; k < 3; k++) await deliver(api, body.key, `${k}`);
  await vi.waitFor(async () => expect(await failures()).toBe(3));
  const tested = await api.ask("POST", `/triggers/${body.id}/test`, {});
  expect(tested.status).toBe(202);
  expect(api.runs.find(tested.body.run_id)).toMatchObject({ trigger: "test", trigger_id: null });
  await hasEnded(api, workflow, 4);
  api.workflows.save({ id: workflow, revision: 1, graph: OK });
  await deliver(api, body.key, "good");
  await vi.waitFor(async () => expect(await failures()).toBe(0));
});

test("a workflow deleted for good takes its triggers, versions and variables with it", async () => {
  const api = newApi();
  const id = api.workflows.create({ name: "W", graph: OK });
  const { body } = await addTrigger(api, id, { kind: "webhook" });
  await api.ask("POST", `/workflows/${id}/versions`, {});
  await deliver(api, body.key, "one");
  await api.ask("DELETE", `/workflows/${id}`);
  expect(api.triggerStore.find(body.id)).toBeDefined();
  expect((await api.ask("DELETE", `/bin/workflow/${id}`)).status).toBe(204);
  expect([api.triggerStore.find(body.id), api.triggerStore.fires(body.id), api.versions.list(id)]).toEqual([
    undefined,
    [],
    [],
  ]);
});

test("a program can't mark inputs as trusted or change a trigger that has some", async () => {
  const api = newApi();
  const workflow = api.workflows.create({ name: "W", graph: OK });
  const config = { trusted_keys: ["a"] };
  expect((await addTrigger(api, workflow, { kind: "webhook", config })).status).toBe(403);
  const trigger = api.triggerStore.create(
    workflow,
    { kind: "webhook", config: { signature: "none", respond: "accepted", tolerance_s: 300, ...config } },
    { by: "session:s", enabled: true },
  );
  const changed = { ...config, input: { a: "body.b" } };
  const where = `/triggers/${trigger.id}`;
  expect((await api.ask("PUT", where, { config: changed })).status).toBe(403);
  // Neither may it send such inputs itself.
  expect((await api.ask("PUT", where, { secrets: ["0123456789abcdef"] })).body.error.code).toBe(
    "person_only",
  );
  expect((await api.ask("POST", `${where}/key`)).body.error.code).toBe("person_only");
  expect((await api.ask("PUT", where, { enabled: false })).status).toBe(200);
  expect((await api.ask("PUT", `/triggers/${trigger.id}`, { config: {} })).status).toBe(200);
});

test("an input that a person marks as trusted stays untrusted in deliveries from before", async () => {
  const api = newApi();
  const workflow = api.workflows.create({ name: "W", graph: draw("start > w > end", inputs("to")) });
  const { id, config } = api.triggerStore.create(
    workflow,
    { kind: "webhook", config: { signature: "none", respond: "accepted", tolerance_s: 300 } },
    { by: "session:s", enabled: true },
  );
  const fire = (key: string) => api.triggerStore.addFire(id, { key, planned_at: 1, input: { to: "eve" } });
  fire("before");
  await new Promise((resolve) => setTimeout(resolve, 2));
  api.triggerStore.save(id, { config: { ...config, trusted_keys: ["to"] }, by: "session:s" });
  await new Promise((resolve) => setTimeout(resolve, 2));
  fire("after");
  api.triggers.start();
  await hasEnded(api, workflow, 2);
  const origins = ["before", "after"].map(
    (key) => api.runs.state(api.triggerStore.fire(id, key)!.run_id!)!.run.origin?.trusted,
  );
  expect(origins).toEqual([undefined, ["to"]]);
});

test("a test of a schedule has its input, and only a trusted caller can replace what counts as a person's words", async () => {
  const api = newApi();
  const workflow = api.workflows.create({ name: "W", graph: draw("start > w > end", inputs("to")) });
  const config = ScheduleConfig.parse({
    every: { unit: "day", at: "09:00" },
    time_zone: "UTC",
    input: { to: "me" },
  });
  const about = { by: "session:s", enabled: true };
  const { id } = api.triggerStore.create(workflow, { kind: "schedule", config }, about);
  const started = await api.ask("POST", `/triggers/${id}/test`, {});
  const { run, input } = api.runs.state(started.body.run_id)!;
  expect({ input, trusted: run.origin?.trusted }).toEqual({ input: { to: "me" }, trusted: true });
  const stranger = { kind: "token" as const, id: "stranger", isTrusted: false };
  const test = (as?: typeof stranger) =>
    api.send("POST", `/triggers/${id}/test`, { input: { to: "eve@evil.example" } }, {}, as);
  expect((await test(stranger)).status).toBe(403);
  expect((await test()).status).toBe(202);
});

test("invalid settings are refused with the place of the error", async () => {
  const api = newApi();
  const workflow = api.workflows.create({ name: "W", graph: OK });
  const refused = async (body: JsonObject) => (await addTrigger(api, workflow, body)).body.error.message;
  expect(await refused({ kind: "webhook", config: { input: { a: "body." } } })).toContain("config.input.a");
  expect(await refused({ kind: "webhook", config: { respnd: "result" } })).toContain("respnd");
  expect(await refused({ kind: "webhook", secrets: ["x".repeat(40)] })).toContain("signature");
  expect(
    await refused({ kind: "webhook", config: { signature: "standard" }, secrets: ["whsec_!"] }),
  ).toContain("base64");
  expect(await refused({ kind: "form", config: { frame_ancestors: ["https://a.example; x"] } })).toContain(
    "frame_ancestors",
  );
});

/** A deterministic sequence of numbers from 0 to 1. */
function random(seed: number) {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

test.each([1, 2, 3, 4, 5])(
  "whatever is delivered twice, and wherever the server is killed, each delivery has one run: sequence %i",
  { timeout: 60_000 },
  async (seed) => {
    // The server logs the errors that stand for a kill.
    vi.spyOn(process.stderr, "write").mockReturnValue(true);
    const next = random(seed);
    let api = newApi();
    api.triggers.start();
    const workflow = api.workflows.create({ name: "W", graph: OK });
    const { body } = await addTrigger(api, workflow, { kind: "webhook" });
    const delivered = new Set<string>();
    for (let step = 0; step < 60; step++) {
      const id = `id_${Math.floor(next() * 25)}`;
      const what = next();
      // The server is killed after it recorded the delivery, or after it started the run, or at rest.
      if (what < 0.1)
        api.triggerStore.setFire = () => {
          throw new Error("killed");
        };
      else if (what < 0.2) {
        const { addFire } = api.triggerStore;
        api.triggerStore.addFire = (...fire) => {
          addFire(...fire);
          throw new Error("killed");
        };
      }
      delivered.add(id);
      const { status } = await deliver(api, body.key, id);
      expect([202, 500]).toContain(status);
      if (what < 0.3) api = await afterKill(api);
    }
    await vi.waitFor(() => expect(runsOf(api, workflow)).toHaveLength(delivered.size));
    const { fires } = (await api.ask("GET", `/triggers/${body.id}/fires?limit=500`)).body;
    expect(new Set(fires.map((fire: { key: string }) => fire.key))).toEqual(delivered);
    expect(new Set(fires.map((fire: { status: string }) => fire.status))).toEqual(new Set(["started"]));
    expect(new Set(fires.map((fire: { run_id: string }) => fire.run_id)).size).toBe(delivered.size);
  },
);
