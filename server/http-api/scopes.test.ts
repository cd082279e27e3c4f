import { readdirSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { z } from "zod";
import { emptyDb } from "@/db/testing";
import type { Principal } from "@/server/access/principal";
import { appRouter } from "@/server/api/root";
import { SCOPES, type Scope } from "@/server/domain/base/scopes";
import { draw } from "@/server/domain/testing/drawing";
import { CustomToolDefinition } from "@/server/domain/tool/custom-tool";
import type { Operation } from "@/server/operations/operation";
import { newServices } from "@/server/services";
import { everyOperation, exampleOf, requestOf } from "@/server/testing/every-operation";
import { ENDPOINTS } from "./table";
import { type Api, newApi } from "./testing";

// Every operation with every scope, by every transport, for a workflow that a token may use and for a foreign one.

/** A step whose task waits for a person before it begins. */
const asking = draw("start > crew > end", {
  start: { output_keys: ["topic"] },
  crew: {
    node_type: "crew_task",
    output_keys: ["result"],
    config: {
      crew: { process: "sequential", agents: [{ agent_id: "ann", role_name: "Writer" }] },
      plan: {
        execution_mode: "step",
        tasks: [{ task_id: "first", description: "do first", assigned_agent: "ann" }],
      } as never,
    },
  },
});

/** IDs of what one workflow has; each name is unique to it, so that it is found wherever it leaks. */
type Place = Awaited<ReturnType<typeof newPlace>>;

/** A workflow with runs, questions, files, memories, tests, versions, triggers, and things in the bin. */
async function newPlace(api: Api, marker: string) {
  const { body: made } = await api.ask("POST", "/workflows", {
    ...asking,
    name: marker,
    graph_id: marker,
    description: marker,
  });
  const workflow = made.id as string;
  const at = (path: string, body?: unknown) => api.ask("POST", `/workflows/${workflow}${path}`, body);
  const start = async () => (await at("/runs", { input: { topic: marker } })).body.run_id as string;
  const run = await start();
  await vi.waitFor(() => expect(api.questions.list({ run_id: run })).toHaveLength(1), { timeout: 10_000 });
  const [question] = api.questions.list({ run_id: run });
  const ended = await start();
  await api.ask("POST", `/runs/${ended}/cancel`);
  await api.host.settled(ended);
  const gone = await start();
  await api.ask("POST", `/runs/${gone}/cancel`);
  await api.host.settled(gone);
  await api.ask("DELETE", `/runs/${gone}`);
  for (const id of [run, ended]) api.workspace.write(id, "notes.md", marker, { writtenBy: marker });
  const written = { importance: 1, tainted: false, key: marker, value: marker };
  const memory = api.memories.store({
    ...{ ...written, scope: "workflow", scope_id: workflow, source: {} },
  });
  api.memories.store({ ...written, scope: "run", scope_id: run, source: { run_id: run } });
  api.memories.store({ ...written, scope: "global", scope_id: "", source: { run_id: run } });
  await at("/tests", { id: "kept", name: marker, expect: [{ kind: "status", is: "COMPLETED" }] });
  await at("/tests", { id: "gone", name: marker });
  await api.ask("DELETE", `/workflows/${workflow}/tests/gone`);
  await at("/tests/run", { tests: ["kept"] });
  const [result] = api.scenarios.results(workflow);
  await at("/versions", { note: marker });
  await vi.waitFor(() => expect(api.versions.find(workflow, 1)?.tests?.status).not.toBe("running"));
  await api.ask("PUT", `/workflows/${workflow}`, { ...asking, name: marker, description: `${marker} again` });
  const { body: points } = await api.ask("GET", `/workflows/${workflow}/restore-points`);
  await api.ask("PUT", `/workflows/${workflow}/variables/of_${marker}`, { value: marker });
  const { body: trigger } = await at("/triggers", { kind: "webhook", enabled: false });
  const binned = api.workflows.create({ name: marker, graph: asking });
  api.workflows.remove(binned);
  return {
    ...{ marker, workflow, run, ended, gone, binned, memory: memory.id, result: result?.id ?? 0 },
    ...{ trigger: trigger.id as string, point: (points.restore_points[0]?.id ?? 0) as number },
    interaction: question?.ask.id ?? "",
    fingerprint: question?.ask.requested.fingerprint ?? "",
    provider: "",
  };
}

const NOWHERE: Place = {
  ...{ marker: "nowhere", workflow: "none", run: "none", ended: "none", gone: "none", binned: "none" },
  ...{ memory: 987_654, result: 987_654, trigger: "none", point: 987_654, interaction: "none" },
  ...{ fingerprint: "none", provider: "none" },
};

async function newWorld() {
  // Without its clock watch, which on a stalled machine notes in waiting runs that time has passed.
  vi.useFakeTimers({ toFake: ["setInterval"] });
  const api = newApi(() => "done");
  vi.useRealTimers();
  api.roles.create({ ...api.roles.list()[0]!.role, name: "Writer", tools: [], guardrails: [] });
  await api.ask("POST", "/roles", { ...api.roles.all()[0], name: "a", description: "a" });
  await api.ask("POST", "/crews", { crew: { crew_id: "a", agents: [{ agent_id: "b", role_name: "a" }] } });
  await api.ask("POST", "/agents", { agent: { agent_id: "a", role_name: "a" } });
  await api.ask("POST", "/secrets", { name: "a", value: "value-of-a-secret", hosts: ["example.org"] });
  await api.ask("PUT", "/variables/a", { value: 1 });
  api.toolSettings.save({ purpose: "web", kind: "brave", base_url: "https://example.org", key: null });
  const provider = { name: "P", base_url: "http://127.0.0.1:9/v1", default_model: "m" };
  api.providers.save(provider);
  const other = api.providers.save({ ...provider, name: "Q" }).id;
  const definition = CustomToolDefinition.parse({ ...TOOL, name: "a" });
  api.toolSources.customTools.save(definition, null);
  const mine = await newPlace(api, "mine_marker");
  const foreign = await newPlace(api, "foreign_marker");
  return { api, mine: { ...mine, provider: other }, foreign: { ...foreign, provider: other } };
}
const TOOL = { description: "a", code: "export default () => 1", input_schema: { type: "object" } };
type World = Awaited<ReturnType<typeof newWorld>>;

/** Inputs that schemas can't describe: they refer to each other, or their fields have special rules. */
const INPUTS: Readonly<Record<string, (place: Place) => object>> = {
  "workflows.restore": ({ binned }) => ({ id: binned }),
  "workflows.fromTemplate": () => ({ key: "approval" }),
  "workflows.save": ({ workflow }) => ({ id: workflow, revision: 1, graph: asking }),
  "imports.importFiles": ({ workflow }) => ({
    files: [{ path: "w.json", text: JSON.stringify(asking) }],
    ...{ over: workflow, confirm: true, roles: "skip" },
  }),
  "versions.diff": ({ workflow }) => ({ workflow_id: workflow, a: 1, b: "draft" }),
  "runs.bisect": ({ run, ended }) => ({
    ...{ run_id: run, good: ended, expect: { kind: "status", is: "COMPLETED" } },
  }),
  "runs.nodeResult": ({ workflow, run }) => ({ workflow_id: workflow, node_id: "crew", run_id: run }),
  "runs.startNode": ({ workflow }) => ({ workflow_id: workflow, node_id: "crew", state: {} }),
  "runs.when": ({ run }) => ({ run_id: run, condition: "true" }),
  "runs.override": ({ run }) => ({ run_id: run, node_id: "crew", to: "end" }),
  "runs.share": ({ run }) => ({ run_id: run, files: true, tool_results: true }),
  "runs.editPlan": ({ run }) => ({
    ...{ run_id: run, edit: { kind: "add", task: { description: "more" } } },
  }),
  "runs.answer": ({ run, interaction, fingerprint }) => ({
    ...{ run_id: run, interaction_id: interaction, fingerprint, answer: "approve" },
  }),
  "triggers.backfill": ({ trigger }) => ({
    ...{ trigger_id: trigger, from: "2026-01-01T00:00:00Z", to: "2026-01-01T01:00:00Z" },
  }),
  "tests.label": ({ workflow }) => ({
    ...{ workflow_id: workflow, judge: "a".repeat(24), item: "b".repeat(32), good: true },
  }),
  "tests.bringCassette": ({ workflow }) => ({
    ...{ workflow_id: workflow, test_id: "kept", format: "troupe.cassette", version: 1, answers: [] },
  }),
  "tests.compare": ({ workflow }) => ({
    ...{ workflow_id: workflow, inputs: [{ input: {} }], variants: [{ name: "a" }, { name: "b" }] },
  }),
  "notices.saveEmail": () => ({
    ...{ is_on: false, host: "a", port: 1, security: "none", user: "", from: "a@b.c", to: ["a@b.c"] },
  }),
  "memories.update": ({ memory }) => ({ id: memory, importance: 0.5 }),
  "memories.remove": ({ memory }) => ({ id: memory }),
  "toolSettings.save": () => ({ purpose: "web", kind: "brave", base_url: "https://example.org" }),
  "secrets.change": () => ({ name: "a", hosts: ["example.org"] }),
  "crews.save": () => ({
    ...{ id: "a", crew: { crew_id: "a", agents: [{ agent_id: "b", role_name: "a" }] } },
  }),
  "roles.remove": () => ({ name: "a", force: true }),
  "providers.save": ({ provider }) => ({
    ...{ id: provider, name: "a", base_url: "http://127.0.0.1:9/v1", default_model: "a" },
  }),
  "providers.test": ({ provider }) => ({ id: provider }),
  "providers.remove": ({ provider }) => ({ id: provider, next: "offline" }),
  "providers.setDefault": ({ provider }) => ({ id: provider }),
  "providers.models": ({ provider }) => ({ id: provider }),
  "bin.purge": ({ gone }) => ({ kind: "run", id: gone }),
  "bin.restore": ({ binned }) => ({ kind: "workflow", id: binned }),
};

/** The input of an operation that is about a place, as far as it is about any. */
function inputFor(path: string, operation: Operation, place: Place): Record<string, unknown> | undefined {
  const { workflow, run, ended } = place;
  const named = {
    ...{ workflow_id: workflow, run_id: run, run_ids: [ended], with: ended, trigger_id: place.trigger },
    ...{ test_id: "kept", result_id: place.result, n: 1, point: place.point, path: "notes.md", key: "topic" },
    ...{ interaction_id: place.interaction, node_id: "crew" },
    ...(path.startsWith("workflows.") && { id: workflow }),
  };
  const input = INPUTS[path]?.(place) ?? exampleOf(operation.input, named);
  expect([path, operation.input.safeParse(input).error?.issues ?? []]).toEqual([path, []]);
  return input as Record<string, unknown> | undefined;
}
const isAboutPlace = (path: string, operation: Operation) =>
  JSON.stringify(inputFor(path, operation, { ...NOWHERE, memory: 1 })) !==
  JSON.stringify(
    inputFor(path, operation, { ...NOWHERE, workflow: "x", run: "x", ended: "x", ...OTHER, memory: 2 }),
  );
const OTHER = { binned: "x", trigger: "x" };

let programs = 0;
const token = (workflows: readonly string[] | undefined, scopes: readonly Scope[] = SCOPES): Principal => ({
  // Each request comes from a different client, because of the rate limit.
  ...{ kind: "token", id: `scoped${programs++}`, scopes, isTrusted: true },
  ...(workflows && { workflows }),
});
const allowed = ({ mine }: World) => [mine.workflow, mine.binned];

/** The outcome of a request: its status and everything that it returned. */
interface Outcome {
  status: number;
  text: string;
}
type Transport = (
  world: World,
  operation: { path: string; operation: Operation },
  input: Record<string, unknown> | undefined,
  principal: Principal,
) => Promise<Outcome | null>;

const byTrpc: Transport = async ({ api }, { path }, input, principal) => {
  const troupe = { ...spare, ...api, runs: api.runs as never };
  const caller = appRouter.createCaller({ troupe, principal });
  const call = path
    .split(".")
    .reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], caller) as (
    input: unknown,
  ) => Promise<unknown>;
  return call(input).then(
    (answer) => ({ status: 200, text: JSON.stringify(answer) ?? "" }),
    (error: { message: string; code?: string }) => ({
      status: STATUS[error.code ?? ""] ?? 500,
      text: error.message,
    }),
  );
};
const spare = newServices(emptyDb(), { dataDir: null });
const STATUS: Readonly<Record<string, number>> = {
  ...{ BAD_REQUEST: 400, FORBIDDEN: 403, NOT_FOUND: 404, CONFLICT: 409, PRECONDITION_FAILED: 409 },
};

