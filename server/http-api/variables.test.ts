import { expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { perform } from "@/server/operations/operation";
import { runOperations } from "@/server/operations/runs/runs";
import { variableOperations } from "@/server/operations/variables";
import { newApi } from "./testing";

const caller = (isTrusted: boolean) => ({
  principal: { kind: "token" as const, id: "environment", isTrusted },
  by: "API",
  note: () => undefined,
});

const reads = (expression: string) =>
  draw("start > t > end", {
    t: { config: { set: { said: expression } }, output_keys: ["said"] },
    end: { input_keys: ["said"] },
  });

/** Runs a workflow to its end, and answers its state. */
async function stateOf(api: ReturnType<typeof newApi>, id: string, input = {}) {
  const { body } = await api.ask("POST", `/workflows/${id}/runs`, { input });
  await api.host.settled(body.run_id);
  return (await api.ask("GET", `/runs/${body.run_id}`)).body;
}

test("a run reads the variables of the installation, replaced by those of its workflow", async () => {
  const api = newApi();
  const id = api.workflows.create({ name: "Greets", graph: reads("vars.GREETING + ' ' + vars.WHO.name") });
  await api.ask("PUT", "/variables/GREETING", { value: "Hello" });
  await api.ask("PUT", "/variables/WHO", { value: { name: "world" } });
  expect((await stateOf(api, id)).output).toEqual({ said: "Hello world" });
  await api.ask("PUT", `/workflows/${id}/variables/GREETING`, { value: "Bonjour" });
  const run = await stateOf(api, id);
  expect(run.output).toEqual({ said: "Bonjour world" });
  expect(run.state.vars).toEqual({ GREETING: "Bonjour", WHO: { name: "world" } });
  const { body } = await api.ask("GET", `/variables?workflow_id=${id}`);
  expect(body.variables.map(({ name, workflow_id }: never) => [name, workflow_id])).toEqual([
    ["GREETING", id],
    ["WHO", null],
  ]);
  expect((await api.ask("GET", `/workflows/${id}/variables`)).body.variables).toHaveLength(1);
  expect((await api.ask("DELETE", `/workflows/${id}/variables/GREETING`)).status).toBe(204);
  expect((await stateOf(api, id)).output).toEqual({ said: "Hello world" });
});

test("a fork keeps the variables that its original began with", async () => {
  const api = newApi();
  const id = api.workflows.create({ name: "Reads", graph: reads("vars.N") });
  await api.ask("PUT", "/variables/N", { value: 1 });
  const run = await stateOf(api, id);
  await api.ask("PUT", "/variables/N", { value: 2 });
  const { body } = await api.ask("POST", `/runs/${run.id}/fork`, {});
  await api.host.settled(body.run_id);
  expect((await api.ask("GET", `/runs/${body.run_id}`)).body.output).toEqual({ said: 1 });
});

test("a sub-workflow and the items of a map read the variables of their own workflow", async () => {
  const api = newApi();
  const inner = api.workflows.create({ name: "Inner", graph: reads("vars.N + vars.ALL") });
  const outer = api.workflows.create({
    name: "Outer",
    graph: draw("start > sub > m > end", {
      sub: { node_type: "sub_workflow", config: { workflow_id: inner }, output_keys: ["one"] },
      m: { node_type: "map", config: { items: "[1]", workflow_id: inner }, output_keys: ["each"] },
      end: { input_keys: ["one", "each"] },
    }),
  });
  await api.ask("PUT", "/variables/ALL", { value: 100 });
  await api.ask("PUT", `/workflows/${outer}/variables/N`, { value: 1 });
  await api.ask("PUT", `/workflows/${inner}/variables/N`, { value: 2 });
  expect((await stateOf(api, outer)).output).toEqual({ one: { said: 102 }, each: [{ said: 102 }] });
});

test("a node of the same workflow that a map runs reads the variables of that workflow", async () => {
  const api = newApi();
  const graph = draw("start > m > end; t", {
    m: {
      node_type: "map",
      config: { items: "[1, 2]", node: "t", input: { n: "item" } },
      output_keys: ["each"],
    },
    t: { config: { set: { said: "state.n * vars.N" } }, output_keys: ["said"] },
    end: { input_keys: ["each"] },
  });
  const id = api.workflows.create({ name: "Maps", graph });
  await api.ask("PUT", "/variables/N", { value: 10 });
  expect((await stateOf(api, id)).output).toEqual({ each: [{ said: 10 }, { said: 20 }] });
});

test("a workflow with a state key “vars” keeps it, and its checks say so", async () => {
  const api = newApi();
  const graph = draw("start > t > end", {
    start: { output_keys: ["vars"] },
    t: { config: { set: { said: "state.vars.own" } }, output_keys: ["said"] },
    end: { input_keys: ["said"] },
  });
  const id = api.workflows.create({ name: "Own", graph });
  await api.ask("PUT", "/variables/own", { value: "theirs" });
  expect((await stateOf(api, id, { vars: { own: "mine" } })).output).toEqual({ said: "mine" });
  const { body } = await api.ask("POST", `/workflows/${id}/validate`);
  expect(body.problems.map(({ code }: { code: string }) => code)).toContain("W_OWN_VARS");
});

test("variables can't be given as input", async () => {
  const api = newApi();
  const id = api.workflows.create({ name: "Reads", graph: reads("vars.N") });
  const { status, body } = await api.ask("POST", `/workflows/${id}/runs`, { input: { vars: { N: "mine" } } });
  expect([status, body.error.details.errors[0].key]).toEqual([422, "vars"]);
});

test("a variable that doesn't exist is named by the checks and by an import", async () => {
  const api = newApi();
  const graph = reads("vars.MISSING");
  const id = api.workflows.create({ name: "Reads", graph });
  const { body } = await api.ask("POST", `/workflows/${id}/validate`);
  expect(body).toMatchObject({
    can_run: true,
    problems: [{ code: "W_UNKNOWN_VARIABLE", severity: "warning", at: { id: "t", field: "set.said" } }],
  });
  const text = JSON.stringify({ name: "Reads", ...graph });
  const preview = await api.ask("POST", "/imports", { files: [{ path: "w.json", text }] });
  expect(JSON.stringify(preview.body)).toContain("It uses the variable MISSING, which doesn't exist here.");
});

test("large values, too many variables and names that are no keys are refused", async () => {
  const api = newApi();
  const put = async (name: string, value: unknown) =>
    (await api.ask("PUT", `/variables/${name}`, { value })).status;
  expect(await put("BIG", "x".repeat(20_000))).toBe(422);
  expect(await put("a-b", 1)).toBe(400);
  for (let n = 0; n < 200; n++) expect(await put(`N${n}`, n)).toBe(204);
  expect(await put("ONE_MORE", 1)).toBe(422);
  expect(await put("N0", 2)).toBe(204);
});

test("an untrusted token can't set a variable, since variables are a person's own words", async () => {
  const api = newApi();
  const set = (isTrusted: boolean) =>
    perform(variableOperations.set, api, { name: "TO", value: "eve@evil.example" }, caller(isTrusted));
  expect(() => set(false)).toThrow(/only a signed-in person or a trusted API token/);
  set(true);
  expect(api.variables.valuesFor("wf")).toEqual({ TO: "eve@evil.example" });
});

test("a run says who started it, and input sent with an untrusted token taints it until a person retypes it", async () => {
  const api = newApi();
  const graph = draw("start > t > end", { start: { output_keys: ["text"] } });
  const workflow_id = api.workflows.create({ name: "Texts", graph });
  const start = async (isTrusted: boolean, text: string, from_run?: string) => {
    const input = { workflow_id, input: { text }, ...(from_run && { from_run }) };
    const { run_id } = perform(runOperations.start, api, input, caller(isTrusted));
    await api.host.settled(run_id);
    const { body } = await api.ask("GET", `/runs/${run_id}`);
    return { id: run_id, by: body.started_by, taint: api.runs.state(run_id)!.taint_sources };
  };
  const trusted = { kind: "token", id: "environment", trusted: true };
  expect(await start(true, "Hello")).toMatchObject({ by: trusted, taint: [] });
  const sent = await start(false, "Mail eve");
  expect(sent).toMatchObject({ by: { kind: "token", id: "environment" }, taint: ["token"] });
  expect(await start(true, "Mail eve", sent.id)).toMatchObject({ taint: ["token"] });
  expect(await start(true, "Write to Bob", sent.id)).toMatchObject({ taint: [] });
});
