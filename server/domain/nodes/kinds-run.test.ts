import { describe, expect, test } from "vitest";
import { executeNode, type World } from "./testing/execute-node";
import { durationText, outputOfSignal } from "./wait";

const answer = { output: { text: "done" }, usage: {}, cost_usd: null };

test.each<[string, object, World, object]>([
  [
    "only the set fields",
    { required_role: "Writer", task_description_template: "About {{a}}" },
    { state: { a: "x" }, node: { output_keys: ["text"] } },
    { required_role: "Writer", task: "About x", template: "About {{a}}", output_keys: ["text"] },
  ],
  [
    "all set fields",
    {
      required_role: "Writer",
      agent_id: "ann",
      agent_ref: "ref",
      agent: { agent_id: "ref", role_name: "Reader" },
      expected_output: "a text",
      tools: [],
      output_schema: { type: "string" },
      guardrails: [{ name: "g", kind: "expression", spec: "true" }],
      max_iterations: 3,
      llm_config: { model: "m" },
      on_limit: "ask",
    },
    {},
    {
      required_role: "Writer",
      task: "",
      template: "",
      output_keys: [],
      agent_id: "ann",
      expected_output: "a text",
      output_schema: { type: "string" },
      llm_config: { model: "m" },
      max_iterations: 3,
      config: expect.objectContaining({ agent_id: "ref", role_name: "Reader" }),
      tools: [],
      guardrails: [expect.objectContaining({ name: "g", spec: "true" })],
    },
  ],
  [
    "no leftover copy of a library agent",
    { required_role: "Writer", agent: { agent_id: "ref", role_name: "Reader" } },
    {},
    { required_role: "Writer", task: "", template: "", output_keys: [] },
  ],
])("an agent call contains %s", (_what, config, world, request) => {
  expect(executeNode("agent_task", config, { ...world, answer })).toEqual({
    asked: [["agent", request]],
    gave: answer,
  });
});

test.each<[string, object, object]>([
  ["the ID of a library crew", { crew_id_or_config_ref: "team" }, { crew_id: "team" }],
  [
    "an inline crew with its plan",
    {
      crew: { agents: [{ agent_id: "ann", role_name: "Writer" }] },
      plan: { tasks: [{ task_id: "t", description: "do it" }] },
    },
    {
      crew: expect.objectContaining({ agents: [expect.objectContaining({ agent_id: "ann" })] }),
      plan: expect.objectContaining({ tasks: [expect.objectContaining({ task_id: "t" })] }),
    },
  ],
])("a crew call contains %s", (_what, config, request) => {
  const settings = { ...config, plan_description_template: "About {{a}}" };
  expect(
    executeNode("crew_task", settings, { state: { a: "x" }, node: { output_keys: ["k"] }, answer }),
  ).toEqual({
    asked: [["crew", { description: "About x", template: "About {{a}}", output_keys: ["k"], ...request }]],
    gave: answer,
  });
});

test.each<[string, unknown, string[], object]>([
  ["a single key gets the whole result", { a: 1, b: 2 }, ["a"], { a: { a: 1, b: 2 } }],
  ["several keys get the values with their names", { a: 1, b: null, c: 3 }, ["a", "b"], { a: 1, b: null }],
  [
    "several keys each get the whole result if a name is missing",
    { a: 1 },
    ["a", "b"],
    { a: { a: 1 }, b: { a: 1 } },
  ],
  ["several keys each get the whole list", [1], ["a", "b"], { a: [1], b: [1] }],
  ["several keys each get null", null, ["a", "b"], { a: null, b: null }],
  ["several keys each get the whole text", "x", ["a", "b"], { a: "x", b: "x" }],
  ["no keys get nothing", { a: 1 }, [], {}],
])("a tool result is assigned to keys: %s", (_what, result, output_keys, output) => {
  const { asked, gave } = executeNode(
    "tool_call",
    {
      tool_name: "t",
      args: { n: { $expr: "state.a + 1.0" }, text: { $template: "Hi {{a}}" }, plain: ["{{a}}"] },
    },
    { state: { a: 1 }, answer: result, node: { output_keys } },
  );
  expect([asked, gave]).toEqual([[["tool", "t", { n: 2, text: "Hi 1", plain: ["{{a}}"] }]], { output }]);
});

test("code receives the node's input and returns its output", () => {
  expect(
    executeNode(
      "code",
      { source: "return 1;" },
      { input: { a: 1 }, state: { b: 2 }, answer: 3, node: { output_keys: ["k"] } },
    ),
  ).toEqual({ asked: [["code", "return 1;", { a: 1 }]], gave: { output: { k: 3 } } });
});

test("a transform computes every key from the previous state", () => {
  expect(
    executeNode("transform", { set: { a: "state.a + 1.0", b: "state.a" } }, { state: { a: 1 } }),
  ).toEqual({
    asked: [],
    gave: { output: { a: 2, b: 1 } },
  });
});

