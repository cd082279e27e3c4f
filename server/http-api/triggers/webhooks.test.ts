import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test, vi } from "vitest";
import { asJson } from "@/server/domain/base/json";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { type Api, newApi } from "../testing";
import { serveHook } from "./webhooks";

const HOST = "127.0.0.1:3000";
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const GITHUB_SECRET = "It's a secret to everybody";

let senders = 0;

/** A workflow that asks for a topic and a count, and a webhook that starts it. */
async function newHook(config: JsonObject = {}, secrets?: string[], api: Api = newApi()) {
  api.triggers.start();
  const graph = draw("start > w > end", { w: { config: { ms: 1 } } });
  const start = Object.values(graph.nodes).find(({ node_type }) => node_type === "start")!;
  Object.assign(start, {
    config: {
      input_schema: {
        type: "object",
        properties: {
          topic: { type: "string", maxLength: 100, examples: ["Bees"] },
          count: { type: "integer", default: 1 },
        },
        required: ["topic"],
      },
    },
    output_keys: ["topic", "count"],
  });
  const workflow = api.workflows.create({ name: "Reports", graph });
  const { status, body } = await api.ask("POST", `/workflows/${workflow}/triggers`, {
    ...{ kind: "webhook", config },
    ...(secrets && { secrets }),
  });
  expect([status, body.error]).toEqual([201, undefined]);
  const address = `10.0.0.${senders++}`;
  const send = async (
    text: string | Json,
    headers: Record<string, string> = {},
    { key = body.key as string, method = "POST", query = "" } = {},
  ) => {
    const sent = typeof text === "string" ? text : JSON.stringify(text);
    const request = new Request(`http://${HOST}/hooks/${key}${query}`, {
      method,
      headers: {
        ...{ host: HOST, "x-forwarded-for": address, "content-type": "application/json" },
        ...{ "content-length": String(Buffer.byteLength(sent)), ...headers },
      },
      ...(method === "GET" ? {} : { body: sent }),
    });
    const response = await serveHook(request, key, () => api);
    const answer = await response.text();
    return { status: response.status, headers: response.headers, body: answer ? JSON.parse(answer) : null };
  };
  return {
    ...{ api, workflow, send },
    id: body.id as string,
    key: body.key as string,
    url: body.url as string,
    runs: () => api.runs.list({ workflow_id: workflow, limit: 200 }),
  };
}

const signed = (body: string, id = "msg_1", at = new Date(), secret = SECRET) => ({
  "webhook-id": id,
  "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
  "webhook-signature": new Webhook(secret).sign(id, at, body),
});
const githubSigned = (body: string, id: string, secret = GITHUB_SECRET) => ({
  "x-github-delivery": id,
  "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
});

test("a delivery starts a run with the inputs of its body, marked as a webhook's", async () => {
  const { send, runs, id, key, url, api } = await newHook();
  expect(url).toBe(`http://127.0.0.1:3000/hooks/${key}`);
  expect(Buffer.from(key, "base64url").length * 8).toBe(192);
  const { status, body } = await send({ topic: "Bees", other: "ignored" });
  expect(status).toBe(202);
  const [run] = runs();
  expect(run).toMatchObject({ id: body.run_id, trigger: "webhook", trigger_id: id });
  expect(api.runs.state(body.run_id)).toMatchObject({
    input: { topic: "Bees" },
    run: { origin: { kind: "webhook", id } },
  });
  expect((await api.ask("GET", `/triggers/${id}/fires`)).body.fires).toMatchObject([
    { status: "started", run_id: body.run_id, reason: null },
  ]);
});

test("the key is stored as a hash, shown once, and can be replaced", async () => {
  const { send, key, id, api, workflow } = await newHook();
  expect(JSON.stringify(api.db.$client.prepare("select * from triggers").all())).not.toContain(key);
  const listed = await api.ask("GET", `/workflows/${workflow}/triggers`);
  expect(listed.body.triggers).toMatchObject([{ id, kind: "webhook", url: null, has_secret: false }]);
  expect(JSON.stringify(listed.body)).not.toContain(key);
  const { body } = await api.ask("POST", `/triggers/${id}/key`);
  expect((await send({ topic: "a" })).status).toBe(404);
  expect((await send({ topic: "a" }, {}, { key: body.key })).status).toBe(202);
});

