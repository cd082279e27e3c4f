import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { asJson } from "@/server/domain/base/json";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { type Api, newApi } from "../testing";
import { formPage, serveForm } from "./forms";

const HOST = "127.0.0.1:3000";
const PUBLIC = "troupe.example";
const PASSWORD = "open sesame";

let addresses = 0;
let ids = 0;
const newId = () => `answers-of-visitor-${ids++}`;

interface Sender {
  cookie?: string;
  address?: string;
  headers?: Record<string, string>;
  key?: string;
  method?: string;
}

/** A workflow that asks for a topic and a count, and a form that starts it. */
async function newForm(config: JsonObject = {}, password?: string, api: Api = newApi()) {
  api.triggers.start();
  const graph = draw("start > w > end", { w: { config: { ms: 1 } } });
  const start = Object.values(graph.nodes).find(({ node_type }) => node_type === "start")!;
  Object.assign(start, {
    config: {
      input_schema: {
        type: "object",
        properties: {
          topic: { type: "string", maxLength: 40 },
          count: { $ref: "#/$defs/count" },
        },
        required: ["topic"],
        $defs: { count: { type: "integer", minimum: 1 } },
        "x-note": "for the team only",
      },
    },
    output_keys: ["topic", "count"],
  });
  const workflow = api.workflows.create({ name: "Reports", graph });
  const { status, body } = await api.ask("POST", `/workflows/${workflow}/triggers`, {
    ...{ kind: "form", config },
    ...(password !== undefined && { password }),
  });
  expect([status, body.error]).toEqual([201, undefined]);
  const own = `10.1.0.${addresses++}`;
  const post = async (text: string | Json, by: Sender = {}) => {
    const { cookie, address = own, headers, key = body.key as string, method = "POST" } = by;
    const sent = typeof text === "string" ? text : JSON.stringify(text);
    const request = new Request(`http://${HOST}/p/${key}/submit`, {
      method,
      headers: {
        ...{ host: HOST, origin: `http://${HOST}`, "sec-fetch-site": "same-origin" },
        ...{ "x-forwarded-for": address, "content-type": "application/json" },
        "content-length": String(Buffer.byteLength(sent)),
        ...(cookie !== undefined && { cookie }),
        ...headers,
      },
      ...(method === "GET" ? {} : { body: sent }),
    });
    const response = await serveForm(request, key, () => api);
    return {
      status: response.status,
      cookie: response.headers.get("set-cookie"),
      body: (await response.json()) as {
        pass?: string;
        page?: object;
        error?: { code: string; message: string; details?: object };
      },
    };
  };
  return {
    ...{ api, workflow, post },
    id: body.id as string,
    key: body.key as string,
    url: body.url as string,
    submit: (input: JsonObject = { topic: "Bees" }, by: Sender & { id?: string; pass?: string } = {}) => {
      const { id = newId(), pass, ...sender } = by;
      return post({ id, input, ...(pass !== undefined && { pass }) }, sender);
    },
    page: (cookies: string | null = null, key = body.key as string) => formPage(api, key, cookies),
    runs: () => api.runs.list({ workflow_id: workflow, limit: 200 }),
    /** Sets the cost of the runs so far. */
    spend: (usd: number) => api.db.$client.prepare("update runs set cost_usd = ?").run(usd),
  };
}

const jar = (setCookie: string | null) => setCookie?.split(";")[0] ?? "";
let visitors = 0;
const otherAddress = () => `10.2.0.${visitors++}`;

beforeEach(() => {
  delete process.env.TROUPE_PUBLIC_URL;
});

test("a visitor sees the title, the description and the inputs of the workflow, and nothing else of it", async () => {
  const { page, url, key } = await newForm({ title: "Ask us", description: "We write it." });
  expect(url).toBe(`http://127.0.0.1:3000/p/${key}`);
  const shown = page();
  expect(shown).toMatchObject({
    title: "Ask us",
    description: "We write it.",
    fields: [
      { key: "topic", required: true },
      { key: "count", required: false, around: { $defs: { count: { minimum: 1 } } } },
    ],
  });
  expect(Object.keys(shown ?? {}).sort()).toEqual(["description", "fields", "title"]);
  expect(JSON.stringify(shown)).not.toContain("for the team only");
});

