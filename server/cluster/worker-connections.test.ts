import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { emptyDb } from "@/db/testing";
import { newSealer } from "@/server/secrets/sealer";
import { readWorkerSettings } from "@/server/settings";
import { CustomToolStore } from "@/server/store/library/custom-tools";
import { McpServerStore } from "@/server/store/library/mcp-servers";
import { partFor, type WorkerChannel } from "@/server/tools/at-workers";
import type { ToolScope } from "@/server/tools/define";
import { readOperatorFile } from "@/server/tools/operator/file";
import { operatorTools } from "@/server/tools/operator/tools";
import { newToolSources, type ToolSources } from "@/server/tools/sources";
import { CallsOnce } from "./calls-once";
import { type ControlSide, newControlSide, SECRET_KEY, TOKEN } from "./testing";
import { ConnectionEndpoint } from "./worker/connection-endpoint";
import { newServed } from "./worker/served-tools";
import { newRemoteTools, Worker } from "./worker/worker";
import { WorkerConnections } from "./worker-connections";
import { FramesBody, LineBody } from "./worker-protocol";

/** Processes take a while to start on a machine that has much else to do. */
const BUSY = { timeout: 20_000 };

let folder: string;
let side: ControlSide;
let sources: ToolSources;
let workers: Worker[];
let ends: (() => Promise<void>)[];

