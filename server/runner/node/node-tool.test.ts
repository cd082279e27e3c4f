import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { redactJson } from "@/server/secrets/redact";
import { defineTool, ToolFailure } from "@/server/tools/define";
import { fakeTools, newStage } from "../testing";

const ANYTHING = Object.fromEntries(
  ["text", "n", "a", "b", "c", "url", "method", "headers", "body"].map((name) => [name, z.json().optional()]),
);
const echo = (name: string, more: object = {}) =>
  defineTool({
    name,
    description: "Gives its arguments back",
    input: z.object(ANYTHING),
    source: "builtin",
    risk: "LOW",
    execute: (args) => args as JsonObject,
    ...more,
  });
const http = (status: number, name = "http_request") =>
  echo(name, { execute: (args: JsonObject) => ({ status, headers: {}, body: args }) });
const drawing = (node: JsonObject) => draw("start > n > end", { n: { id: "n", ...node } });
const run = (node: JsonObject, tools = fakeTools([echo("say")]), more: object = {}) =>
  newStage({ tools }).run(drawing(node), { input: { topic: "tea" }, ...more });

describe("a tool node", () => {
  test("a tool node calls its tool with values, templates and expressions, and writes the result", async () => {
    const args = {
      text: { $expr: "state.topic + '!'" },
      a: { $template: "News of {{topic}}" },
      b: { $template: "{{topic}}", beside: "something else" },
      c: "{{topic}}",
      n: 3,
    };
    const { state } = await run({
      node_type: "tool_call",
      output_keys: ["said"],
      config: { tool_name: "say", args },
    });
    expect(state.state.said).toEqual({ ...args, text: "tea!", a: "News of tea" });
    expect(Object.values(state.tool_calls)).toMatchObject([{ tool_name: "say", status: "completed" }]);
  });

  test("a tool node with several output keys takes the values of those names", async () => {
    const { state } = await run({
      node_type: "tool_call",
      output_keys: ["a", "b"],
      config: { tool_name: "say", args: { a: 1, b: 2, c: 3 } },
    });
    expect(state.state).toMatchObject({ a: 1, b: 2 });
    expect(state.state.c).toBeUndefined();
  });

  test("a tool node fails with the error of its tool", async () => {
    const broken = echo("say", {
      execute: () => {
        throw new ToolFailure(503, "The service sleeps.");
      },
    });
    const { state } = await run(
      { node_type: "tool_call", config: { tool_name: "say" } },
      fakeTools([broken]),
    );
    expect(state.run.error).toMatchObject({
      code: "TOOL_FAILED",
      message: "The service sleeps.",
      retryable: true,
    });
  });

  test("a tool node doesn't call a denied or missing tool", async () => {
    const denied = await run({ node_type: "tool_call", config: { tool_name: "say" } }, undefined, {
      config: { denied_tools: ["say"] },
    });
    expect(denied.state.run.error?.code).toBe("PERMISSION");
    const missing = await run({ node_type: "tool_call", config: { tool_name: "sing" } });
    expect(missing.state.run.error?.message).toBe('There is no tool "sing" here.');
  });

  test("a tool node waits for a person if its tool is risky", async () => {
    const tools = fakeTools([echo("say", { risk: "HIGH" })]);
    const stage = newStage({ tools });
    const id = stage.start(drawing({ node_type: "tool_call", config: { tool_name: "say" } }));
    await expect.poll(() => stage.store.find(id)?.status).toBe("waiting");
    const [open] = Object.values(stage.store.state(id)!.interactions);
    expect(tools.calls).toEqual([]);
    stage.host.steering.answer(id, open!.id, open!.requested.fingerprint, { answer: "reject", by: "ann" });
    await stage.host.settled(id);
    expect(stage.store.state(id)!.run.error?.code).toBe("HUMAN_REJECTED");
  });
});