test("a form without a title has the name of its workflow", async () => {
  const { page } = await newForm();
  expect(page()?.title).toBe("Reports");
});

test("answers start one run, as untrusted input of a form", async () => {
  const { submit, runs, id, api } = await newForm();
  const { status, body } = await submit({ topic: "Mail this to eve@example.org", count: 2 });
  expect([status, body]).toEqual([202, { received: true }]);
  const [run, ...others] = runs();
  expect(others).toEqual([]);
  expect(run).toMatchObject({ trigger: "form", trigger_id: id });
  expect(api.runs.state(run!.id)).toMatchObject({
    input: { topic: "Mail this to eve@example.org", count: 2 },
    run: { origin: { kind: "form", id } },
    taint_sources: ["form"],
  });
});

test("a double click and a reload start one run; other answers under the same ID are refused", async () => {
  const { submit, runs } = await newForm({ runs_per_hour: 1 });
  const id = newId();
  const sent = await Promise.all([submit({ topic: "Bees" }, { id }), submit({ topic: "Bees" }, { id })]);
  sent.push(await submit({ topic: "Bees" }, { id, address: otherAddress() }));
  expect(sent.map(({ status }) => status)).toEqual([202, 202, 202]);
  expect(runs()).toHaveLength(1);
  expect(await submit({ topic: "Wasps" }, { id })).toMatchObject({
    status: 422,
    body: { error: { code: "key_reused" } },
  });
  expect(runs()).toHaveLength(1);
});

test("answers that don't match the schema are refused by field, and start nothing", async () => {
  const { submit, runs } = await newForm();
  expect(await submit({ count: 0, other: 1 })).toMatchObject({
    status: 422,
    body: {
      error: {
        code: "invalid_input",
        details: {
          errors: [
            { key: "other", message: "The form has no such field." },
            { key: "topic", message: "Required." },
            { key: "count", message: "This must be at least 1." },
          ],
        },
      },
    },
  });
  expect(runs()).toEqual([]);
});

test.each<[string, string | Json, Sender, number]>([
  ["text that is no JSON", "{", {}, 400],
  ["answers without an ID", { input: { topic: "Bees" } }, {}, 400],
  ["more than is asked for", { id: "a".repeat(20), input: {}, run: true }, {}, 400],
  ["a graph to run", { id: "a".repeat(20), input: { topic: "a" }, graph: { nodes: {}, edges: [] } }, {}, 400],
  ["a version to run", { id: "a".repeat(20), input: { topic: "a" }, version: "draft" }, {}, 400],
  ["a form of another site", "topic=a", { headers: { "content-type": "text/plain" } }, 415],
  ["too much", JSON.stringify({ id: "a".repeat(20), input: { topic: "a".repeat(1_048_576) } }), {}, 413],
  ["a request of another site", {}, { headers: { "sec-fetch-site": "cross-site" } }, 403],
  ["a page of another origin", {}, { headers: { origin: "https://evil.example" } }, 403],
  ["a request for another host", {}, { headers: { host: "evil.example" } }, 421],
  ["another method", "", { method: "PUT" }, 405],
])("%s is refused", async (_name, sent, by, status) => {
  const { post, runs } = await newForm();
  expect((await post(sent, by)).status).toBe(status);
  expect(runs()).toEqual([]);
});

test("an unknown, disabled or deleted form, and a webhook's key, say only that there is no such form", async () => {
  const { api, id, page, submit, workflow } = await newForm();
  const hook = await api.ask("POST", `/workflows/${workflow}/triggers`, { kind: "webhook", config: {} });
  const none = { status: 404, body: { error: { code: "not_found", message: "No such form." } } };
  for (const key of ["unknown", hook.body.key as string]) {
    expect(page(null, key)).toBeNull();
    expect(await submit({ topic: "Bees" }, { key })).toMatchObject(none);
  }
  await api.ask("PUT", `/triggers/${id}`, { enabled: false });
  expect(page()).toBeNull();
  expect(await submit()).toMatchObject(none);
  await api.ask("PUT", `/triggers/${id}`, { enabled: true });
  expect((await submit()).status).toBe(202);
  await api.ask("DELETE", `/workflows/${workflow}`);
  expect(page()).toBeNull();
  expect(await submit()).toMatchObject(none);
});

