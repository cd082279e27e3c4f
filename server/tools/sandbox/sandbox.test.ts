import { afterAll, describe, expect, test } from "vitest";
import type { Json, JsonObject } from "@/server/domain/base/values";
import * as sandbox from "./sandbox";
import { type RecordedCall, runWithCalls, SANDBOX_LIMITS } from "./sandbox";

/** Uses the longest limit unless the test sets a shorter one, so that a busy machine makes no test time out. */
const runInSandbox: typeof sandbox.runInSandbox = (program, options) =>
  sandbox.runInSandbox({ timeout_ms: SANDBOX_LIMITS.maxCpuMs, ...program }, options);

describe("sandboxed code", () => {
  test("sandboxed code gets JSON, returns JSON, and keeps its logs", async () => {
    const result = await runInSandbox({
      code: `console.log("sum of", input.numbers); return { sum: input.numbers.reduce((a, b) => a + b, 0) };`,
      input: { numbers: [1, 2, 3] },
    });
    expect(result).toMatchObject({ ok: true, value: { sum: 6 }, logs: ["sum of [1,2,3]"] });
  });

  test("sandboxed code may await and may return nothing", async () => {
    expect(
      await runInSandbox({ code: "await null; const x = await Promise.resolve(4); return x" }),
    ).toMatchObject({
      ok: true,
      value: 4,
    });
    expect(await runInSandbox({ code: "const a = 1; // the end" })).toMatchObject({ ok: true, value: null });
  });

  test("an error in sandboxed code is reported with its message and line", async () => {
    expect((await runInSandbox({ code: "const a = ;" })).error).toMatchObject({ code: "SYNTAX", line: 1 });
    expect((await runInSandbox({ code: "let a;\n\na.b()" })).error).toEqual({
      code: "THROWN",
      message: "TypeError: cannot read property 'b' of undefined (line 3)",
      line: 3,
    });
    expect((await runInSandbox({ code: "throw { reason: 'no' }" })).error?.message).toContain(
      '{"reason":"no"}',
    );
  });

  test("JSON global variables are kept on request, and others are named", async () => {
    const first = await runInSandbox({
      code: "rows = [{ a: 1 }]; total = rows.length; f = () => 1; when = new Date(); bad = NaN; const own = 1; return 'x'",
      kept: {},
    });
    expect(first).toMatchObject({
      ok: true,
      value: "x",
      variables: { values: { rows: [{ a: 1 }], total: 1 }, lost: ["f", "when", "bad"] },
    });
    const kept = first.variables!.values;
    const second = await runInSandbox({
      code: "rows.push(2); delete globalThis.total; return rows.length",
      kept,
    });
    expect(second).toMatchObject({ value: 2, variables: { values: { rows: [{ a: 1 }, 2] }, lost: [] } });
    const failed = await runInSandbox({ code: "rows = 0; throw new Error('no')", kept });
    expect([failed.ok, failed.variables]).toEqual([false, undefined]);
    const large = await runInSandbox({ code: `big = "x".repeat(${SANDBOX_LIMITS.keptChars + 1})`, kept: {} });
    expect(large.variables).toEqual({ values: {}, lost: ["big"] });
    expect((await runInSandbox({ code: "left = 1" })).variables).toBeUndefined();
  });

  test("variables of earlier programs can't replace the sandbox's own globals", async () => {
    const kept = JSON.parse('{"JSON": 1, "Object": 2, "__proto__": {"x": 1}, "console": 3}') as JsonObject;
    const result = await runInSandbox({ code: "a = 1; console.log('here'); return typeof ({}).x", kept });
    expect(result).toMatchObject({ ok: true, value: "undefined", logs: ["here"] });
  });

  test("nothing is kept between sandboxed programs", async () => {
    await runInSandbox({ code: "globalThis.left = 1; Object.prototype.polluted = 1" });
    expect((await runInSandbox({ code: "return [typeof left, typeof ({}).polluted]" })).value).toEqual([
      "undefined",
      "undefined",
    ]);
    expect("polluted" in {}).toBe(false);
  });

  test("sandboxed code is stopped when it is cancelled, even while it is queued", async () => {
    const stop = new AbortController();
    const first = runInSandbox({ code: "for(;;);", timeout_ms: 10_000 }, { signal: stop.signal });
    const second = runInSandbox({ code: "return 1" }, { signal: stop.signal });
    stop.abort();
    expect([(await first).error?.code, (await second).error?.code]).toEqual(["CANCELLED", "CANCELLED"]);
    expect(await runInSandbox({ code: "return 1" })).toMatchObject({ ok: true, value: 1 });
  });
});

