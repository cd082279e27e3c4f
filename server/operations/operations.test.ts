import { expect, test } from "vitest";
import { z } from "zod";
import { emptyDb } from "@/db/testing";
import { appRouter } from "@/server/api/root";
import { SCOPES } from "@/server/domain/base/scopes";
import { ENDPOINTS } from "@/server/http-api/table";
import { expectSchema, newApi } from "@/server/http-api/testing";
import { newServices } from "@/server/services";
import { operations } from ".";
import { type Operation, perform } from "./operation";
import { REJECTIONS } from "./rejections";

const all = Object.entries(operations).flatMap(([subject, group]) =>
  Object.entries<Operation>(group).map(([name, operation]) => ({ path: `${subject}.${name}`, operation })),
);
const endpoints = new Map(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint]));
const procedures = Object.keys(appRouter._def.procedures);

/** What only programs have, with why. */
const HTTP_ONLY: Record<string, string> = {
  getHealth: "a probe, for whoever watches the server",
  getMetrics: "figures, for whoever watches the server; people have engine.get",
  getOpenApi: "the description of this API",
  listRunEvents: "a part of the log, or an event stream; the browser has runs.follow",
};

/** What only the browser has beside operations, with why. */
const BROWSER_ONLY: Record<string, string> = {
  "runs.stale": "part of what the browser pins",
  "runs.follow": "a stream in tRPC's form; programs have listRunEvents",
  "runs.events": "a part of the log; programs have listRunEvents",
  "runs.overview": "ticks for lists on the screen",
  "access.info": "how this process is reached, for the page of settings",
};

test("every operation missing from the API or the browser is listed with a reason", () => {
  const shared = new Set(all.map(({ path }) => path));
  const onlyBrowser = procedures.filter((path) => !shared.has(path));
  expect(onlyBrowser.filter((path) => !(BROWSER_ONLY[path] ?? BROWSER_ONLY[path.split(".")[0]!]))).toEqual(
    [],
  );
  const names = new Set(all.map(({ operation }) => operation.name));
  const onlyHttp = [...endpoints.keys()].filter((name) => !names.has(name));
  expect(onlyHttp.filter((name) => !(name in HTTP_ONLY))).toEqual([]);
});

test("every operation is a tRPC procedure and an HTTP endpoint, or declares why it isn't", () => {
  for (const { path, operation } of all) {
    expect(procedures).toContain(path);
    const { http } = operation;
    const isBrowsers = "browserOnly" in http || "personOnly" in http;
    expect([operation.name, endpoints.has(operation.name)]).toEqual([operation.name, !isBrowsers]);
  }
});

test("operations reserved for people reject every API token", () => {
  const persons = all.filter(({ operation: { http } }) => "personOnly" in http);
  const token = { principal: { kind: "token", id: "t" } as const, by: "API token t", note: () => {} };
  // Refused before anything is looked at: neither the input nor the server is there.
  for (const { operation } of persons)
    expect(() => perform(operation, {} as never, {}, token)).toThrow("Only a signed-in person can do this");
  expect(persons.map(({ path }) => path).sort()).toEqual([
    "access.createToken",
    "access.revokeToken",
    "access.tokens",
    "bin.restore",
    "customTools.restore",
    "customTools.save",
    "customTools.try",
    "mcp.add",
    "mcp.approve",
    "mcp.beginSignIn",
    "mcp.correct",
    "mcp.finishSignIn",
    "memories.restore",
    "notices.saveEmail",
    "notices.saveWebhook",
    "notices.test",
    "tools.tryOut",
  ]);
});

test("a caller without an operation's scope is rejected", () => {
  for (const { operation } of all) {
    const others = SCOPES.filter((one) => ![operation.needs].flat().includes(one));
    const principal = { kind: "session" as const, id: "s", scopes: others };
    expect(() => perform(operation, {} as never, {}, { principal, by: "s", note: () => {} })).toThrow(
      `This requires the scope "${[operation.needs].flat()[0]}"`,
    );
    const needsRead =
      operation.kind === "query" &&
      !["listTokens", "listAuditEntries", "listSecrets"].includes(operation.name);
    expect([operation.name, operation.needs === "read"]).toEqual([operation.name, needsRead]);
  }
});

test("what answers with contents of runs also needs the scope to read", () => {
  const revealing = (schema: z.ZodType) =>
    /"(?:state|input|output|answer|detail|noticed_by|recorded)":/.test(
      JSON.stringify(z.toJSONSchema(schema, { unrepresentable: "any", io: "input" })),
    );
  const open = all.filter(({ operation: { output, needs } }) => {
    const scopes = [needs].flat();
    return output && !scopes.includes("read") && (scopes.includes("run") || scopes.includes("answer"));
  });
  expect(
    open.flatMap(({ path, operation: { output } }) => (output && revealing(output) ? path : [])),
  ).toEqual([]);
  expect(open.map(({ path }) => path)).toContain("runs.cancel");
});