/** Handwritten endpoints. */
const OWN: Readonly<
  Record<string, (place: Record<string, unknown>) => { method: string; path: string; body?: unknown }>
> = {
  "runs.start": ({ workflow_id }) => ({
    method: "POST",
    path: `/workflows/${String(workflow_id)}/runs`,
    body: {},
  }),
  "runs.list": ({ workflow_id }) => ({ method: "GET", path: `/runs?workflow_id=${String(workflow_id)}` }),
  "runs.get": ({ run_id }) => ({ method: "GET", path: `/runs/${String(run_id)}` }),
  "workflows.create": () => ({ method: "POST", path: "/workflows", body: asking }),
  "workflows.save": ({ id }) => ({ method: "PUT", path: `/workflows/${String(id)}`, body: asking }),
};
const byHttp: Transport = async ({ api }, { path, operation }, input = {}, principal) => {
  const request = OWN[path]?.(input) ?? requestOf(operation, input);
  if (!request) return null;
  const { method, path: where, body } = request;
  const response = await api.send(method, where, body, {}, principal);
  return { status: response.status, text: await response.text() };
};
const TRANSPORTS = { tRPC: byTrpc, HTTP: byHttp };

/** Everything in the database, to see that nothing was changed. */
const rowsOf = ({ api }: World) =>
  Object.fromEntries(
    api.db.$client
      .prepare<[], { name: string }>(
        "select name from sqlite_master where type = 'table' and name not like 'memories_fts%'",
      )
      .all()
      .map(({ name }) => [name, api.db.$client.prepare(`select * from "${name}"`).all()]),
  );