const body = JSON.stringify({ topic: "Bees" });
const old = new Date(Date.now() - 301_000);
const early = new Date(Date.now() + 310_000);

test.each<[string, JsonObject, string[] | undefined, Record<string, string>]>([
  ["no signature", { signature: "standard" }, [SECRET], {}],
  [
    "a signature by another secret",
    { signature: "standard" },
    [SECRET],
    signed(body, "m", new Date(), `whsec_${Buffer.alloc(32, 8).toString("base64")}`),
  ],
  ["a signature of another body", { signature: "standard" }, [SECRET], signed(`${body} `)],
  [
    "a signature of another ID",
    { signature: "standard" },
    [SECRET],
    { ...signed(body), "webhook-id": "msg_2" },
  ],
  ["a timestamp that is too old", { signature: "standard" }, [SECRET], signed(body, "m", old)],
  ["a timestamp in the future", { signature: "standard" }, [SECRET], signed(body, "m", early)],
  [
    "a timestamp outside a shorter tolerance",
    { signature: "standard", tolerance_s: 60 },
    [SECRET],
    signed(body, "m", new Date(Date.now() - 62_000)),
  ],
  [
    "another timestamp than the signed one",
    { signature: "standard" },
    [SECRET],
    { ...signed(body, "m", old), "webhook-timestamp": String(Math.floor(Date.now() / 1000)) },
  ],
  [
    "a timestamp that is no number",
    { signature: "standard" },
    [SECRET],
    { ...signed(body), "webhook-timestamp": "now" },
  ],
  ["an empty signature", { signature: "standard" }, [SECRET], { ...signed(body), "webhook-signature": "" }],
  [
    "a signature of another version",
    { signature: "standard" },
    [SECRET],
    { ...signed(body), "webhook-signature": signed(body)["webhook-signature"].replace("v1,", "v2,") },
  ],
  ["no stored secret", { signature: "standard" }, undefined, signed(body)],
  ["GitHub: no signature", { signature: "github" }, [GITHUB_SECRET], {}],
  [
    "GitHub: another secret",
    { signature: "github" },
    [GITHUB_SECRET],
    githubSigned(body, "d", "another secret, wrong"),
  ],
  ["GitHub: another body", { signature: "github" }, [GITHUB_SECRET], githubSigned(`${body} `, "d")],
  [
    "GitHub: the older signature by SHA-1",
    { signature: "github" },
    [GITHUB_SECRET],
    { "x-hub-signature": `sha1=${createHmac("sha1", GITHUB_SECRET).update(body).digest("hex")}` },
  ],
  ["GitHub: no stored secret", { signature: "github" }, undefined, githubSigned(body, "d", "")],
])("a delivery is refused and starts no run: %s", async (_name, config, secrets, headers) => {
  const { send, runs, api, id } = await newHook(config, secrets);
  expect(await send(body, headers)).toMatchObject({
    status: 401,
    body: { error: { code: "bad_signature" } },
  });
  expect(runs()).toEqual([]);
  expect((await api.ask("GET", `/triggers/${id}/fires`)).body.fires).toEqual([]);
});

test("a signed delivery starts one run, by any of the secrets while one replaces another", async () => {
  const next = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
  const { send, runs, api, id } = await newHook({ signature: "standard" }, [SECRET, next]);
  expect((await send(body, signed(body, "a"))).status).toBe(202);
  expect((await send(body, signed(body, "b", new Date(), next))).status).toBe(202);
  const several = `v1,AAAA ${signed(body, "c")["webhook-signature"]}`;
  expect((await send(body, { ...signed(body, "c"), "webhook-signature": several })).status).toBe(202);
  expect(runs()).toHaveLength(3);
  expect((await api.ask("PUT", `/triggers/${id}`, { secrets: [next] })).body.has_secret).toBe(true);
  expect((await send(body, signed(body, "d"))).status).toBe(401);
  expect(JSON.stringify((await api.ask("GET", `/triggers/${id}/fires`)).body)).not.toContain("whsec_");
  expect(JSON.stringify(api.db.$client.prepare("select * from triggers").all())).not.toContain(next);
});

