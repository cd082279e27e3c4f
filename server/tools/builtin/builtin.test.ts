import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import type { Json } from "@/server/domain/base/values";
import { MemoryStore } from "@/server/store/library/memories/memories";
import { WorkspaceStore } from "@/server/store/runs/workspace";
import type { ToolScope } from "../define";
import { ToolsRegistry } from "../registry";
import { calculate } from "./calculator";
import { builtinTools } from "./index";

const NOW = Date.UTC(2025, 0, 15, 12);

function newBench() {
  const db = emptyDb();
  const workspace = new WorkspaceStore(db);
  const memories = new MemoryStore(db);
  const unused = () => Promise.reject(new Error("no network in this test"));
  const tools = builtinTools({
    workspace,
    memories,
    web: { fetch: unused },
    search: { backendFor: () => null, fetch: unused },
    now: () => NOW,
  });
  const registry = new ToolsRegistry();
  for (const tool of tools) registry.register(tool);
  let calls = 0;
  const call = (name: string, args: Json, scope: Partial<ToolScope> = {}) =>
    registry.invoke(name, args, { ...caller("run_a"), idempotencyKey: `call-${++calls}`, ...scope });
  return { workspace, memories, registry, call };
}
function caller(run: string, agent: Partial<NonNullable<ToolScope["agent"]>> = {}): ToolScope {
  return {
    signal: new AbortController().signal,
    idempotencyKey: "call",
    run: { id: run, workflow_id: "wf_1" },
    agent: { agent_id: "writer", role_name: "Writer", node_id: "write", ...agent },
  };
}

test("every tool declares its risk, and tools that read untrusted content taint the run", () => {
  const specs = newBench().registry.list();
  const row = (name: string) => {
    const { risk, read_only, idempotent, destructive, taints, sink } = specs.find(
      (spec) => spec.name === name,
    )!;
    const flags = { read_only, idempotent, destructive, taints, sink };
    return [risk, ...Object.entries(flags).flatMap(([flag, isSet]) => (isSet ? [flag] : []))].join(" ");
  };
  expect(Object.fromEntries(specs.map(({ name }) => [name, row(name)]))).toEqual({
    browse_url: "LOW read_only idempotent taints sink",
    calculator: "LOW read_only idempotent",
    code_search: "LOW read_only idempotent taints sink",
    create_artifact: "MEDIUM idempotent",
    current_time: "LOW read_only",
    file_read: "LOW read_only idempotent taints",
    file_write: "MEDIUM idempotent",
    http_request: "MEDIUM read_only idempotent taints sink",
    http_write: "HIGH destructive taints sink",
    read_artifact: "LOW read_only idempotent taints",
    retrieve_memory: "LOW read_only idempotent taints",
    search_memory: "LOW read_only idempotent taints",
    store_memory: "MEDIUM idempotent",
    web_search: "LOW read_only idempotent taints sink",
  });
});

test("with workers, tools that need nothing from the server run on workers", () => {
  const { registry } = newBench();
  const atWorkers = registry.list().filter(({ name }) => registry.get(name)?.home === "worker");
  expect(atWorkers.map(({ name }) => name)).toEqual([
    "browse_url",
    "calculator",
    "current_time",
    "http_request",
    "http_write",
  ]);
});

describe("calculator", () => {
  test.each([
    ["1 + 2 * 3", 7],
    ["(1 + 2) * 3", 9],
    ["7 / 2", 3.5],
    ["10 - 4 - 3", 3],
    ["2 ^ 3 ^ 2", 512],
    ["2 ** 10", 1024],
    ["-2 ^ 2", -4],
    ["2 ^ -1", 0.5],
    ["-3 * -2", 6],
    ["17 % 5", 2],
    ["1.5e3 + .5", 1500.5],
    ["sqrt(16) + max(1, 5, 3)", 9],
    ["round(10 / 3, 2)", 3.33],
    ["PI", Math.PI],
  ])("the calculator evaluates %s", (text, value) => expect(calculate(text)).toBeCloseTo(value, 10));

  test("the calculator rounds as expected and rejects invalid expressions", async () => {
    const { call } = newBench();
    expect(await call("calculator", { expression: "0.1 + 0.2" })).toEqual({
      output: { value: 0.3 },
      status_code: 200,
    });
    for (const expression of [
      "1 +",
      "1 2",
      "2(3)",
      ")",
      "(1",
      "sqrt",
      "constructor",
      "toString()",
      "process.exit(1)",
      "1;2",
      "a = 1",
      "1/0",
      "sqrt(-1)",
      "`1`",
      "(".repeat(500),
      "-".repeat(900),
    ])
      expect([expression, (await call("calculator", { expression })).status_code]).toEqual([expression, 400]);
  });

  test("the calculator agrees with JavaScript on sums and products", () => {
    const number = fc.integer({ min: 1, max: 99 });
    fc.assert(
      fc.property(number, number, number, number, (a, b, c, d) => {
        expect(calculate(`${a}+${b}*${c}-${d}`)).toBe(a + b * c - d);
        expect(calculate(`(${a}-${b})/${c}%${d}`)).toBeCloseTo(((a - b) / c) % d, 9);
      }),
    );
  });
});