/** One file for the server and all workers: it says what is carried out where. */
const TOOLS = (folder: string) => `
tools:
  - name: here
    type: script
    description: Runs at the server.
    command: [sh, -c, 'echo "$PLACE"']
    env: [PLACE]
    taints: false
  - name: render
    type: script
    description: Needs a graphics card.
    worker_label: gpu
    command: [sh, -c, 'echo "$PLACE $TROUPE_IDEMPOTENCY_KEY"']
    env: [PLACE]
    taints: false
  - name: slow
    type: script
    description: Says that it began, and ends when it is ended.
    worker_label: gpu
    command: [sh, -c, 'printf x >> "${folder}/began"; sleep 60']
  - name: away
    type: script
    description: Wants what nobody has.
    worker_label: quantum
    command: [echo, done]
  - name: notebook
    type: python_session
    description: Keeps its variables.
    worker_label: gpu
    taints: false
    sink: false
mcp_servers:
  - name: cards
    command: node
    args: ["${path.resolve("server/tools/mcp/testing/stdio-server.mjs")}"]
    worker_label: gpu
`;

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), "troupe-lines-"));
  writeFileSync(path.join(folder, "tools.yaml"), TOOLS(folder));
  workers = [];
  ends = [];
  const env = {
    NODE_ENV: "test",
    TROUPE_TOOLS_FILE: path.join(folder, "tools.yaml"),
    PLACE: "server",
  } as const;
  side = newControlSide({
    tools(lines) {
      sources = newToolSources({
        customTools: new CustomToolStore(emptyDb()),
        mcpServers: new McpServerStore(emptyDb(), newSealer(null, {})),
        env: { ...env, PATH: process.env.PATH ?? "" },
        lines,
      });
      return sources.tools();
    },
  });
  await side.start();
});
afterEach(async () => {
  await Promise.all([...workers.map((worker) => worker.stop()), ...ends.map((end) => end())]);
  await sources.stop();
  await side.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function startWorker(name: string, more: Record<string, string> = {}): Promise<Worker> {
  const env = {
    TROUPE_SECRET_KEY: SECRET_KEY,
    TROUPE_WORKER_TOKEN: TOKEN,
    TROUPE_CONTROL_URL: side.url,
    TROUPE_WORKER_NAME: name,
    TROUPE_TOOLS_FILE: path.join(folder, "tools.yaml"),
    PLACE: name,
    PATH: process.env.PATH ?? "",
    ...more,
  };
  const worker = new Worker({
    settings: readWorkerSettings("box", env),
    env: env as unknown as NodeJS.ProcessEnv,
    version: "1.2.3",
    address: "127.0.0.1:1",
    log: () => {},
    fetch: globalThis.fetch,
    everyMs: 100,
  });
  await worker.connect();
  worker.announce(() => 0);
  workers.push(worker);
  return worker;
}

/** The line of a worker alone; after `kill` nothing more is heard over it, though what it began goes on until the test ends. */
function startLine(name: string, label: string) {
  const control = side.client();
  const killed = new AbortController();
  const file = partFor(readOperatorFile(path.join(folder, "tools.yaml")), [label]);
  const line = new ConnectionEndpoint({
    control: {
      insist(asked, body, { signal, ...more } = {}) {
        const signals = [killed.signal, ...(signal ? [signal] : [])];
        return control.insist(asked, body, { ...more, signal: AbortSignal.any(signals) });
      },
    },
    served: newServed(operatorTools(file, { ...process.env, PLACE: name }), file.mcp_servers),
    about: { worker: `${name}.1`, name, labels: [label] },
    redact: (value) => value,
    log: () => {},
  });
  line.start();
  ends.push(() => line.stop());
  return {
    kill: () => killed.abort(),
  };
}

let calls = 0;
const scope = (more: Partial<ToolScope> = {}): ToolScope => ({
  signal: new AbortController().signal,
  idempotencyKey: `call-${++calls}`,
  tainted: false,
  run: { id: "run_a", workflow_id: null },
  agent: null,
  ...more,
});
/** A call of a run that is carried out at a worker without any label. */
const call = (name: string, more: Partial<ToolScope> = {}) =>
  newRemoteTools(side.client(), []).invoke(name, {}, scope(more));
const unavailable = (name: string) =>
  sources.tools().find(({ spec }) => spec.name === name)?.spec.unavailable ?? null;
const NOBODY = (what: string, label: string) =>
  `${what} runs on a worker with the label "${label}", and none is online. Start one with TROUPE_WORKER_LABELS=${label}.`;
const began = () => {
  try {
    return readFileSync(path.join(folder, "began"), "utf8");
  } catch {
    return "";
  }
};

describe("a tool with a worker label", () => {
  test("a labeled tool runs on a worker with its label, and other tools stay on the server", async () => {
    await startWorker("plain");
    await startWorker("gpu-1", { TROUPE_WORKER_LABELS: "eu, gpu" });
    const outputs = [await call("render", { idempotencyKey: "step 7" }), await call("here")];
    expect(outputs).toEqual([
      { status_code: 200, output: "gpu-1 step 7\n" },
      { status_code: 200, output: "server\n" },
    ]);
  });

  test("a labeled tool stays on its worker during a run and moves if the worker stops", async () => {
    const both = { "gpu-1": startLine("gpu-1", "gpu"), "gpu-2": startLine("gpu-2", "gpu") };
    const placeOf = async (id: string) => {
      const { output } = await call("render", { run: { id, workflow_id: null } });
      return typeof output === "string" ? output.split(" ")[0] : output;
    };
    await expect
      .poll(async () => new Set(await Promise.all(["a", "b", "c", "d", "e", "f"].map(placeOf))).size, BUSY)
      .toBe(2);
    const first = await placeOf("a");
    expect(await placeOf("a")).toBe(first);
    both[first === "gpu-1" ? "gpu-1" : "gpu-2"].kill();
    // Its end was not noticed yet.
    expect(await placeOf("a")).toBe(first === "gpu-1" ? "gpu-2" : "gpu-1");
  });

  test("a labeled tool keeps an agent's session on its worker until the task ends", async () => {
    startLine("gpu-1", "gpu");
    const agent = { agent_id: "ada", role_name: "Analyst", node_id: "count" };
    const run = { id: "run_a", workflow_id: null };
    const python = async (code: string) => {
      const { output } = await side.tools.invoke("notebook", { code }, scope({ agent, run }));
      return output;
    };
    expect(await python("x = 41")).toMatchObject({ first: expect.any(String) });
    expect(await python("x + 1")).toEqual({ output: "", result: "42" });
    side.tools.endTask?.({ run, agent });
    expect(await python("'x' in globals()")).toMatchObject({ result: "False", first: expect.any(String) });
  });

  test("a labeled tool without a worker is rejected with the label, before and during a run", async () => {
    await startWorker("gpu-1", { TROUPE_WORKER_LABELS: "gpu" });
    expect(await call("away")).toMatchObject({ status_code: 503, error: NOBODY("away", "quantum") });
    expect([unavailable("away"), unavailable("render"), unavailable("here")]).toEqual([
      NOBODY("away", "quantum"),
      null,
      null,
    ]);
  });

  test("a labeled tool is rejected with the worker's name if that doesn't declare it", async () => {
    await startWorker("odd", { TROUPE_WORKER_LABELS: "quantum", TROUPE_TOOLS_FILE: "" });
    await expect
      .poll(() => call("away"), BUSY)
      .toEqual({
        status_code: 503,
        error:
          'away runs on a worker with the label "quantum". odd has that label, but its TROUPE_TOOLS_FILE doesn\'t declare "away" for it.',
      });
  });

  test("a labeled tool waits briefly for a worker to connect", async () => {
    const output = call("render", { idempotencyKey: "early" });
    await startWorker("gpu-1", { TROUPE_WORKER_LABELS: "gpu" });
    expect(await output).toEqual({ status_code: 200, output: "gpu-1 early\n" });
  });

  test("a labeled tool executes once while connections are lost", async () => {
    await startWorker("gpu-1", { TROUPE_WORKER_LABELS: "gpu" });
    const abort = new AbortController();
    const output = call("slow", { signal: abort.signal });
    await expect.poll(began, BUSY).toBe("x");
    side.loseConnections();
    expect(await call("render", { idempotencyKey: "after" })).toMatchObject({ output: "gpu-1 after\n" });
    expect(began()).toBe("x");
    abort.abort();
    expect(await output).toMatchObject({ status_code: 408, error: "slow was stopped." });
  });

  test("a labeled tool fails with a message if its worker stops during the call", async () => {
    const { kill } = startLine("gpu-1", "gpu");
    const output = side.tools.invoke("slow", {}, scope());
    await expect.poll(began, BUSY).toBe("x");
    kill();
    expect(await output).toMatchObject({
      status_code: 503,
      error: "slow: The worker gpu-1, which ran it, is offline.",
    });
    expect(unavailable("slow")).toBe(NOBODY("slow", "gpu"));
  });
});

test("a labeled MCP server runs on a matching worker, and its tools require approval", async () => {
  await sources.start();
  const [before] = sources.mcp.list();
  expect(before).toMatchObject({ state: "failed", last_error: NOBODY('The MCP server "cards"', "gpu") });
  const worker = await startWorker("gpu-1", { TROUPE_WORKER_LABELS: "gpu" });
  await expect.poll(() => sources.mcp.list()[0]?.state, BUSY).toBe("connected");
  const [tool] = sources.mcp.list()[0]?.tools ?? [];
  if (!tool) throw new Error("The server offers nothing.");
  expect(sources.mcp.approve("cards", tool.name, tool.fingerprint)).toBe("approved");
  const known = sources.tools().find(({ spec }) => spec.name === tool.full_name);
  expect(await known?.execute({}, scope())).toMatchObject({ status_code: 200 });
  await worker.stop();
  await expect.poll(() => sources.mcp.list()[0]?.state, BUSY).toBe("failed");
  expect(sources.mcp.list()[0]?.last_error).toBe("The server closed the connection");
});

test.each([0, 5, 20, 200])(
  "a call after a restart of the server executes once after %i earlier calls",
  async (before) => {
    const what = { kind: "tool", name: "render", label: "gpu" } as const;
    const executed: string[] = [];
    let isQuiet = false;
    let lines = new WorkerConnections({ holdMs: 20 });
    const line = new ConnectionEndpoint({
      control: {
        async insist(asked, body, { signal } = {}) {
          const gone = signal ?? new AbortController().signal;
          if (asked === "line/tell") return lines.hear(FramesBody.parse(body));
          const answer = await lines.ask(LineBody.parse(body), gone);
          isQuiet = answer.frames.length === 0;
          return answer;
        },
      },
      served: {
        offers: ["tool:render"],
        calls: new CallsOnce(),
        open: (_offer, out) => ({
          message(asked) {
            executed.push(JSON.stringify(asked));
            out.message("done");
          },
          close() {},
        }),
      },
      about: { worker: "gpu-1.1", name: "gpu-1", labels: ["gpu"] },
      redact: (value) => value,
      log: () => {},
    });
    const render = async (key: string) => {
      let channel: WorkerChannel | undefined;
      await new Promise<void>((resolve, reject) => {
        lines
          .open(what, key, { message: () => resolve(), closed: reject })
          .then((opened) => (channel = opened).send(key), reject);
      });
      channel?.close();
    };
    line.start();
    ends.push(() => line.stop());
    for (let at = 0; at < before; at++) await render(`before ${at}`);
    lines = new WorkerConnections({ holdMs: 20 });
    await render("after");
    isQuiet = false;
    await expect.poll(() => isQuiet, BUSY).toBe(true);
    expect(executed.filter((key) => key === '"after"')).toEqual(['"after"']);
  },
);

test("a server that has just started doesn't yet report missing workers", () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const lines = new WorkerConnections({ waitMs: 5_000 });
  const what = { kind: "tool", name: "render", label: "gpu" } as const;
  expect(lines.whyNot(what)).toBeNull();
  vi.advanceTimersByTime(5_000);
  vi.useRealTimers();
  expect(lines.whyNot(what)).toBe(NOBODY("render", "gpu"));
});
