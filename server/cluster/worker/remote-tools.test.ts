import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { portableTools } from "@/server/tools/builtin";
import { defineTool, ToolFailure, type ToolScope } from "@/server/tools/define";
import { type ControlSide, newControlSide } from "../testing";
import { newRemoteTools } from "./worker";

/** What a tool at the server lived through. */
let seen: string[] = [];
let release = () => {};
const slow = defineTool({
  name: "slow",
  description: "Waits until it is let go.",
  input: z.object({}),
  source: "builtin",
  risk: "LOW",
  async execute(_input, { signal }) {
    seen.push("began");
    await new Promise<void>((resolve, reject) => {
      release = resolve;
      signal.addEventListener("abort", () => {
        seen.push("aborted");
        reject(new Error("aborted"));
      });
    });
    seen.push("ended");
    return "done";
  },
});
let tries = 0;
const flaky = defineTool({
  name: "flaky",
  description: "Fails the first time.",
  input: z.object({}),
  source: "builtin",
  risk: "LOW",
  execute() {
    if (++tries < 2) throw new ToolFailure(503, "Not now.");
    return tries;
  },
});
const long = defineTool({
  name: "long",
  description: "Says much, right at the worker.",
  input: z.object({}),
  source: "builtin",
  risk: "LOW",
  home: "worker",
  execute: () => "many words ".repeat(20_000),
});

let side: ControlSide;
beforeEach(async () => {
  seen = [];
  tries = 0;
  side = newControlSide({ more: [slow, flaky] });
  await side.start();
});
afterEach(() => side.stop());

const newTools = () => {
  const fetch = () => Promise.reject(new Error("no network in this test"));
  return newRemoteTools(side.client(), [...portableTools({ web: { fetch } }), long]);
};
const scope = (idempotencyKey: string, signal = new AbortController().signal): ToolScope => ({
  signal,
  idempotencyKey,
  tainted: false,
  run: { id: "run_a", workflow_id: "wf_1" },
  agent: { agent_id: "writer", role_name: "Writer", node_id: "write" },
});
const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe("tools on a worker", () => {
  test("a tool on a worker writes files to the server's workspace, as its agent", async () => {
    const tools = newTools();
    const output = await tools.invoke("file_write", { path: "a.md", content: "Hello" }, scope("run_a/1"));
    expect(output.status_code).toBe(200);
    expect(side.workspace.list("run_a").map(({ path }) => path)).toEqual(["a.md"]);
    expect(await tools.invoke("file_read", { path: "a.md" }, scope("run_a/2"))).toMatchObject({
      status_code: 200,
      tainted: false,
    });
  });

  test("the server makes a call that uses a secret, since only it has the value", async () => {
    const fetch = () => Promise.reject(new Error("sent by the worker"));
    const tools = newRemoteTools(side.client(), portableTools({ web: { fetch } }));
    const args = { url: "https://a.example/", headers: { "x-key": '{"$secret":"KEY"}' } };
    const secrets = [{ at: ["headers", "x-key"], names: ["KEY"] }];
    expect((await tools.invoke("http_request", args, scope("run_a/1"))).error).toContain(
      "sent by the worker",
    );
    expect((await tools.invoke("http_request", args, { ...scope("run_a/2"), secrets })).error).toContain(
      "no network in this test",
    );
  });

  test("a portable tool executes on the worker, even while the server is unavailable", async () => {
    const tools = newTools();
    await side.stop();
    expect(await tools.invoke("calculator", { expression: "6 * 7" }, scope("run_a/1"))).toMatchObject({
      status_code: 200,
      output: { value: 42 },
    });
  });

  test("a long result of a tool on a worker is stored with its run", async () => {
    const output = await newTools().invoke("long", {}, scope("run_a/1"));
    expect(output).toMatchObject({ status_code: 200, artifact_id: expect.stringMatching(/^art_/) });
    expect(side.workspace.list("run_a").map(({ path }) => path)).toEqual(["tool-results/1.txt"]);
  });

  test("a worker lists the server's tools and learns which ones a role has lost", async () => {
    const tools = newTools();
    expect((await tools.specs()).map(({ name }) => name)).toEqual([
      "browse_url",
      "calculator",
      "code_search",
      "create_artifact",
      "current_time",
      "file_read",
      "file_write",
      "flaky",
      "http_request",
      "http_write",
      "read_artifact",
      "retrieve_memory",
      "search_memory",
      "slow",
      "store_memory",
      "web_search",
    ]);
    expect(await tools.withdrawn?.("Writer", "file_write")).toBeNull();
    expect(await tools.withdrawn?.("Writer", "file_read")).toContain(
      'The role "Writer" has lost the permission to use file_read.',
    );
  });

  test("code runs on the server, which decides whether it may", async () => {
    const program = { code: "return 6 * 7;", tools: [], results: [], at: 0 };
    expect(await newTools().runCode(program, new AbortController().signal, "run_a")).toMatchObject({
      done: { ok: true, value: 42 },
    });
  });

  test("regex matches are evaluated on the worker", async () => {
    const { signal } = new AbortController();
    await side.stop();
    expect(await newTools().matches("^a+$", "aaa", signal)).toBeNull();
  });
});

describe("tool calls to the server", () => {
  test("a tool call waits while the server is unavailable, and executes once", async () => {
    const tools = newTools();
    await side.stop();
    const call = tools.invoke("file_write", { path: "a.md", content: "1" }, scope("run_a/1"));
    await side.start();
    expect((await call).status_code).toBe(200);
    expect(side.workspace.list("run_a")).toHaveLength(1);
  });

  test("a tool call survives a lost connection and still returns its result", async () => {
    const call = newTools().invoke("slow", {}, scope("run_a/1"));
    await until(() => seen.length > 0);
    side.loseConnections();
    // Asked again with the same key, it is the same call.
    setTimeout(() => release(), 200);
    expect(await call).toMatchObject({ status_code: 200, output: "done" });
    expect(seen).toEqual(["began", "ended"]);
  });

  test("a failed tool call executes again when it is retried", async () => {
    const call = (again: object) => newTools().invoke("flaky", {}, { ...scope("run_a/1"), ...again });
    expect([await call({}), await call({}), await call({ again: 1 })]).toMatchObject([
      { status_code: 503 },
      { status_code: 503 },
      { status_code: 200, output: 2 },
    ]);
  });

  test("a tool call is aborted with its step", async () => {
    const abort = new AbortController();
    const call = newTools().invoke("slow", {}, scope("run_a/1", abort.signal));
    await until(() => seen.length > 0);
    abort.abort();
    expect(await call).toEqual({ status_code: 408, error: "slow was stopped." });
    await until(() => seen.length > 1);
    expect(seen).toEqual(["began", "aborted"]);
  });

  test("a tool call that the server rejects returns an error output", async () => {
    expect(
      await newTools().invoke(
        "file_write",
        { path: "a.md", content: "x".repeat(41 * 1024 * 1024) },
        scope("k"),
      ),
    ).toEqual({ status_code: 413, error: expect.stringContaining("larger than") });
  });
});