test("the same ID again gets the same answer and starts no run; with another body it is refused", async () => {
  const { send, runs } = await newHook({ signature: "standard" }, [SECRET]);
  const first = await send(body, signed(body));
  expect(await send(body, signed(body))).toMatchObject({ status: 202, body: first.body });
  const other = JSON.stringify({ topic: "Wasps" });
  expect((await send(other, signed(other))).status).toBe(401);
  expect(runs()).toHaveLength(1);
});

test("without a signature, an ID that comes with another body is refused as reused", async () => {
  const { send, runs } = await newHook();
  await send(body, { "idempotency-key": "k" });
  expect((await send(body, { "idempotency-key": "k" })).status).toBe(202);
  expect(await send({ topic: "Wasps" }, { "idempotency-key": "k" })).toMatchObject({
    status: 422,
    body: { error: { code: "key_reused" } },
  });
  expect(runs()).toHaveLength(1);
});

test("without an ID, each delivery starts a run of its own", async () => {
  const { send, runs } = await newHook();
  await send(body);
  await send(body);
  expect(runs()).toHaveLength(2);
});

test("GitHub's signature covers the body alone, so the same body under another ID is the same delivery", async () => {
  const { send, runs } = await newHook({ signature: "github" }, [GITHUB_SECRET]);
  const first = await send(body, githubSigned(body, "one"));
  expect(first.status).toBe(202);
  expect(await send(body, githubSigned(body, "two"))).toMatchObject({ status: 202, body: first.body });
  expect(runs()).toHaveLength(1);
});

test.each<[string, Json | string, Record<string, string>, string]>([
  ["a missing input", { count: 2 }, {}, "topic"],
  ["an input of another type", { topic: "a", count: "many" }, {}, "count"],
  ["an input that is too long", { topic: "x".repeat(101) }, {}, "topic"],
  ["a text for several inputs", "Bees", { "content-type": "text/plain" }, "body"],
])("a body that doesn't fit the inputs is refused with the errors: %s", async (_name, sent, headers, key) => {
  const { send, runs } = await newHook();
  expect(await send(sent, headers)).toMatchObject({
    status: 422,
    body: { error: { code: "invalid_input", details: { errors: [{ key }] } } },
  });
  expect(runs()).toEqual([]);
});

test("expressions map body, headers and query to inputs", async () => {
  const input = { topic: "body.issue.title + ' by ' + headers['x-sender']", count: "int(query.n)" };
  const { send, api } = await newHook({ input });
  const { body } = await send({ issue: { title: "Bees" } }, { "x-sender": "Ada" }, { query: "?n=3" });
  expect(api.runs.state(body.run_id)!.input).toEqual({ topic: "Bees by Ada", count: 3 });
  expect(await send({ issue: {} }, {}, { query: "?n=3" })).toMatchObject({
    status: 422,
    body: { error: { details: { errors: [{ key: "topic" }] } } },
  });
});

test("forms fill inputs, and what is neither JSON, a form nor text is refused", async () => {
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const { send, api } = await newHook();
  const { body } = await send("topic=Bees+%26+Co&x=1", form);
  expect(api.runs.state(body.run_id)!.input).toEqual({ topic: "Bees & Co" });
  expect((await send("{", {})).status).toBe(400);
  expect((await send("[".repeat(100), {})).status).toBe(400);
  expect((await send("a", { "content-type": "application/octet-stream" })).status).toBe(415);
  expect((await send(`{"topic":"${"x".repeat(1024 * 1024)}"}`)).status).toBe(413);
});

test("unknown, disabled and deleted webhooks are 404 alike, and other methods 405", async () => {
  const { send, api, id, workflow } = await newHook();
  const unknown = await send(body, {}, { key: "A".repeat(32) });
  expect(unknown).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
  await api.ask("PUT", `/triggers/${id}`, { enabled: false });
  expect(await send(body)).toMatchObject({ status: 404, body: unknown.body });
  await api.ask("PUT", `/triggers/${id}`, { enabled: true });
  expect((await send(body)).status).toBe(202);
  await api.ask("DELETE", `/workflows/${workflow}`);
  expect(await send(body)).toMatchObject({ status: 404, body: unknown.body });
  for (const method of ["GET", "PUT", "DELETE", "PATCH"]) {
    const answer = await send("{}", {}, { method });
    expect([method, answer.status, answer.headers.get("allow")]).toEqual([method, 405, "POST"]);
  }
});

