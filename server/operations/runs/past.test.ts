import { expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { newApi } from "@/server/http-api/testing";
import { lastResults, nodeResult } from "@/server/operations/runs/node-result";

// What programs ask of a run's past.

const counting = draw("start > a > r; r again> a; r done> end", {
  a: {
    config: {
      set: {
        n: "('n' in state ? state.n : 0) + 1",
        r: "('n' in state ? state.n : 0) < 4 ? 'again' : 'done'",
      },
    },
    output_keys: ["n", "r"],
  },
});

async function ran(graph = counting) {
  const api = newApi();
  const workflow = api.workflows.create({ name: "Count", graph });
  const { body } = await api.ask("POST", `/workflows/${workflow}/runs`, { input: {} });
  await api.host.settled(body.run_id);
  return { ...api, run: `/runs/${body.run_id}` };
}

test("the API returns who wrote a value and when a condition became true", async () => {
  const { ask, run } = await ran();
  const { body } = await ask("GET", `${run}/writes?key=n`);
  expect(
    body.writes.map((one: { writer: string; before?: number; after: number }) => [
      one.writer,
      one.before,
      one.after,
    ]),
  ).toEqual([
    ["a#1", undefined, 1],
    ["a#2", 1, 2],
    ["a#3", 2, 3],
    ["a#4", 3, 4],
    ["a#5", 4, 5],
  ]);
  const found = await ask("GET", `${run}/when?condition=${encodeURIComponent("state.n > 3")}`);
  expect([found.status, found.body]).toEqual([
    200,
    {
      held: [{ from: body.writes[3].seq, to: null, node_id: "a", activation_id: "a#4" }],
      is_now: true,
      searched_to: 1,
    },
  ]);
});

test("an invalid question about a run is rejected with a message", async () => {
  const { ask, run } = await ran();
  const wrong = await ask("GET", `${run}/when?condition=${encodeURIComponent("state.n >")}`);
  expect([wrong.status, wrong.body.error.message]).toEqual([400, "The expression is incomplete."]);
  expect((await ask("GET", `${run}/prompt?call_id=nobody`)).status).toBe(404);
  expect((await ask("GET", `${run}/asked?interaction_id=nobody`)).status).toBe(404);
  expect((await ask("GET", "/runs/run_none/findings")).status).toBe(404);
});

test("a successful run has no findings, and an ignored failure is a finding", async () => {
  const well = await ran();
  expect((await well.ask("GET", `${well.run}/findings`)).body).toEqual({ findings: [] });
  const failing = draw("start > a > end", {
    a: { config: { set: { a: "state.missing.deeper" } }, on_error: "continue" },
  });
  const badly = await ran(failing);
  const { body } = await badly.ask("GET", `${badly.run}/findings`);
  expect(body.findings).toEqual([
    expect.objectContaining({
      kind: "failure_passed_over",
      title: "Failure ignored",
      node_id: "a",
    }),
  ]);
});

test("comparing two runs returns their different inputs and state", async () => {
  const graph = draw("start > a > end", {
    start: { config: { inputs: [{ key: "topic", type: "string" }] } },
    a: { config: { set: { a: "state.topic + '!'" } } },
  });
  const api = newApi();
  const workflow = api.workflows.create({ name: "Say", graph });
  const ids: string[] = [];
  for (const topic of ["bees", "owls"]) {
    const { body } = await api.ask("POST", `/workflows/${workflow}/runs`, { input: { topic } });
    await api.host.settled(body.run_id);
    ids.push(body.run_id);
  }
  const { status, body } = await api.ask("GET", `/runs/${ids[0]}/compare?with=${ids[1]}`);
  expect([status, body.is_same_graph, body.input, body.state]).toEqual([
    200,
    true,
    [{ key: "topic", before: "bees", after: "owls" }],
    [
      { key: "topic", before: "bees", after: "owls" },
      { key: "a", before: "bees!", after: "owls!" },
    ],
  ]);
  expect((await api.ask("GET", `/runs/${ids[0]}/compare?with=run_none`)).status).toBe(404);
});

test("a key entered in a node appears in no event or export of its run", async () => {
  const KEY = "CANARY-typed-0123456789";
  const { ask, send, run } = await ran(
    draw("start > a > end", {
      a: {
        node_type: "http_request",
        config: { url: `https://api.example.org/?api_key=${KEY}`, headers: { "X-Api-Key": KEY } },
        on_error: "continue",
      },
    }),
  );
  for (const path of ["/events", "/events?after=3", "/share", "/findings", "/cassette"]) {
    const response = await send("GET", `${run}${path}`);
    expect(response.status).toBe(200);
    expect(await response.text()).not.toContain(KEY);
  }
  const { body } = await ask("GET", `${run}/events`);
  expect(body.events[0].payload.graph.nodes.a.config.headers).toEqual({ "X-Api-Key": "[hidden]" });
});

test("a key entered in a node appears in no last result, even if that is truncated", async () => {
  const KEY = "CANARY-typed-0123456789";
  const api = newApi();
  const graph = draw("start > a > b > end", {
    a: {
      node_type: "http_request",
      config: { url: "https://api.example.org/", headers: { "X-Api-Key": KEY } },
      on_error: "continue",
    },
    b: { config: { set: { said: `'${"x".repeat(590)}${KEY}'` } }, output_keys: ["said"] },
  });
  const workflow = api.workflows.create({ name: "Typed", graph });
  const { body } = await api.ask("POST", `/workflows/${workflow}/runs`, { input: {} });
  await api.host.settled(body.run_id);
  const results = lastResults(api, workflow);
  expect(results.map(({ node_id }) => node_id)).toContain("b");
  expect(JSON.stringify(results)).not.toContain("CANARY");
  expect(JSON.stringify(nodeResult(api, { workflow_id: workflow, node_id: "b" }))).not.toContain("CANARY");
});

test("a run is exported as one HTML file that omits excluded parts", async () => {
  const { ask, send, run } = await ran();
  const whole = await send("GET", `${run}/share`);
  expect([whole.status, whole.headers.get("content-type"), whole.headers.get("content-disposition")]).toEqual(
    [
      200,
      "text/html; charset=utf-8",
      expect.stringMatching(/^attachment; filename="run-\d{4}-\d\d-\d\d-\w{6}\.html"$/),
    ],
  );
  expect(whole.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect((await ask("GET", `${run}/share?state=perhaps`)).status).toBe(400);
});
