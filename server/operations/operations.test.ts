import { expect, test } from "vitest";
import { openDb } from "@/db/open";
import { appRouter } from "@/server/api/root";
import { ENDPOINTS } from "@/server/http-api/table";
import { newApi } from "@/server/http-api/testing";
import { newTroupe } from "@/server/troupe";
import { operations } from ".";
import type { Operation } from "./operation";
import { PROBLEMS } from "./problem";

const all = Object.entries(operations).flatMap(([subject, group]) =>
  Object.entries<Operation>(group).map(([name, operation]) => ({ path: `${subject}.${name}`, operation })),
);
const endpoints = new Map(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint]));
const procedures = Object.keys(appRouter._def.procedures);

/** What only programs have, with why. */
const HTTP_ONLY: Record<string, string> = {
  getHealth: "a probe, for whoever watches the server",
  getOpenApi: "the description of this API",
};

test("every operation is a procedure for the browser and an endpoint for programs, or says why not", () => {
  for (const { path, operation } of all) {
    expect(procedures).toContain(path);
    const isBrowserOnly = typeof operation.http === "object" && "browserOnly" in operation.http;
    expect([operation.name, endpoints.has(operation.name)]).toEqual([operation.name, !isBrowserOnly]);
  }
});

test("an operation's endpoint tells the refusals that it may make", () => {
  for (const { operation } of all) {
    const told = endpoints.get(operation.name)?.refusals ?? [];
    if (endpoints.has(operation.name))
      for (const code of operation.problems ?? [])
        expect([operation.name, told]).toEqual([operation.name, expect.arrayContaining([PROBLEMS[code][0]])]);
  }
});

test("the browser and a program are told the same about the same workflow", async () => {
  const api = newApi();
  const id = api.addApproval();
  const { graph } = api.workflows.find(id)!;
  const note = { id: "n", node_type: "note", name: "Note", config: { text: "By the way" } };
  api.workflows.save({ id, revision: 1, graph: { ...graph, nodes: { ...graph.nodes, n: note as never } } });
  const troupe = { ...newTroupe(openDb(":memory:"), { dataDir: null }), ...api, runs: api.runs as never };
  const browser = appRouter.createCaller({
    troupe: troupe as never,
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

test("a program can rename, copy, throw away and bring back a workflow, and begin with a template", async () => {
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
