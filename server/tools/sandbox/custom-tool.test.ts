import { expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { CustomToolDefinition } from "@/server/domain/tool/custom-tool";
import type { ToolScope } from "../define";
import { ToolsRegistry } from "../registry";
import { CODE_IS_OFF, customTool } from "./custom-tool";
import { runJavascript } from "./run-javascript";

const scope: ToolScope = {
  signal: new AbortController().signal,
  idempotencyKey: "key",
  run: null,
  agent: null,
};
const definition = CustomToolDefinition.parse({
  name: "word_count",
  description: "Counts words",
  input_schema: {
    type: "object",
    properties: { text: { type: "string", pattern: "^([a-z ]+)+$" }, min: { type: "number", default: 1 } },
    required: ["text"],
    additionalProperties: false,
  },
  output_schema: { type: "object", properties: { words: { type: "integer" } }, required: ["words"] },
  code: `return { words: input.text.split(/\\s+/).filter((word) => word.length >= (input.min ?? 1)).length };`,
});
const registry = (isEnabled = true, changes: Partial<CustomToolDefinition> = {}) => {
  const tools = new ToolsRegistry();
  tools.register(customTool({ ...definition, ...changes }, { isEnabled, version: 3 }));
  return tools;
};

test("a custom tool computes its result from validated arguments", async () => {
  const tools = registry();
  expect(tools.get("word_count")?.spec).toMatchObject({ source: "custom", risk: "LOW", version: 3 });
  expect(await tools.invoke("word_count", { text: "so it is", min: 9 }, scope)).toEqual({
    output: { words: 0 },
    status_code: 200,
  });
  expect(await tools.invoke("word_count", { text: "three more words" }, scope)).toMatchObject({
    output: { words: 3 },
  });
  expect(await tools.invoke("word_count", { words: 1 }, scope)).toMatchObject({ status_code: 400 });
  expect(await tools.invoke("word_count", "text", scope)).toMatchObject({ status_code: 400 });
});

test("a catastrophic regex pattern is checked like any other", async () => {
  const text = `${"a".repeat(50)}!`;
  expect(await registry().invoke("word_count", { text }, scope)).toMatchObject({
    status_code: 400,
    error: expect.stringContaining("text: must match the pattern"),
  });
});

test("a custom tool's failures use the standard statuses and explain the cause", async () => {
  const failing = (code: string) => registry(true, { code }).invoke("word_count", { text: "a" }, scope);
  expect(await failing("console.log('here'); throw new Error('no words')")).toEqual({
    status_code: 500,
    error: "word_count: Error: no words (line 1)\nLogs:\nhere",
  });
  expect(await failing("return 'three'")).toMatchObject({
    status_code: 500,
    error: expect.stringContaining("does not match its output schema"),
  });
  expect(await failing("for (;;);")).toMatchObject({ status_code: 408 });
  expect(await failing("return { words: 'x'.repeat(300000) }")).toMatchObject({ status_code: 413 });
});

test("code runs only if the operator enabled it, and the error says how to", async () => {
  const off = await registry(false).invoke("word_count", { text: "a" }, scope);
  expect(off).toEqual({ status_code: 503, error: CODE_IS_OFF });
  const tool = runJavascript({ isEnabled: false });
  expect(tool.spec.unavailable).toBe(CODE_IS_OFF);
  expect(await tool.execute({ code: "return 1" }, scope)).toEqual({ status_code: 503, error: CODE_IS_OFF });
});

test("an invalid custom tool definition is rejected with the location", () => {
  const read = CustomToolDefinition.safeParse({
    name: "has space",
    description: "",
    code: "return 1",
    input_schema: { type: "string" },
    timeout_ms: 60_000,
  });
  expect(read.error?.issues.map(({ path }) => path.join("."))).toEqual([
    "name",
    "description",
    "input_schema",
    "timeout_ms",
  ]);
});

test("the code interpreter returns a result with logs, or the error", async () => {
  const tools = new ToolsRegistry();
  tools.register(runJavascript({ isEnabled: true }));
  const run = (code: string, input?: Json) => tools.invoke("run_javascript", { code, input }, scope);
  expect(await run("console.log('n', input.n); return input.n * 2", { n: 21 })).toEqual({
    output: { result: 42, logs: ["n 21"] },
    status_code: 200,
  });
  expect(await run("return nothing.here")).toMatchObject({
    status_code: 500,
    error: expect.stringContaining("ReferenceError"),
  });
  expect(await run("return call('x')")).toMatchObject({
    error: expect.stringContaining("may call no tools"),
  });
});