describe("a request node", () => {
  const node = (config: JsonObject) => ({ node_type: "http_request", output_keys: ["answer"], config });

  test("a request node fills in URL, query and headers, and uses the read-only tool", async () => {
    const tools = fakeTools([http(200)]);
    const { state } = await run(
      node({
        url: "https://example.org/{{state.topic}}",
        query: { q: "green {{state.topic}}" },
        headers: { "x-topic": "{{state.topic}}" },
      }),
      tools,
    );
    expect(state.state.answer).toMatchObject({
      status: 200,
      body: {
        url: "https://example.org/tea?q=green+tea",
        method: "GET",
        headers: { "x-topic": "tea" },
      },
    });
  });

  test("a request node sends JSON with the tool for writing", async () => {
    const tools = fakeTools([http(201, "http_write")]);
    await run(
      node({ method: "POST", url: "https://example.org", body: '{"topic": "{{state.topic}}"}' }),
      tools,
    );
    expect(tools.calls[0]).toContain('"body":{"topic":"tea"}');
  });

  test("a request node fails on a status that doesn't count as success", async () => {
    const { state } = await run(node({ url: "https://example.org" }), fakeTools([http(404)]));
    expect(state.run.error).toMatchObject({
      code: "TOOL_FAILED",
      message: "GET https://example.org answered 404.",
      retryable: false,
    });
    const asked = node({ url: "https://example.org", ok_status: "200-299,404" });
    expect((await run(asked, fakeTools([http(404)]))).state.run.final_status).toBe("COMPLETED");
  });
});

describe("a code node", () => {
  const node = (source: string, more: object = {}) => ({
    node_type: "code",
    input_keys: ["topic"],
    output_keys: ["made"],
    config: { source },
    ...more,
  });

  test("a code node computes from its input", async () => {
    const { state } = await run(node("return input.topic.toUpperCase();"));
    expect(state.state.made).toBe("TEA");
  });

  test("a code node has no outside access, and its error is reported", async () => {
    const { state } = await run(node("return process.env;"));
    expect(state.run.error).toMatchObject({ code: "TOOL_FAILED" });
    expect(state.run.error?.message).toContain("process");
  });

  test("a code node doesn't run if code is disabled", async () => {
    const tools = { ...fakeTools([]), runCode: async () => null };
    const { state } = await run(node("return 1;"), tools);
    expect(state.run.error?.message).toContain("TROUPE_ENABLE_CODE");
  });
});

test("a key typed into a header is sent, but redacted in results", async () => {
  const KEY = "CANARY-header-0123456789";
  const sent: JsonObject[] = [];
  const request = echo("http_request", {
    read_only: true,
    execute: (args: JsonObject) => {
      sent.push(args);
      return { status: 200, headers: {}, body: { seen: args.headers ?? null, alone: KEY } };
    },
  });
  const stage = newStage({ tools: fakeTools([request]), redact: redactJson });
  const graph = (url: string) =>
    drawing({
      node_type: "http_request",
      output_keys: ["response"],
      config: { url, headers: { Authorization: `Bearer ${KEY}` } },
    });
  const { id, state } = await stage.run(graph("https://api.example.org/1"));
  const fork = stage.host.fork({
    run_id: id,
    graph: "latest",
    latest: { graph: graph("https://api.example.org/2"), roles: [] },
    patches: {},
    by: "ann",
    trigger: "editor",
  });
  await stage.host.settled(fork.run_id);
  expect(sent.map(({ headers }) => headers)).toEqual([
    { Authorization: `Bearer ${KEY}` },
    { Authorization: `Bearer ${KEY}` },
  ]);
  expect(JSON.stringify([state.state, stage.store.state(fork.run_id)!.state])).not.toContain(KEY);
  const seen: unknown[] = [];
  for await (const frame of stage.host.follow(id, 0)) seen.push(frame);
  expect(JSON.stringify(seen)).toContain("[hidden]");
  expect(JSON.stringify(seen)).not.toContain(KEY);
});
