import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { emptyDb } from "@/db/testing";
import type { Principal } from "@/server/access/principal";
import { appRouter } from "@/server/api/root";
import { SCOPES, type Scope } from "@/server/domain/base/scopes";
import { draw } from "@/server/domain/testing/drawing";
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
  await at("/versions/1/restore");
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
  };
}

const NOWHERE: Place = {
  ...{ marker: "nowhere", workflow: "none", run: "none", ended: "none", gone: "none", binned: "none" },
  ...{ memory: 987_654, result: 987_654, trigger: "none", point: 987_654, interaction: "none" },
  fingerprint: "none",
};

async function newWorld() {
  const api = newApi(() => "done");
  api.roles.create({ ...api.roles.list()[0]!.role, name: "Writer", tools: [], guardrails: [] });
  const mine = await newPlace(api, "mine_marker");
  const foreign = await newPlace(api, "foreign_marker");
  return { api, mine, foreign };
}
type World = Awaited<ReturnType<typeof newWorld>>;

/** What no schema tells: inputs that refer to each other, or whose fields have rules of their own. */
const INPUTS: Readonly<Record<string, (place: Place) => object>> = {
  "workflows.restore": ({ binned }) => ({ id: binned }),
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
    ...{ trigger_id: trigger, from: "2026-01-01T00:00:00Z", until: "2026-01-01T01:00:00Z" },
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
  "toolSettings.save": () => ({ purpose: "web", kind: "brave", base_url: "" }),
  "providers.save": () => ({ id: "a", name: "a", base_url: "http://127.0.0.1:9", default_model: "a" }),
  "providers.test": () => ({ id: "offline" }),
  "bin.purge": ({ binned }) => ({ kind: "workflow", id: binned }),
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
  // Each request is another program's, so that the rate limit lets it through.
  ...{ kind: "token", id: `scoped${programs++}`, scopes, isTrusted: true },
  ...(workflows && { workflows }),
});
const allowed = ({ mine }: World) => [mine.workflow, mine.binned];

/** What came of a request: how it ended, and all that was answered. */
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
  const troupe = { ...newServices(spare, { dataDir: null }), ...api, runs: api.runs as never };
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
const spare = emptyDb();
const STATUS: Readonly<Record<string, number>> = {
  ...{ BAD_REQUEST: 400, FORBIDDEN: 403, NOT_FOUND: 404, CONFLICT: 409, PRECONDITION_FAILED: 409 },
};

/** Endpoints that are written by hand. */
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
    if (process.env.ZZ) (await import('node:fs')).appendFileSync('/tmp/troupe/zz.txt', `== ${_transport} ${expect.getState().currentTestName}\n${wrong.map((w) => JSON.stringify(w).slice(0,420)).join('\n')}\n`);
    expect(wrong).toEqual([]);
    expect(rowsOf(world)).toEqual(before);
  }, 120_000);

  test("a foreign workflow doesn't exist for a limited token: the same answer as for no workflow, and nothing changes", async () => {
    const before = rowsOf(world);
    const wrong: unknown[] = [];
    for (const one of everyOperation) {
      if (!isAboutPlace(one.path, one.operation)) continue;
      const principal = () => token(allowed(world), [one.operation.needs]);
      const about = (place: Place) => ask(world, one, inputFor(one.path, one.operation, place), principal());
      const [foreign, nowhere] = [await about(world.foreign), await about(NOWHERE)];
      if (!foreign || isPersonOnly(one.operation)) continue;
      if (foreign.status !== nowhere?.status || foreign.text !== nowhere.text)
        wrong.push([one.path, foreign, nowhere]);
      if (foreign.status !== 404 && !ANSWER_EMPTILY.includes(one.path)) wrong.push([one.path, foreign]);
    }
    if (process.env.ZZ) (await import('node:fs')).appendFileSync('/tmp/troupe/zz.txt', `== ${_transport} ${expect.getState().currentTestName}\n${wrong.map((w) => JSON.stringify(w).slice(0,420)).join('\n')}\n`);
    expect(wrong).toEqual([]);
    expect(rowsOf(world)).toEqual(before);
  }, 120_000);

  test("a limited token reads its own workflows and the library, and nothing of foreign ones", async () => {
    const wrong: unknown[] = [];
    for (const one of everyOperation) {
      if (one.operation.kind !== "query" || isPersonOnly(one.operation)) continue;
      const input = inputFor(one.path, one.operation, world.mine);
      const read = async (workflows?: readonly string[]) =>
        ask(world, one, input, token(workflows, [one.operation.needs]));
      const [limited, whole] = [await read(allowed(world)), await read()];
      if (!limited) continue;
      if (limited.status !== whole?.status) wrong.push([one.path, limited, whole]);
      const leak = [world.foreign.workflow, world.foreign.run, world.foreign.binned, "foreign_marker"].find(
        (text) => limited.text.includes(text),
      );
      if (leak) wrong.push([one.path, leak, limited.text.slice(0, 2_000)]);
      if (whole?.text.includes("mine_marker") && !limited.text.includes("mine_marker"))
        wrong.push([one.path, "lacks its own", limited.text.slice(0, 500)]);
    }
    if (process.env.ZZ) (await import('node:fs')).appendFileSync('/tmp/troupe/zz.txt', `== ${_transport} ${expect.getState().currentTestName}\n${wrong.map((w) => JSON.stringify(w).slice(0,420)).join('\n')}\n`);
    expect(wrong).toEqual([]);
  }, 120_000);

  test("a limited token changes its own workflows and nothing else", async () => {
    const own = await newWorld();
    const foreignRows = () => JSON.stringify(rowsOf(own)).match(/foreign_marker/g)?.length;
    const before = foreignRows();
    const wrong: unknown[] = [];
    const last = /\.(cancel|remove|removeMany|removeOfWorkflow|purge|empty|answer|duplicate)$/;
    const changes = everyOperation.filter(
      ({ operation }) => operation.kind === "mutation" && !isPersonOnly(operation),
    );
    for (const one of changes.toSorted((a, b) => Number(last.test(a.path)) - Number(last.test(b.path)))) {
      const input = inputFor(one.path, one.operation, own.mine);
      const outcome = await ask(own, one, input, token(allowed(own), [one.operation.needs]));
      if (!outcome) continue;
      const isRefused = outcome.status === 403 && outcome.text.includes(REFUSAL);
      const isMissing = outcome.status === 404;
      if (isRefused !== REFUSED.includes(one.path) || (isMissing && !MISSING.includes(one.path)))
        wrong.push([one.path, outcome]);
    }
    if (process.env.ZZ) (await import('node:fs')).appendFileSync('/tmp/troupe/zz.txt', `== ${_transport} ${expect.getState().currentTestName}\n${wrong.map((w) => JSON.stringify(w).slice(0,420)).join('\n')}\n`);
    expect(wrong).toEqual([]);
    expect(foreignRows()).toBe(before);
    own.api.host.cancel(own.foreign.run, { by: "test", reason: "" });
  }, 120_000);
});

/** They filter by an ID, and find nothing. */
const ANSWER_EMPTILY: string[] = [];
/** Changes of what belongs to no workflow, and new workflows. */
const REFUSED: string[] = [];
/** What is named besides the workflow doesn't exist. */
const MISSING: string[] = [];
