import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { programOf } from "@/server/testing/program";

/*
 * Patterns and values that hold up an engine which searches for longer than the world lasts, given to a real server
 * process everywhere where a schema of a stranger is checked. It has to answer all the while, also when it was
 * killed over it and started again.
 */

const program = await programOf("server/testing/server.ts");
const root = path.resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(path.join(os.tmpdir(), "troupe-freeze-"));
const TOKEN = "trp_0123456789abcdef0123456789abcdef";
const PATTERN = "^(a+)+$";
const shape = { type: "object", properties: { text: { type: "string", pattern: PATTERN } } };
const freezing = `${"a".repeat(44)}!`;

let child: ChildProcess | null = null;
let api = "";

/** A port of this machine that nobody listens on. */
async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

async function start(): Promise<void> {
  const port = await freePort();
  const made = spawn(process.execPath, program, {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      PORT: String(port),
      HOST: "127.0.0.1",
      TROUPE_DATA_DIR: folder,
      TROUPE_API_TOKEN: TOKEN,
      TROUPE_ENABLE_CODE: "1",
      TROUPE_OFFLINE_SPEED: "0",
      TROUPE_PASSWORD: "",
      OPENAI_API_KEY: "",
      OPENAI_BASE_URL: "",
      TROUPE_TEST_TOOL: JSON.stringify({
        name: "echo",
        description: "Says it again",
        input_schema: shape,
        code: "return input;",
      }),
    },
  });
  child = made;
  await new Promise<void>((resolve, reject) => {
    made.stdout.on("data", (text) => {
      if (String(text).includes("ready")) resolve();
    });
    made.on("exit", (code) => reject(new Error(`The server left with code ${code}.`)));
  });
  api = `http://127.0.0.1:${port}/api/v1`;
}

async function kill(): Promise<void> {
  const ended = new Promise((resolve) => child?.once("exit", resolve));
  if (child?.kill("SIGKILL")) await ended;
  child = null;
}
afterEach(kill);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Asks, and gives up where a frozen server would never answer. */
async function ask(method: string, where: string, body?: unknown): Promise<{ status: number; body: Answer }> {
  const response = await fetch(api + where, {
    method,
    signal: AbortSignal.timeout(60_000),
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Answer };
}
type Answer = Record<string, unknown> & {
  id?: string;
  run_id?: string;
  status?: string;
  final_status?: string;
  error?: { message?: string; details?: unknown };
};

const workflow = (id: string, middle: object, more: object = {}, start: object = {}) => ({
  graph_id: id,
  nodes: {
    start: { id: "start", node_type: "start", output_keys: ["text"], config: start },
    work: { id: "work", ...middle },
    end: { id: "end", node_type: "end" },
  },
  edges: [
    { id: "e1", source_node_id: "start", target_node_id: "work" },
    { id: "e2", source_node_id: "work", target_node_id: "end" },
  ],
  ...more,
});
const agent = (config: object) => ({
  node_type: "agent_task",
  input_mapping: { text: "state.text" },
  output_keys: ["answer"],
  config: { task_description_template: "Say it again: {{text}}", required_role: "Free", ...config },
});
const places: [string, ReturnType<typeof workflow>][] = [
  [
    "the state",
    workflow(
      "state",
      { node_type: "transform", config: { set: { copy: "state.text" } }, output_keys: ["copy"] },
      { global_state_schema: { properties: { copy: shape.properties.text } } },
    ),
  ],
  [
    "a guardrail",
    workflow(
      "guardrail",
      agent({
        guardrails: [
          {
            name: "shape",
            kind: "json_schema",
            spec: JSON.stringify(shape),
            target: "input",
            on_fail: "fail",
          },
          { name: "sign", kind: "regex", spec: PATTERN, target: "input", on_fail: "fail" },
        ],
      }),
    ),
  ],
  ["a role's input", workflow("role", agent({ required_role: "Narrow" }))],
  [
    "a tool's input",
    workflow("tool", {
      node_type: "tool_call",
      config: { tool_name: "echo", args: { text: { $template: "{{text}}" } } },
      output_keys: ["said"],
    }),
  ],
];

test("no regex from a workflow, role or tool blocks the server or its next start", {
  timeout: 240_000,
}, async () => {
  await start();
  expect((await ask("POST", "/roles", { name: "Free" })).status).toBe(201);
  expect((await ask("POST", "/roles", { name: "Narrow", input_schema: shape })).status).toBe(201);

  const closed = await ask("POST", "/workflows", workflow("input", agent({}), {}, { input_schema: shape }));
  const rejected = await ask("POST", `/workflows/${closed.body.id}/runs`, { input: { text: freezing } });
  expect([rejected.status, JSON.stringify(rejected.body)]).toEqual([
    422,
    expect.stringContaining("must match the pattern ^(a+)+$"),
  ]);

  const runs = new Map<string, string>();
  for (const [place, graph] of places) {
    const made = await ask("POST", "/workflows", graph);
    expect(made.status, `${place}: ${JSON.stringify(made.body)}`).toBe(201);
    const begun = await ask("POST", `/workflows/${made.body.id}/runs`, { input: { text: freezing } });
    expect(begun.status, `${place}: ${JSON.stringify(begun.body)}`).toBe(202);
    runs.set(place, begun.body.run_id!);
  }
  expect((await ask("GET", "/health")).status).toBe(200);
  await kill();
  await start();

  const ends: Record<string, string> = {};
  for (const [place, id] of runs)
    for (;;) {
      expect((await ask("GET", "/health")).status).toBe(200);
      const { body } = await ask("GET", `/runs/${id}`);
      if (body.status !== "finished") {
        await new Promise((resolve) => setTimeout(resolve, 50));
        continue;
      }
      ends[place] = `${body.final_status}: ${body.error?.message ?? ""}`;
      break;
    }
  expect(ends).toEqual({
    "the state": expect.stringMatching(/^COMPLETED/),
    "a guardrail": expect.stringMatching(/^ERROR: .*"shape" failed.*must match the pattern/),
    "a role's input": expect.stringMatching(/^ERROR: .*must match the pattern/),
    "a tool's input": expect.stringMatching(/^ERROR: .*must match the pattern/),
  });
});