test("an operation's endpoint documents the errors it can return", () => {
  // Those that any endpoint may send are not repeated.
  const always = [400, 401, 429, 500];
  for (const { operation } of all) {
    const endpoint = endpoints.get(operation.name);
    if (!endpoint) continue;
    const documented = new Set([...always, ...(endpoint.refusals ?? [])]);
    const missing = (operation.problems ?? []).filter((code) => !documented.has(REJECTIONS[code][0]));
    expect([operation.name, missing]).toEqual([operation.name, []]);
  }
});

test("the browser and the API return the same data about a workflow", async () => {
  const api = newApi();
  const id = api.addApproval();
  const { graph } = api.workflows.find(id)!;
  const note = { id: "n", node_type: "note", name: "Note", config: { text: "By the way" } };
  api.workflows.save({ id, revision: 1, graph: { ...graph, nodes: { ...graph.nodes, n: note as never } } });
  const troupe = { ...newServices(emptyDb(), { dataDir: null }), ...api, runs: api.runs as never };
  const browser = appRouter.createCaller({
    troupe: troupe,
    principal: { kind: "session", id: "s" },
  });
  const [seen] = await browser.workflows.list();
  const { body } = await api.ask("GET", "/workflows");
  expect(body.workflows[0].node_count).toBe(seen!.node_count);
  expect(seen!.node_count).toBe(Object.keys(graph.nodes).length);
  expect((await api.ask("GET", `/workflows/${id}/capabilities`)).body.capabilities).toEqual(
    await browser.workflows.capabilities({ id }),
  );
  expect((await api.ask("POST", `/workflows/${id}/validate`)).body).toEqual(
    await browser.workflows.validate({ id }),
  );
});

test("the API can rename, copy, delete and restore a workflow and create one from a template", async () => {
  const api = newApi();
  const id = api.addApproval();
  expect((await api.ask("PUT", `/workflows/${id}/name`, { name: "Leave" })).status).toBe(204);
  expect(api.workflows.find(id)?.name).toBe("Leave");
  expect((await api.ask("PUT", `/workflows/${id}/name`, { name: "" })).status).toBe(400);
  const copy = await api.ask("POST", `/workflows/${id}/duplicate`);
  expect(copy.status).toBe(201);
  expect(api.workflows.find(copy.body.id)).toBeTruthy();
  expect((await api.ask("DELETE", `/workflows/${id}`)).status).toBe(204);
  expect(await api.ask("POST", `/workflows/${id}/restore`)).toMatchObject({ status: 204 });
  expect(api.workflows.find(id)).toBeTruthy();
  expect(await api.ask("POST", "/workflows/none/restore")).toMatchObject({
    status: 404,
    body: { error: { code: "not_found" } },
  });
  const { templates } = (await api.ask("GET", "/templates")).body;
  const made = await api.ask("POST", `/templates/${templates[0].key}/workflows`);
  expect(api.workflows.find(made.body.id)?.name).toBe(templates[0].title);
});

test("the browser and the API share rules: ended runs can be deleted, and limits only be raised", async () => {
  const api = newApi();
  const troupe = { ...newServices(emptyDb(), { dataDir: null }), ...api, runs: api.runs as never };
  const browser = appRouter.createCaller({
    troupe: troupe,
    principal: { kind: "session", id: "s" },
  });
  const input = { user_request: "May I leave?" };
  const { run_id } = await browser.runs.start({ workflow_id: api.addApproval(), input });
  await api.host.settled(run_id);
  expect(api.runs.find(run_id)).toMatchObject({ status: "finished", trigger: "editor" });
  await expect(browser.runs.cancel({ run_id })).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });
  expect((await api.ask("POST", `/runs/${run_id}/cancel`)).body).toEqual({ run_id, cancelled: false });
  const raised = { limit: "max_steps", to: 1 } as const;
  await expect(browser.runs.raiseLimit({ run_id, ...raised })).rejects.toThrow(
    "didn't stop because of this limit",
  );
  expect((await api.ask("POST", `/runs/${run_id}/limits`, raised)).body.error.code).toBe("not_at_limit");
  expect((await api.ask("GET", `/runs/${run_id}/files`)).body).toEqual({ files: [] });
  expect((await api.ask("DELETE", `/runs/${run_id}`)).status).toBe(204);
  await expect(browser.runs.remove({ run_id })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("the API returns a run's file from a given offset", async () => {
  const api = newApi();
  api.workspace.write("run_1", "notes.md", "first, second", { writtenBy: "a" });
  const { body } = await api.ask("GET", "/runs/run_1/file?path=notes.md&offset=7");
  expect(body).toMatchObject({ content: "second", total: 13, next_offset: null });
  expectSchema("readRunFile", body);
  expect((await api.ask("GET", "/runs/run_1/file?path=../x")).status).toBe(400);
});