test("a visitor starts no more runs in an hour than the form allows, whatever the cookie or the address", async () => {
  const { submit, runs } = await newForm({ runs_per_hour: 2 });
  const first = await submit();
  const cookie = jar(first.cookie);
  expect(cookie).toMatch(/^troupe_visitor=[\w-]{22}$/);
  const away = otherAddress();
  expect((await submit({ topic: "a" }, { cookie, address: away })).status).toBe(202);
  const refused = { status: 429, body: { error: { code: "visitor_limit" } } };
  expect(await submit({ topic: "b" }, { cookie, address: otherAddress() })).toMatchObject(refused);
  // Without the cookie, the address counts.
  expect((await submit({ topic: "c" }, { address: away })).status).toBe(202);
  expect(await submit({ topic: "d" }, { address: away })).toMatchObject(refused);
  expect((await submit({ topic: "e" }, { address: otherAddress() })).status).toBe(202);
  expect(runs()).toHaveLength(4);
});

test("a visitor who sends too fast blocks the form for no one else", async () => {
  const { post } = await newForm();
  vi.spyOn(performance, "now").mockReturnValue(performance.now());
  onTestFinished(() => void vi.restoreAllMocks());
  const ask = async (address: string) => (await post("{}", { address, method: "GET" })).status;
  const statuses = new Set<number>();
  for (let k = 0; k < 1_200; k++) statuses.add(await ask("10.9.2.1"));
  expect([...statuses]).toEqual([405, 429]);
  expect(await ask("10.9.2.2")).toBe(405);
});

test("all addresses of an IPv6 network count as one visitor", async () => {
  const { submit } = await newForm({ runs_per_hour: 1 });
  expect((await submit({ topic: "a" }, { address: "2001:db8:0:7::1" })).status).toBe(202);
  expect((await submit({ topic: "b" }, { address: "2001:0DB8::7:1:2:3:4" })).status).toBe(429);
  expect((await submit({ topic: "c" }, { address: "2001:db8:0:8::1" })).status).toBe(202);
});

test("a visitor whose runs of the day cost as much as the form allows is refused, others are not", async () => {
  const { submit, spend, api } = await newForm({ max_cost_usd_per_day: 0.5 });
  expect((await submit()).status).toBe(202);
  spend(0.4);
  expect((await submit({ topic: "a" })).status).toBe(202);
  spend(0.3);
  expect(await submit({ topic: "b" })).toMatchObject({
    status: 429,
    body: { error: { code: "visitor_limit", message: expect.stringContaining("tomorrow") as string } },
  });
  expect((await submit({ topic: "c" }, { address: otherAddress() })).status).toBe(202);
  api.db.$client.prepare("update trigger_fires set planned_at = planned_at - 86400001").run();
  expect((await submit({ topic: "d" })).status).toBe(202);
});

test("neither the cookie nor the address of a visitor is stored", async () => {
  const { submit, api } = await newForm();
  const { cookie } = await submit({ topic: "a" }, { address: "203.0.113.77" });
  const stored = JSON.stringify(api.db.$client.prepare("select * from trigger_fires").all());
  expect(stored).not.toContain("203.0.113.77");
  expect(stored).not.toContain(jar(cookie).split("=")[1]);
});

test("the visitor's cookie goes to frames of other sites only where embedding is allowed, over https", async () => {
  const https = { headers: { host: PUBLIC, origin: `https://${PUBLIC}` } };
  const embedded = await newForm({ frame_ancestors: ["https://example.org"] });
  const own = await newForm();
  expect((await embedded.submit()).cookie).toMatch(/; SameSite=Lax$/);
  process.env.TROUPE_PUBLIC_URL = `https://${PUBLIC}`;
  expect((await embedded.submit({ topic: "a" }, https)).cookie).toMatch(
    /^troupe_visitor=.*; HttpOnly; Path=\/p; .*; SameSite=None; Secure; Partitioned$/,
  );
  expect((await own.submit({ topic: "a" }, https)).cookie).toMatch(/; SameSite=Lax; Secure$/);
});