const isPersonOnly = ({ http }: Operation) => "personOnly" in http;
const REFUSAL = "This API token is limited to some workflows.";

let world: World;
beforeAll(async () => {
  world = await newWorld();
}, 60_000);
afterAll(() => world.api.host.cancel(world.mine.run, { by: "test", reason: "" }));

describe.each(Object.entries(TRANSPORTS))("by %s", (_transport, ask) => {
  test("a token without an operation's scope is refused, whatever the workflow, and nothing changes", async () => {
    const before = rowsOf(world);
    const wrong: unknown[] = [];
    for (const one of everyOperation)
      for (const scope of SCOPES)
        for (const place of [world.mine, world.foreign]) {
          if (one.operation.needs === scope) continue;
          const input = inputFor(one.path, one.operation, place);
          for (const workflows of [undefined, allowed(world)]) {
            const outcome = await ask(world, one, input, token(workflows, [scope]));
            if (outcome && outcome.status !== 403) wrong.push([one.path, scope, outcome]);
          }
        }
    expect(wrong).toEqual([]);
    expect(rowsOf(world)).toEqual(before);
  }, 120_000);

  test("a foreign workflow doesn't exist for a limited token: the same answer as for no workflow, and nothing changes", async () => {
    const before = rowsOf(world);
    const wrong: unknown[] = [];
    for (const one of everyOperation) {
      if (!isAboutPlace(one.path, one.operation)) continue;
      const principal = () => token(allowed(world), [one.operation.needs].flat());
      const about = (place: Place) => ask(world, one, inputFor(one.path, one.operation, place), principal());
      const [foreign, nowhere] = [await about(world.foreign), await about(NOWHERE)];
      if (!foreign || isPersonOnly(one.operation)) continue;
      if (foreign.status !== nowhere?.status || foreign.text !== nowhere.text)
        wrong.push([one.path, foreign, nowhere]);
      if (foreign.status !== 404 && !ANSWER_EMPTILY.includes(one.path)) wrong.push([one.path, foreign]);
    }
    expect(wrong).toEqual([]);
    expect(rowsOf(world)).toEqual(before);
  }, 120_000);

  test("a limited token reads its own workflows and the library, and nothing of foreign ones", async () => {
    const wrong: unknown[] = [];
    let both = 0;
    for (const one of everyOperation) {
      if (one.operation.kind !== "query" || isPersonOnly(one.operation)) continue;
      const input = inputFor(one.path, one.operation, world.mine);
      const read = async (workflows?: readonly string[]) =>
        ask(world, one, input, token(workflows, [one.operation.needs].flat()));
      const [limited, whole] = [await read(allowed(world)), await read()];
      if (!limited) continue;
      if (limited.status !== whole?.status) wrong.push([one.path, limited, whole]);
      const leak = [world.foreign.workflow, world.foreign.run, world.foreign.binned, "foreign_marker"].find(
        (text) => limited.text.includes(text),
      );
      if (whole?.text.includes("foreign_marker")) both++;
      if (leak) wrong.push([one.path, leak, limited.text.slice(0, 2_000)]);
      if (whole?.text.includes("mine_marker") && !limited.text.includes("mine_marker"))
        wrong.push([one.path, "lacks its own", limited.text.slice(0, 500)]);
    }
    expect(wrong).toEqual([]);
    expect(both, "answers that name both workflows where nothing is limited").toBeGreaterThan(3);
  }, 120_000);

  test("a limited token changes its own workflows and nothing else", async () => {
    const own = await newWorld();
    const foreignRows = () => JSON.stringify(rowsOf(own)).match(/foreign_marker/g)?.length;
    const before = foreignRows();
    const wrong: unknown[] = [];
    const places = ["runs", "memories", "triggers", "tests", "variables", "bin", "workflows"];
    const endOf = (path: string) =>
      /\.(?:cancel|remove\w*|purge|empty|answer)$/.test(path)
        ? 1 + places.indexOf(path.split(".")[0] ?? "")
        : 0;
    const changes = everyOperation.filter(
      ({ operation }) => operation.kind === "mutation" && !isPersonOnly(operation),
    );
    for (const one of changes.toSorted((a, b) => endOf(a.path) - endOf(b.path))) {
      const input = inputFor(one.path, one.operation, own.mine);
      const outcome = await ask(own, one, input, token(allowed(own), [one.operation.needs].flat()));
      if (!outcome) continue;
      const isRefused = outcome.status === 403 && outcome.text.includes(REFUSAL);
      const isMissing = outcome.status === 404;
      if (isRefused !== REFUSED.includes(one.path) || isMissing !== MISSING.includes(one.path))
        wrong.push([one.path, outcome]);
    }
    expect(wrong).toEqual([]);
    expect(foreignRows()).toBe(before);
    own.api.host.cancel(own.foreign.run, { by: "test", reason: "" });
  }, 120_000);
});