describe("sandboxed tool calls", () => {
  /** Runs to the end, answering calls by a function; counts how often the code ran. */
  async function toEnd(code: string, answer: (tool: string, args: Json) => RecordedCall["output"]) {
    const results: RecordedCall[] = [];
    for (let runs = 1; ; runs++) {
      const step = await runWithCalls({
        ...{ code, tools: ["add", "fail"], results, at: 1_700_000_000_000 },
        timeout_ms: SANDBOX_LIMITS.maxCpuMs,
      });
      if ("done" in step) return { ...step.done, results, runs };
      expect(step.index).toBe(results.length);
      results.push({ ...step.needs, output: answer(step.needs.tool, step.needs.args) });
    }
  }
  const add = (_tool: string, args: Json) => {
    const { a, b } = args as { a: number; b: number };
    return { status_code: 200 as const, output: a + b };
  };

  test("code with tool calls is rerun with the answers until it is complete", async () => {
    const result = await toEnd(
      `let sum = 0; for (const n of [1, 2, 3]) sum = await call("add", { a: sum, b: n }); return sum`,
      add,
    );
    expect(result).toMatchObject({ ok: true, value: 6, runs: 4 });
    expect(result.results.map(({ args }) => args)).toEqual([
      { a: 0, b: 1 },
      { a: 1, b: 2 },
      { a: 3, b: 3 },
    ]);
  });

  test("code may make several calls at once, including calls it doesn't await", async () => {
    expect(
      await toEnd(`return Promise.all([call("add", { a: 1, b: 1 }), call("add", { a: 2, b: 2 })])`, add),
    ).toMatchObject({ value: [2, 4], runs: 3 });
    expect((await toEnd(`call("add", { a: 1, b: 1 }); return "done"`, add)).results).toHaveLength(1);
  });

  test("a failed call is an error that the code can catch", async () => {
    const result = await toEnd(
      `try { await call("fail") } catch (error) { return [error.message, error.status_code] }`,
      () => ({ status_code: 503, error: "not connected" }),
    );
    expect(result.value).toEqual(["not connected", 503]);
  });

  test("clock and random numbers are the same in each rerun", async () => {
    const result = await toEnd(
      `const first = [Date.now(), Math.random(), new Date().toISOString()]; await call("add", { a: Math.random(), b: 0 }); return first`,
      add,
    );
    expect(result).toMatchObject({ ok: true, runs: 2 });
    expect((result.value as Json[])[0]).toBe(1_700_000_000_000);
    expect((result.value as Json[])[2]).toBe("2023-11-14T22:13:20.000Z");
  });

  test("code may call only its granted tools, a limited number of times", async () => {
    const other = await toEnd(`await call("constructor", {})`, add);
    expect(other.error?.message).toContain("may not call constructor. It may call: add, fail");
    const endless = await toEnd(`for (;;) await call("add", { a: 1, b: 1 })`, add);
    expect(endless.error?.message).toContain(`at most ${SANDBOX_LIMITS.calls} times`);
    expect(endless.results).toHaveLength(SANDBOX_LIMITS.calls);
    expect((await runInSandbox({ code: `return call("add")` })).error?.message).toContain(
      "may call no tools",
    );
  });

  test("code is rejected if the recorded answers belong to other calls", async () => {
    const step = await runWithCalls({
      code: `return call("add", { a: 1, b: 1 })`,
      tools: ["add"],
      results: [{ tool: "add", args: { a: 5, b: 5 }, output: { status_code: 200, output: 10 } }],
      at: 1,
    });
    expect(step).toMatchObject({ done: { ok: false, error: { code: "NOT_REPEATABLE" } } });
  });
});