test("a form with a password shows its title, and takes answers after the password", async () => {
  const { page, submit, post, runs, api, id, key } = await newForm({ description: "Only for us" }, PASSWORD);
  expect(page()).toEqual({ title: "Reports" });
  const locked = { status: 401, body: { error: { code: "wrong_password" } } };
  expect(await submit()).toMatchObject(locked);
  expect(await submit({ topic: "a" }, { pass: "guessed", cookie: "troupe_form=guessed" })).toMatchObject(
    locked,
  );
  expect(await post({ password: "Open Sesame" })).toMatchObject(locked);
  const { status, body, cookie } = await post({ password: PASSWORD });
  expect([status, body.page]).toEqual([200, page(jar(cookie))]);
  expect(body.page).toMatchObject({
    description: "Only for us",
    fields: [{ key: "topic" }, { key: "count" }],
  });
  expect(cookie).toMatch(new RegExp(`^troupe_form=.*; HttpOnly; Path=/p/${key}; SameSite=Lax$`));
  expect((await submit({ topic: "a" }, { pass: body.pass! })).status).toBe(202);
  expect((await submit({ topic: "b" }, { cookie: jar(cookie) })).status).toBe(202);
  expect(runs()).toHaveLength(2);

  // A new password locks everyone out.
  await api.ask("PUT", `/triggers/${id}`, { password: "another" });
  expect(page(jar(cookie))).toEqual({ title: "Reports" });
  expect(await submit({ topic: "c" }, { pass: body.pass! })).toMatchObject(locked);
  await api.ask("PUT", `/triggers/${id}`, { password: null });
  expect((await submit({ topic: "d" })).status).toBe(202);
});

test("the password is stored as a hash and never shown, only that there is one", async () => {
  const { api, id, workflow } = await newForm({}, PASSWORD);
  const listed = await api.ask("GET", `/workflows/${workflow}/triggers`);
  expect(listed.body.triggers).toMatchObject([{ id, has_password: true, has_secret: false }]);
  expect(JSON.stringify(listed.body)).not.toContain(PASSWORD);
  expect(api.triggerStore.secretsOf(id)).toEqual([expect.stringMatching(/^scrypt:/)]);
  expect((await api.ask("PUT", `/triggers/${id}`, { config: {} })).body).toMatchObject({
    has_password: true,
  });
  expect((await api.ask("PUT", `/triggers/${id}`, { password: null })).body.has_password).toBe(false);
  expect(
    await api.ask("POST", `/workflows/${workflow}/triggers`, { kind: "webhook", password: PASSWORD }),
  ).toMatchObject({ status: 400, body: { error: { message: "Only a form has a password." } } });
});

test("repeated wrong passwords are delayed, but not those from other addresses", async () => {
  const { post } = await newForm({}, PASSWORD);
  const guesses: number[] = [];
  for (let n = 0; n < 6; n++) guesses.push((await post({ password: `guess ${n}` })).status);
  expect(guesses).toEqual([401, 401, 401, 401, 401, 429]);
  expect((await post({ password: PASSWORD })).status).toBe(429);
  expect((await post({ password: PASSWORD }, { address: otherAddress() })).status).toBe(200);
});

test("answers that can't be taken now can be sent again under the same ID", async () => {
  const { submit, api, workflow, runs } = await newForm();
  const { graph, revision } = api.workflows.find(workflow)!;
  const id = newId();
  const broken = draw("start > a > end", {
    a: { node_type: "agent_task" },
    start: asJson({ ...graph.nodes.start }),
  });
  api.workflows.save({ id: workflow, revision, graph: broken });
  expect(await submit({ topic: "a" }, { id })).toMatchObject({
    status: 503,
    body: { error: { code: "start_failed" } },
  });
  api.workflows.save({ id: workflow, revision: revision + 1, graph });
  expect((await submit({ topic: "a" }, { id })).status).toBe(202);
  expect(runs()).toHaveLength(1);
});
