import { beforeEach, expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { newApi } from "./testing";

const VALUE = "value-of-a-secret-0123";
let api: ReturnType<typeof newApi>;
beforeEach(() => {
  api = newApi();
});

const add = (more: object = {}) =>
  api.ask("POST", "/secrets", { name: "KEY", value: VALUE, hosts: ["api.example.com"], ...more });
const request = (config: JsonObject) =>
  draw("start > ask > end", {
    ask: {
      node_type: "http_request",
      output_keys: ["response"],
      config: {
        url: "https://api.example.com/",
        headers: { authorization: 'Bearer {"$secret": "KEY"}' },
        ...config,
      },
    },
  });
const problemsOf = async (graph: ReturnType<typeof request>) => {
  const id = api.workflows.create({ name: "Asks", graph });
  const { body } = await api.ask("POST", `/workflows/${id}/validate`);
  const started = await api.ask("POST", `/workflows/${id}/runs`, { input: {} });
  const codes = (body as { problems: { code: string }[] }).problems.map(({ code }) => code);
  return { codes: codes.filter((code) => code.includes("SECRET")), status: started.status };
};

test("a secret is listed with its hosts, hint and uses, and its value never comes out", async () => {
  const id = api.workflows.create({ name: "Asks", graph: request({}) });
  expect((await add()).status).toBe(201);
  const listed = await api.ask("GET", "/secrets");
  expect(listed.body).toMatchObject({
    secrets: [
      {
        name: "KEY",
        hint: "0123",
        hosts: ["api.example.com"],
        workflows: null,
        used_by: [{ id, name: "Asks" }],
      },
    ],
  });
  expect(JSON.stringify(listed.body)).not.toContain("value-of");
  expect((await add()).body).toMatchObject({ error: { code: "name_taken" } });
  expect((await api.ask("DELETE", "/secrets/KEY")).status).toBe(204);
  expect((await api.ask("DELETE", "/secrets/KEY")).status).toBe(404);
  const noted = api.audit.list().map(({ kind, detail }) => [kind, detail]);
  expect(noted).toEqual([
    ["secret_removed", { secret: "KEY" }],
    ["secret_added", { secret: "KEY", hosts: ["api.example.com"] }],
  ]);
});

test("a secret without a host, with a short value or with another kind of name is refused", async () => {
  for (const wrong of [{ hosts: [] }, { hosts: ["*"] }, { value: "short" }, { name: "a key" }])
    expect((await add(wrong)).status, JSON.stringify(wrong)).toBe(400);
});

test("a further host requires entering the value again", async () => {
  await add();
  const change = (body: object) => api.ask("PUT", "/secrets/KEY", body);
  const more = { hosts: ["api.example.com", "evil.example"] };
  const refused = await change(more);
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    400,
    expect.stringContaining("Enter the value again"),
  ]);
  expect((await change({ ...more, value: "another-value-4567" })).status).toBe(204);
  expect((await change({ hosts: ["evil.example"], workflows: ["wf_1"] })).status).toBe(204);
  expect(api.secrets.find("KEY")).toMatchObject({
    hint: "4567",
    hosts: ["evil.example"],
    workflows: ["wf_1"],
  });
  expect((await api.ask("PUT", "/secrets/OTHER", more)).status).toBe(404);
});

test("a workflow whose secret is missing, for another host or for another workflow can't start", async () => {
  expect(await problemsOf(request({}))).toEqual({ codes: ["E_UNKNOWN_SECRET"], status: 422 });
  await add();
  expect(await problemsOf(request({}))).toEqual({ codes: [], status: 202 });
  expect(await problemsOf(request({ url: "https://evil.example/" }))).toEqual({
    codes: ["E_SECRET_NOT_FOR_HOST"],
    status: 422,
  });
  // Where a value decides the host, it is checked in the run.
  expect((await problemsOf(request({ url: "https://{{user_request}}/" }))).codes).toEqual([]);
  await api.ask("PUT", "/secrets/KEY", { hosts: ["api.example.com"], workflows: ["wf_other"] });
  expect(await problemsOf(request({}))).toEqual({ codes: ["E_SECRET_NOT_FOR_WORKFLOW"], status: 422 });
});

test("a reference where none is filled in, or for a tool that sends no request, is reported", async () => {
  await add();
  expect((await problemsOf(request({ url: 'https://api.example.com/{"$secret": "KEY"}' }))).codes).toEqual([
    "W_SECRET_NOT_FILLED",
  ]);
  expect((await problemsOf(request({ headers: { a: '{"$secret": "no name"}' } }))).codes).toEqual([
    "W_SECRET_NOT_FILLED",
  ]);
  const calls = (tool_name: string, args: JsonObject) =>
    draw("start > ask > end", {
      ask: { node_type: "tool_call", output_keys: ["r"], config: { tool_name, args } },
    });
  expect((await problemsOf(calls("web_search", { query: { $secret: "KEY" } }))).codes).toEqual([
    "E_SECRET_NOT_FOR_TOOL",
  ]);
  const args = { url: "https://api.example.com/", headers: { "x-key": { $secret: "KEY" } } };
  expect((await problemsOf(calls("http_request", args))).codes).toEqual([]);
});

test("a key in a header is advice with the repair to move it to a secret for its host", async () => {
  const id = api.workflows.create({
    name: "Typed",
    graph: request({ headers: { authorization: `Bearer ${"a1B2".repeat(8)}` } }),
  });
  const { body } = await api.ask("POST", `/workflows/${id}/validate`);
  expect(body).toMatchObject({
    can_run: true,
    problems: expect.arrayContaining([
      expect.objectContaining({
        code: "W_LOOKS_LIKE_A_SECRET",
        at: { kind: "node", id: "ask", field: "headers.authorization" },
      }),
    ]),
  });
  const exported = JSON.stringify((await api.ask("GET", `/workflows/${id}`)).body);
  expect(exported).not.toContain("a1B2a1B2");
});

test("a reference that is alone as a value is saved as its text, and an exported file has the name only", async () => {
  const id = api.workflows.create({ name: "Asks", graph: request({ headers: { key: { $secret: "KEY" } } }) });
  const { body } = await api.ask("GET", `/workflows/${id}`);
  expect(JSON.stringify(body)).toContain('{\\"$secret\\": \\"KEY\\"}');
});