test("current_time supports time zones", async () => {
  const { call } = newBench();
  expect((await call("current_time", {})).output).toMatchObject({
    utc: "2025-01-15T12:00:00.000Z",
    timezone: "UTC",
  });
  const berlin = await call("current_time", { timezone: "Europe/Berlin" });
  expect(JSON.stringify(berlin.output)).toContain("13:00:00");
  expect((await call("current_time", { timezone: "Mars/Olympus" })).status_code).toBe(400);
});

describe("files", () => {
  test("files are written, appended and read in parts, with their author", async () => {
    const { workspace, call } = newBench();
    const made = await call("create_artifact", { path: "report.md", content: "# Report\n" });
    expect(made).toMatchObject({ status_code: 200, output: { path: "report.md", version: 1, size: 9 } });
    await call("file_write", { path: "report.md", content: "More.", append: true });
    expect((await call("file_read", { path: "report.md" })).output).toMatchObject({
      content: "# Report\nMore.",
      version: 2,
    });
    expect((await call("file_read", { path: "report.md", version: 1 })).output).toMatchObject({
      content: "# Report\n",
    });
    const { artifact_id } = made.output as { artifact_id: string };
    expect((await call("read_artifact", { artifact_id, offset: 2, limit: 3 })).output).toMatchObject({
      content: "Rep",
      total: 9,
      next_offset: 5,
    });
    expect(workspace.list("run_a")[0]?.source).toEqual({
      tool_name: "file_write",
      agent_id: "writer",
      role_name: "Writer",
      node_id: "write",
    });
  });

  test("a call repeated after a crash writes only once", async () => {
    const { workspace, call } = newBench();
    const again = { idempotencyKey: "call-x" };
    const first = await call("file_write", { path: "log.txt", content: "x", append: true }, again);
    expect(await call("file_write", { path: "log.txt", content: "x", append: true }, again)).toEqual(first);
    expect(workspace.read("run_a", { path: "log.txt" })?.content).toBe("x");
  });

  test("failed file operations return a status and the reason", async () => {
    const { call } = newBench();
    await call("file_write", { path: "a.txt", content: "x" });
    const { output } = await call("create_artifact", { path: "mine.txt", content: "x" });
    const artifact_id = (output as { artifact_id: string }).artifact_id;
    expect(await call("file_read", { path: "b.txt" })).toMatchObject({
      status_code: 404,
      error: "There is no such file. There are: a.txt, mine.txt.",
    });
    const rejected: [string, Json, Partial<ToolScope>, number][] = [
      ["file_read", { path: "../../etc/passwd" }, {}, 400],
      ["file_write", { path: "/etc/passwd", content: "x" }, {}, 400],
      ["file_write", { path: "big.txt", content: "x".repeat(6 * 1024 * 1024) }, {}, 413],
      ["file_write", { path: "a.txt", content: "x" }, { run: null }, 400],
      ["file_write", { path: "a.txt", content: "x", mode: 777 }, {}, 400],
      ["read_artifact", {}, {}, 400],
      ["read_artifact", { artifact_id, path: "a.txt" }, {}, 400],
      ["read_artifact", { artifact_id }, caller("run_b"), 404],
    ];
    for (const [name, args, scope, status] of rejected)
      expect([name, args, (await call(name, args, scope)).status_code]).toEqual([name, args, status]);
  });
});