test("a webhook that responds with the result waits for the run's end", async () => {
  const { send } = await newHook({ respond: "result" });
  const { status, body } = await send({ topic: "Bees" });
  expect([status, body.final_status]).toEqual([200, "COMPLETED"]);
  expect(body.output).toMatchObject({ topic: "Bees" });
});

test("200 deliveries at once start 200 runs", { timeout: 60_000 }, async () => {
  const { send, runs } = await newHook();
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, k) => send({ topic: `${k}` }, { "webhook-id": `id_${k % 200}` })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(200);
  expect(runs()).toHaveLength(200);
});

test("one sender can't use up a webhook's rate limit for others, but many senders can", async () => {
  const { send } = await newHook();
  vi.spyOn(performance, "now").mockReturnValue(performance.now());
  onTestFinished(() => void vi.restoreAllMocks());
  const ask = async (from: string) =>
    (await send("{}", { "x-forwarded-for": from }, { method: "GET" })).status;
  const statuses = new Set<number>();
  for (let k = 0; k < 1_200; k++) statuses.add(await ask("10.9.0.1"));
  expect([...statuses]).toEqual([405, 429]);
  expect(await ask("10.9.0.2")).toBe(405);
  for (let k = 0; k < 5_000; k++) await ask(`10.9.1.${k % 10}`);
  expect(await ask("10.9.0.3")).toBe(429);
});

test("a network of IPv6 addresses counts as one sender, whatever webhook it calls", async () => {
  const { send } = await newHook();
  const statuses = new Set<number>();
  for (let k = 0; k < 1_200; k++) {
    const from = { "x-forwarded-for": `2001:db8::${k.toString(16)}` };
    statuses.add((await send("{}", from, { method: "GET", key: `unknown-${k}` })).status);
  }
  expect([...statuses]).toEqual([405, 429]);
});

test("a delivery is refused while the workflow can't start, and its fire can be retried after the correction", async () => {
  const { send, runs, api, id, workflow } = await newHook();
  const { graph, revision } = api.workflows.find(workflow)!;
  const broken = draw("start > a > end", {
    a: { node_type: "agent_task" },
    start: asJson({ ...graph.nodes.start }),
  });
  api.workflows.save({ id: workflow, revision, graph: broken });
  expect(await send(body, { "webhook-id": "m" })).toMatchObject({
    status: 503,
    body: { error: { code: "start_failed" } },
  });
  const { fires } = (await api.ask("GET", `/triggers/${id}/fires`)).body;
  expect(fires).toMatchObject([{ key: "m", status: "failed", run_id: null }]);
  expect(fires[0].reason).toContain("can't run yet");
  api.workflows.save({ id: workflow, revision: revision + 1, graph });
  expect((await api.ask("POST", `/triggers/${id}/fires/m/retry`)).status).toBe(202);
  expect((await send(body, { "webhook-id": "m" })).status).toBe(202);
  expect(runs()).toHaveLength(1);
  expect((await api.ask("POST", `/triggers/${id}/fires/m/retry`)).status).toBe(409);
});

test("a delivery during a full queue is accepted, and its run starts later", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const { send, runs, api, id } = await newHook();
  const size = vi.spyOn(
    (api.host as never as { runs: { queue: { size: number } } }).runs.queue,
    "size",
    "get",
  );
  size.mockReturnValue(1_000_000);
  expect(await send(body)).toMatchObject({ status: 202, body: { run_id: null } });
  expect(runs()).toEqual([]);
  size.mockRestore();
  vi.advanceTimersByTime(2_000);
  vi.useRealTimers();
  expect(runs()).toHaveLength(1);
  expect((await api.ask("GET", `/triggers/${id}/fires`)).body.fires).toMatchObject([{ status: "started" }]);
});