describe("lists", () => {
  const get = async (where: string, limit = allowed(world)) => {
    const answer = await world.api.send("GET", where, undefined, {}, token(limit));
    return (await answer.json()) as Record<string, unknown>;
  };

  test("counts and sums are those of the token's own workflows", async () => {
    const { api, mine } = world;
    expect(await get("/spending?since=0")).toMatchObject({
      runs: api.runs.list({ workflow_id: mine.workflow }).length + 1,
    });
    expect(await get("/memories/counts")).toMatchObject({ workflow: 1, run: 1, global: 1 });
    const count = everyOperation.find((one) => one.path === "questions.count")!;
    const { text } = (await byTrpc(world, count, undefined, token(allowed(world))))!;
    expect(JSON.parse(text)).toMatchObject({ open: 1, newest: { run_id: mine.run } });
    expect(((await get("/bin")).entries as unknown[]).length).toBe(3);
  });

  test("a page is full although rows of foreign workflows lie between", async () => {
    const api = newApi();
    const [own, foreign] = ["Own", "Foreign"].map((name) =>
      api.workflows.create({ name, graph: draw("start > end") }),
    );
    for (let at = 0; at < 12; at++)
      api.memories.store({
        ...{ scope: "workflow", scope_id: at % 4 === 0 ? own! : foreign!, key: `k${at}`, value: at },
        ...{ tainted: false, source: {} },
      });
    const keys: string[] = [];
    for (let cursor = ""; ; ) {
      const where = `/memories?limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
      const answer = await api.send("GET", where, undefined, {}, token([own!]));
      const page = (await answer.json()) as { memories: { key: string }[]; next_cursor: string | null };
      keys.push(...page.memories.map(({ key }) => key));
      expect(page.memories.length).toBe(page.next_cursor ? 2 : 1);
      if (!page.next_cursor) break;
      cursor = page.next_cursor;
    }
    expect(keys).toEqual(["k8", "k4", "k0"]);
  });
});

describe("streams and parts of the log", () => {
  const http = async (id: string, principal: Principal, headers = {}) => {
    const answer = await world.api.send("GET", `/runs/${id}/events`, undefined, headers, principal);
    await answer.body?.cancel();
    return answer.status;
  };
  const browser = async (id: string, principal: Principal, name: "follow" | "events") => {
    const caller = appRouter.createCaller({
      troupe: { ...spare, ...world.api, runs: world.api.runs },
      principal,
    });
    const answer =
      name === "follow"
        ? caller.runs.follow({ run_id: id }).then(async (frames) => {
            for await (const _ of frames) break;
          })
        : caller.runs.events({ run_id: id, after: 0 });
    return answer.then(
      () => 200,
      (error: { code?: string }) => STATUS[error.code ?? ""],
    );
  };
  test("each needs the scope to read, and the run of a foreign workflow isn't there", async () => {
    const all = (id: string, principal: () => Principal) =>
      Promise.all([
        http(id, principal()),
        http(id, principal(), { accept: "text/event-stream" }),
        browser(id, principal(), "follow"),
        browser(id, principal(), "events"),
      ]);
    for (const scope of SCOPES) {
      const limited = () => token(allowed(world), [scope]);
      const isReader = scope === "read";
      expect([scope, await all(world.mine.run, limited)]).toEqual([
        scope,
        Array(4).fill(isReader ? 200 : 403),
      ]);
      expect([scope, await all(world.foreign.run, limited)]).toEqual([
        scope,
        Array(4).fill(isReader ? 404 : 403),
      ]);
    }
  });

  test("metrics of all workflows are refused to a limited token", async () => {
    const status = async (workflows?: string[]) =>
      (await world.api.send("GET", "/metrics", undefined, {}, token(workflows))).status;
    expect([await status(), await status(allowed(world))]).toEqual([200, 403]);
  });
});

describe("runs that other runs started", () => {
  test("a child run belongs to the workflow of the run that started it, not to its own", async () => {
    const api = newApi(() => "done");
    const inner = api.workflows.create({ name: "inner_marker", graph: draw("start > end") });
    const sub = { node_type: "sub_workflow", config: { workflow_id: inner } };
    const outer = api.workflows.create({ name: "Outer", graph: draw("start > sub > end", { sub }) });
    const as = async (workflow: string, method: string, path: string, body?: unknown) => {
      const answer = await api.send(method, path, body, {}, token([workflow]));
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    };
    expect((await as(outer, "POST", `/workflows/${outer}/validate`)).body.can_run).toBe(true);
    const { body } = await as(outer, "POST", `/workflows/${outer}/runs`, {});
    const run = body.run_id as string;
    await api.host.settled(run);
    const [child] = api.runs.children(run, { limit: 1 });
    expect((await as(outer, "GET", `/runs/${child!.id}`)).body).toMatchObject({ final_status: "COMPLETED" });
    expect((await as(outer, "GET", `/runs/${run}/children`)).body.runs).toHaveLength(1);
    expect((await as(inner, "GET", `/runs/${child!.id}`)).status).toBe(404);
    expect((await as(inner, "GET", "/runs")).body.runs).toEqual([]);
    expect((await as(outer, "GET", `/workflows/${inner}`)).status).toBe(404);
    // Its fork would be a run of its own workflow.
    expect((await as(outer, "POST", `/runs/${child!.id}/fork`, {})).status).toBe(403);
    expect((await as(outer, "POST", `/runs/${run}/fork`, {})).status).toBe(202);
  });

  test("a limited token can't make its workflow run a foreign one", async () => {
    const api = newApi();
    const [own, foreign] = ["Own", "Foreign"].map((name) =>
      api.workflows.create({ name, graph: draw("start > end") }),
    );
    const calls = (id: string) =>
      draw("start > sub > end", { sub: { node_type: "sub_workflow", config: { workflow_id: id } } });
    const put = async (graph: unknown, workflows?: string[]) =>
      (await api.send("PUT", `/workflows/${own}`, graph, {}, token(workflows))).status;
    expect(await put(calls(foreign!), [own!])).toBe(403);
    expect(api.workflows.find(own!)?.revision).toBe(1);
    expect(await put(calls(foreign!))).toBe(200);
    // A call that is there stays.
    expect(await put({ ...calls(foreign!), description: "Changed" }, [own!])).toBe(200);
  });
});

test("a replaced workflow whose file brings roles is refused to a limited token before anything changes", async () => {
  const { api, mine } = world;
  const file = { ...asking, roles: { New: { name: "New", description: "A new role" } } };
  const { revision } = api.workflows.find(mine.workflow)!;
  const answer = await api.send("PUT", `/workflows/${mine.workflow}`, file, {}, token([mine.workflow]));
  expect(answer.status).toBe(403);
  expect([api.workflows.find(mine.workflow)?.revision, api.roles.find("New")]).toEqual([revision, undefined]);
});

test("every spelling of a token's header gives the same answer, and none gives more rights", async () => {
  const { api, mine, foreign } = world;
  const principal = () => token([mine.workflow], ["read"]);
  const get = async (id: string, headers: Record<string, string>) =>
    (await api.send("GET", `/workflows/${id}`, undefined, headers, principal())).status;
  for (const headers of [{}, { cookie: "troupe_session=x" }, { "x-api-key": "good" }, { "x-scope": "admin" }])
    expect([headers, await get(mine.workflow, headers), await get(foreign.workflow, headers)]).toEqual([
      headers,
      200,
      404,
    ]);
  for (const authorization of ["", "Basic good", "good", "Bearer", "Bearer environment"])
    expect([authorization, await get(mine.workflow, { authorization })]).toEqual([authorization, 401]);
  const other = async (method: string, path: string) =>
    (await api.send(method, path, method === "POST" ? {} : undefined, {}, principal())).status;
  expect(await other("HEAD", `/runs/${foreign.run}`)).toBe(404);
  expect(await other("GET", `/runs/${foreign.run}/`)).toBe(404);
  expect(await other("GET", `/runs/..%2Fruns%2F${foreign.run}`)).toBe(404);
  // Where an endpoint was before.
  expect(await other("POST", `/runs/${foreign.run}/plans`)).toBe(403);
});

test("reading is not enough to run, retry, fork, replay, test or answer anything", () => {
  const needs = Object.fromEntries(
    everyOperation.map(({ path, operation }) => [path, [operation.needs].flat()]),
  );
  const starting = [
    ...[
      "start",
      "startNode",
      "retry",
      "fork",
      "replay",
      "bisect",
      "tryAgain",
      "resume",
      "step",
      "raiseLimit",
    ],
  ].map((name) => `runs.${name}`);
  for (const path of [
    ...starting,
    "tests.run",
    "tests.mutants",
    "tests.compare",
    "triggers.test",
    "triggers.retry",
    "triggers.backfill",
  ])
    expect([path, needs[path]?.[0]]).toEqual([path, "run"]);
  expect(needs["runs.answer"]).toEqual(["answer"]);
  for (const { path, operation } of everyOperation)
    if (operation.kind === "mutation") expect([path, operation.needs]).not.toEqual([path, "read"]);
});

test("every endpoint needs the scope of its operation, or is in the list of public ones", () => {
  const needs = new Map(everyOperation.map(({ operation }) => [operation.name, operation.needs]));
  const OWN_SCOPES: Readonly<Record<string, string>> = {
    ...{ getHealth: "public", getOpenApi: "public", getMetrics: "read", listRunEvents: "read" },
  };
  for (const endpoint of ENDPOINTS)
    expect([endpoint.name, endpoint.needs]).toEqual([
      endpoint.name,
      needs.get(endpoint.name) ?? OWN_SCOPES[endpoint.name],
    ]);
});

test("every file of routes is guarded as listed", () => {
  const root = path.resolve(import.meta.dirname, "../../app");
  const routes = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith("route.ts"))
    .sort();
  expect(routes).toEqual(Object.keys(ROUTES).sort());
});

describe("fields that only the server writes", () => {
  const OWNED: Readonly<Record<string, unknown>> = {
    ...{ id: "x", revision: 99, created_at: 1, updated_at: 1, deleted_at: 1, by: "x", owner: "x" },
    ...{ workflow_id: "x", run_id: "x", trusted: true, is_trusted: true, scopes: ["admin"], workflows: [] },
    ...{ withheld: [], origin: {}, trigger: "x", version: 7, number: 7, status: "x", tainted: false },
    ...{
      source: {},
      key_hash: "x",
      hint: "x",
      started_by: "person",
      is_default: true,
      from_environment: true,
    },
  };
  /** Those that a schema doesn't name; `place`: with an ID of nothing, so that nothing can be changed. */
  const strangers = (schema: z.ZodType, sent: object) =>
    Object.entries(OWNED).filter(([field, value]) => {
      const read = schema.safeParse({ ...sent, [field]: value });
      return !read.success || !Object.hasOwn(Object(read.data), field);
    });

  test("the API refuses them by name in every write", async () => {
    const wrong: unknown[] = [];
    let tried = 0;
    for (const { path: name, operation } of everyOperation) {
      const request = requestOf(operation, inputFor(name, operation, NOWHERE) ?? {});
      const endpoint = ENDPOINTS.find((one) => one.name === operation.name);
      if (!request || !endpoint?.body || request.method === "GET") continue;
      for (const [field, value] of strangers(endpoint.body, Object(request.body))) {
        tried++;
        const body = { ...Object(request.body), [field]: value };
        const answer = await world.api.send(request.method, request.path, body, {}, token(undefined));
        if (answer.status !== 400) wrong.push([name, field, answer.status]);
      }
    }
    expect(wrong).toEqual([]);
    expect(tried).toBeGreaterThan(1_000);
  }, 60_000);

  test("an operation never gets them", () => {
    for (const { path: name, operation } of everyOperation) {
      const input = inputFor(name, operation, NOWHERE);
      if (!input || Array.isArray(input)) continue;
      for (const [field, value] of strangers(operation.input, input)) {
        const read = operation.input.safeParse({ ...input, [field]: value });
        expect([name, field, Object.hasOwn(Object(read.data), field)]).toEqual([name, field, false]);
      }
    }
  });

  test("a workflow file sets neither the ID nor the revision nor the permissions of its workflow", async () => {
    const file = { ...asking, ...OWNED, name: "Sent" };
    const { body, status } = await world.api.ask("POST", "/workflows", file);
    expect([status, body.revision, body.id === "x"]).toEqual([201, 1, false]);
    const { body: after } = await world.api.ask("PUT", `/workflows/${body.id}`, file);
    expect([after.id, after.revision]).toEqual([body.id, 2]);
    expect(world.api.workflows.find("x")).toBeUndefined();
  });
});

/** How the other routes are guarded. */
const ROUTES: Readonly<Record<string, string>> = {
  "api/v1/[...path]/route.ts": "the endpoints of this table",
  "api/trpc/[trpc]/route.ts": "a session; each procedure needs a scope",
  "api/runs/[run_id]/files/[...path]/route.ts": "a session and the scope to read",
  "api/session/route.ts": "public: signs in and out",
  "api/offline/v1/[...path]/route.ts": "a token; answers as the demo model, from nothing that is stored",
  "hooks/[key]/route.ts": "public: the key in its address",
  "p/[key]/submit/route.ts": "public: the key in its address",
};

/** They filter by an ID, and find nothing. */
const ANSWER_EMPTILY = [
  ...["runs.nodeResult", "runs.lastResults", "runs.list", "runs.removeMany"],
  ...["questions.list", "questions.inbox"],
];
/** Changes outside of workflows, and new workflows. */
const REFUSED = [
  ...["workflows.create", "workflows.fromTemplate", "workflows.duplicate"],
  ...["roles", "crews", "agents"].flatMap((library) =>
    ["create", "save", "duplicate", "remove"].map((name) => `${library}.${name}`),
  ),
  ...["crews.restore", "agents.restore", "storage.save", "storage.sweep", "notices.remove"],
  ...["secrets.create", "secrets.change", "secrets.remove", "variables.set", "variables.remove"],
  ...["toolSettings.save", "toolSettings.remove", "customTools.remove"],
  ...["mcp.setEnabled", "mcp.remove", "mcp.refresh", "mcp.withdraw"],
  ...["providers.save", "providers.remove", "providers.setDefault", "providers.test"],
];
/** Other named items don't exist. */
const MISSING = ["triggers.retry", "tests.label", "mcp.signOut", "providers.forget"];