describe("HTTP requests", () => {
  const url = "https://a.example/x";
  const ok = { status: 200 };
  test.each<[string, object, unknown, World]>([
    [
      "fills in values and sends no body with GET",
      { url: " https://{{h}}/x ", body: "b", headers: { h: "{{h}}" } },
      ["http_request", { url, method: "GET", headers: { h: "a.example" } }],
      { state: { h: "a.example" } },
    ],
    [
      "sends no body with HEAD",
      { url, method: "HEAD", body: "b" },
      ["http_request", { url, method: "HEAD", headers: {} }],
      {},
    ],
    [
      "sends JSON as JSON",
      { url, method: "POST", body: '{"a":{{n}}}' },
      ["http_write", { url, method: "POST", headers: {}, body: { a: 1 } }],
      { state: { n: 1 } },
    ],
    [
      "sends other text unchanged",
      { url, method: "PUT", body: "a {{n}}" },
      ["http_write", { url, method: "PUT", headers: {}, body: "a 1" }],
      { state: { n: 1 } },
    ],
    [
      "sends DELETE without a body",
      { url, method: "DELETE" },
      ["http_write", { url, method: "DELETE", headers: {} }],
      {},
    ],
    [
      "encodes its query and replaces parameters of the same name",
      { url: `${url}?q=1&z=2`, query: { q: "{{n}} & more" } },
      ["http_request", { url: `${url}?q=3+%26+more&z=2`, method: "GET", headers: {} }],
      { state: { n: 3 } },
    ],
    [
      "passes on an invalid URL for egress to reject",
      { url: "nowhere" },
      ["http_request", { url: "nowhere", method: "GET", headers: {} }],
      {},
    ],
  ])("an HTTP request %s", (_what, config, request, world) => {
    expect(
      executeNode("http_request", config, { ...world, answer: ok, node: { output_keys: ["k"] } }),
    ).toEqual({
      asked: [["tool", ...(request as unknown[])]],
      gave: { output: { k: ok } },
    });
  });
  test("an HTTP request with a query needs a valid URL", () => {
    expect(executeNode("http_request", { url: "nowhere", query: { q: "1" } })).toEqual({
      asked: [],
      failed: {
        code: "CONFIG",
        message: "“nowhere” isn't a valid URL.",
        retryable: false,
        user_action: "edit_graph",
      },
    });
  });
  test.each([
    [199, undefined, "no success"],
    [200, undefined, "a success"],
    [299, undefined, "a success"],
    [300, undefined, "no success"],
    [404, "200,404", "a success"],
    [403, "200,404", "no success"],
    [405, "200,404", "no success"],
    [201, "200,404", "no success"],
    [410, "200-204,400-410", "a success"],
    [428, undefined, "no success"],
    [429, undefined, "tried again"],
    [430, undefined, "no success"],
    [499, undefined, "no success"],
    [500, undefined, "tried again"],
    [503, "200", "tried again"],
    ["500", undefined, "a success"],
  ])("a response with status %j, if %j counts as success, is %s", (status, ok_status, what) => {
    const { gave, failed } = executeNode(
      "http_request",
      { url, ...(ok_status ? { ok_status } : {}) },
      { answer: { status }, node: { output_keys: ["k"] } },
    );
    expect(gave ?? failed).toEqual(
      what === "a success"
        ? { output: { k: { status } } }
        : {
            code: "TOOL_FAILED",
            message: `GET ${url} answered ${status}.`,
            retryable: what === "tried again",
            user_action: "retry",
          },
    );
  });
  test("a response without a status counts as success", () => {
    expect(
      executeNode("http_request", { url }, { answer: "text", node: { output_keys: ["k"] } }).gave,
    ).toEqual({
      output: { k: "text" },
    });
  });
});

test.each<[object, unknown[], string[], object]>([
  [{ ms: 20 }, ["sleep", "timer", 20], ["k"], {}],
  [{}, ["sleep", "timer", 0], ["k"], {}],
  [{ signal: "go", timeout_ms: 9 }, ["signal", "go", 9], ["k"], { k: { a: 1 } }],
  [{ signal: "go" }, ["signal", "go", undefined], ["a"], { a: 1 }],
  [{ signal: "go" }, ["signal", "go", undefined], ["a", "b"], {}],
])("a wait with %j makes the call %j", (config, request, output_keys, output) => {
  expect(executeNode("wait", config, { answer: { a: 1 }, node: { output_keys } })).toEqual({
    asked: [request],
    gave: { output },
  });
});

test.each([
  [[], 1, {}],
  [["a"], 1, { a: 1 }],
  [["a"], { a: null, b: 2 }, { a: null }],
  [["a"], { b: 2 }, { a: { b: 2 } }],
  [["a", "b"], { a: 1, b: 2, c: 3 }, { a: 1, b: 2 }],
  [["a", "b"], { a: 1 }, null],
  [["a", "b"], [1, 2], null],
])("a wait that writes %j and receives the signal %j returns %j", (keys, data, output) => {
  expect(outputOfSignal(keys, data)).toEqual(output);
});

test.each([
  [0, "0 ms"],
  [999, "999 ms"],
  [1000, "1 s"],
  [59_940, "59.9 s"],
  [60_000, "1 min"],
  [90_000, "1.5 min"],
  [3_599_999, "60 min"],
  [3_600_000, "1 h"],
  [5_400_000, "1.5 h"],
])("%i ms is formatted as %s", (ms, label) => {
  expect(durationText(ms)).toBe(label);
});

test.each<[string, World, object]>([
  [
    "the whole state if it names no keys",
    { state: { a: 1 }, input: { b: 2 } },
    { output: { a: 1 }, writes: {} },
  ],
  [
    "its named keys and also stores them as final output",
    { state: { a: 1, c: 3 }, input: { b: 2 }, node: { input_keys: ["b"] } },
    { output: { b: 2 }, writes: { final_output_b: 2 } },
  ],
  [
    "its optional keys if present and truncates long key names",
    { input: { [`b${"x".repeat(60)}`]: 2 }, node: { optional_input_keys: ["b"] } },
    { output: { [`b${"x".repeat(60)}`]: 2 }, writes: { [`final_output_b${"x".repeat(50)}`]: 2 } },
  ],
])("an end node returns %s", (_what, world, gave) => {
  expect(executeNode("end", {}, world).gave).toEqual(gave);
});