describe("memory", () => {
  const store = (value: string, scope: string) => ({ key: "fact", value, scope });

  test("an agent can use only its granted memory scopes", async () => {
    const { call } = newBench();
    for (const scope of ["run", "global"]) await call("store_memory", store(`of ${scope}`, scope));
    const limited = caller("run_a", { memory_scopes: ["run"] });
    expect(await call("retrieve_memory", { key: "fact", scope: "global" }, limited)).toMatchObject({
      status_code: 403,
      error: 'This agent may not use the memory of scope "global". Scopes it may use: run.',
    });
    expect((await call("search_memory", { query: "fact" }, limited)).output).toMatchObject({
      memories: [{ scope: "run" }],
    });
  });

  test("memory scopes are bound to the caller", async () => {
    const { memories, call } = newBench();
    for (const scope of ["task", "agent", "run", "workflow", "project", "global"])
      expect((await call("store_memory", store(`of ${scope}`, scope))).status_code).toBe(200);
    const seenBy = async (scope: Partial<ToolScope>) => {
      const { output } = await call("search_memory", { query: "fact", k: 50 }, scope);
      return (output as { memories: { scope: string }[] }).memories.map((memory) => memory.scope).sort();
    };
    expect(await seenBy({})).toEqual(["agent", "global", "project", "run", "task", "workflow"]);
    expect(await seenBy(caller("run_a", { task_id: "t2" }))).toEqual([
      "agent",
      "global",
      "project",
      "run",
      "workflow",
    ]);
    expect(await seenBy(caller("run_a", { agent_id: "editor", node_id: "edit" }))).toEqual([
      "global",
      "project",
      "run",
      "workflow",
    ]);
    expect(await seenBy(caller("run_b"))).toEqual(["global", "project", "workflow"]);
    expect(await seenBy({ run: { id: "run_c", workflow_id: "wf_2" } })).toEqual(["global", "project"]);
    expect(await seenBy({ run: null, agent: null })).toEqual(["global", "project"]);
    expect((await call("store_memory", store("x", "run"), { run: null, agent: null })).status_code).toBe(400);
    expect(memories.list().every(({ tainted, source }) => tainted && source.by === "agent")).toBe(true);
  });

  test("only a memory that a person writes outside of runs has a person as its author", async () => {
    const { memories, call } = newBench();
    const authorOf = async (key: string, scope: Partial<ToolScope>) => {
      await call("store_memory", { key, value: "x", scope: "global" }, scope);
      return memories.list().find((memory) => memory.key === key)?.source.by;
    };
    expect(await authorOf("agent", {})).toBe("agent");
    expect(await authorOf("node", { agent: null })).toBeUndefined();
    expect(await authorOf("tried out", { run: null, agent: null })).toBe("person");
  });

  test("memory arguments can't select another run's scope", async () => {
    const { call } = newBench();
    await call("store_memory", store("secret", "run"), caller("run_b"));
    const attempts: Json[] = [
      { key: "fact", scope: "run", scope_id: "run_b" },
      { key: "fact", scope: "run_b" },
      { key: "fact", scope: "run/run_b" },
    ];
    for (const args of attempts) expect((await call("retrieve_memory", args)).status_code).toBe(400);
    expect((await call("retrieve_memory", { key: "fact" })).status_code).toBe(404);
    expect((await call("search_memory", { query: "secret run_b" })).output).toEqual({ memories: [] });
  });

  test("values are found by key and by text, and exceeded limits return statuses", async () => {
    const { call } = newBench();
    await call("store_memory", { key: "deadline", value: "Ship it in March", scope: "workflow", ttl: 3600 });
    expect((await call("retrieve_memory", { key: "deadline", scope: "workflow" })).output).toMatchObject({
      value: "Ship it in March",
      scope: "workflow",
    });
    expect((await call("search_memory", { query: "shipping?" })).output).toMatchObject({
      memories: [{ key: "deadline" }],
    });
    expect((await call("store_memory", { key: "k", value: "x".repeat(70_000) })).status_code).toBe(413);
    expect((await call("store_memory", { key: "k\n", value: "x", scope: "run" })).status_code).toBe(200);
    expect((await call("store_memory", { key: "a\nb", value: "x" })).status_code).toBe(400);
  });
});

test("web search without a configured service says how to set it up", async () => {
  const { registry, call } = newBench();
  expect(await call("web_search", { query: "x" })).toEqual({
    status_code: 503,
    error: "Web search is not configured. Enter a SearXNG address or a Brave key in the settings of tools.",
  });
  expect(registry.get("code_search")?.spec.unavailable).toMatch(/GitHub token/);
});