describe("sandbox abuse", () => {
  afterAll(async () => {
    expect(await runInSandbox({ code: "return 'fine'" })).toMatchObject({ ok: true, value: "fine" });
  });
  const cases: [string, string, string[]][] = [
    ["an endless loop", "for (;;);", ["TIMEOUT"]],
    ["an endless chain of promises", "for (;;) await 0;", ["TIMEOUT"]],
    [
      "an endless fan-out of promises",
      "const f = () => { Promise.resolve().then(f).then(f) }; f(); await new Promise(() => {})",
      ["TIMEOUT", "MEMORY"],
    ],
    [
      "an endless loop that catches everything",
      "for (;;) { try { for (;;); } catch {} finally { continue } }",
      ["TIMEOUT"],
    ],
    ["an endless generator", "function* g() { for (;;) yield 1 } for (const _ of g());", ["TIMEOUT"]],
    ["a catastrophic regular expression", `return /(a+)+$/.test("a".repeat(40) + "!")`, ["TIMEOUT"]],
    [
      "a regular expression with two nested repetitions",
      `return /(x+x+)+y/.test("x".repeat(60))`,
      ["TIMEOUT"],
    ],
    ["recursion", "const f = () => f() + 1; return f()", ["STACK"]],
    [
      "JSON nested a million deep",
      `return JSON.parse("[".repeat(1e6) + "]".repeat(1e6))`,
      ["STACK", "MEMORY", "THROWN", "TIMEOUT"],
    ],
    [
      "a result nested too deeply",
      "let a = []; for (let i = 0; i < 100; i++) a = [a]; return a",
      ["TOO_LARGE"],
    ],
    [
      "a list that exhausts memory",
      "const a = []; for (;;) a.push(new Array(1e5).fill(a.length))",
      ["MEMORY", "TIMEOUT"],
    ],
    ["a text that doubles", `let s = "x"; for (;;) s += s`, ["MEMORY", "THROWN"]],
    ["a huge buffer", "return new ArrayBuffer(2 ** 31 - 1).byteLength", ["MEMORY", "THROWN"]],
    ["a number with many digits", "return String(7n ** (7n ** 9n)).length", ["MEMORY", "TIMEOUT", "THROWN"]],
    ["a sort whose comparison never ends", "return [3, 2, 1].sort(() => { for (;;); })", ["TIMEOUT"]],
    ["a result whose toJSON never ends", "return { toJSON() { for (;;); } }", ["TIMEOUT"]],
    [
      "an error whose message never ends",
      "throw Object.defineProperty(new Error(), 'message', { get() { for (;;); } })",
      ["TIMEOUT"],
    ],
    ["a result that is too large", `return "x".repeat(${SANDBOX_LIMITS.jsonBytes + 1})`, ["TOO_LARGE"]],
    ["a promise that never resolves", "await new Promise(() => {})", ["NEVER_ENDS"]],
    ["importing a module", "await import('node:fs')", ["THROWN"]],
    ["access to the host process", "return process.exit(1)", ["THROWN"]],
    ["the host's Function", "return console.log.constructor('return process')().pid", ["THROWN"]],
    ["a body that breaks out of its braces", "}); for (;;); (async function () {", ["TIMEOUT"]],
    ["a broken Promise", "Promise.prototype.then = () => {}; await 1; return 1", ["NEVER_ENDS", "THROWN"]],
  ];
  test.each(cases)("%s ends in a typed error", async (_name, code, codes) => {
    const before = process.memoryUsage().rss;
    const result = await runInSandbox({ code, ...(codes.includes("TIMEOUT") ? { timeout_ms: 100 } : {}) });
    expect(result.ok).toBe(false);
    expect(codes).toContain(result.error?.code);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });

  test("the sandbox exposes nothing of the host", async () => {
    const { value } = await runInSandbox({
      code: `return ["process", "require", "module", "fetch", "setTimeout", "WebAssembly", "Deno", "Worker", "XMLHttpRequest", "parentPort", "workerData", "std", "os"].filter((name) => typeof globalThis[name] !== "undefined")`,
    });
    expect(value).toEqual([]);
  });

  test("sandboxed code can't return a prototype", async () => {
    const { value } = await runInSandbox({
      code: `return JSON.parse('{"__proto__": {"polluted": 1}, "a": {"__proto__": {"b": 1}}}')`,
    });
    const copied = Object.assign({}, value as object) as { polluted?: number };
    expect(copied.polluted).toBeUndefined();
    expect(value).toEqual({ a: {} });
  });

  test("logs are truncated, and oversized input and code are rejected", async () => {
    const { logs } = await runInSandbox({
      code: `for (let i = 0; i < 1000; i++) console.log("x".repeat(1000))`,
    });
    expect(logs.join("").length).toBeLessThanOrEqual(SANDBOX_LIMITS.logChars);
    expect((await runInSandbox({ code: "", input: "x".repeat(SANDBOX_LIMITS.jsonBytes) })).error?.code).toBe(
      "TOO_LARGE",
    );
    expect((await runInSandbox({ code: " ".repeat(SANDBOX_LIMITS.codeBytes + 1) })).error?.code).toBe(
      "TOO_LARGE",
    );
  });
});

test("a run with fifty endless programs doesn't block other runs", async () => {
  const stop = new AbortController();
  const endless = Array.from({ length: 50 }, () =>
    runInSandbox({ code: "for (;;) {}", timeout_ms: 10_000 }, { signal: stop.signal, owner: "run_greedy" }),
  );
  const others = await Promise.all(
    ["run_a", "run_b", "run_c"].map((owner) => runInSandbox({ code: "return 1" }, { owner })),
  );
  expect(others.map(({ value }) => value)).toEqual([1, 1, 1]);
  stop.abort();
  const ends = await Promise.all(endless);
  // Nothing of it had come to an end by itself before the others were through.
  expect(new Set(ends.map(({ error }) => error?.code))).toEqual(new Set(["CANCELLED"]));
});
