// Walks the built server on another Node: `node --import tsx e2e/walks/node-walk.ts PATH_OF_THAT_NODE`. One run through what
// depends on Node most, a second one that kill -9 meets in the middle, a second start that brings it to its end.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { freePort, TroupeProcess } from "../support/troupe-process";
import { ROLE_OF_WALK, walkFile } from "./walk-file";

const PATIENCE_MS = 30_000;

interface RunView {
  status: string;
  final_status: string | null;
  output: Record<string, unknown> | null;
}

const node = process.argv[2] ?? process.execPath;
const dataDir = mkdtempSync(path.join(os.tmpdir(), "troupe-walk-"));
const server = new TroupeProcess(
  dataDir,
  await freePort(),
  "token-of-the-walk",
  { TROUPE_OFFLINE_SPEED: "0", TROUPE_ENABLE_CODE: "1" },
  node,
);
try {
  await server.start();
  await server.call("POST", "/roles", ROLE_OF_WALK);
  const { id, findings } = await server.call<{ id: string; findings: unknown[] }>(
    "POST",
    "/workflows",
    walkFile,
  );
  assert.deepEqual(findings, []);
  const first = await begin(id);
  const whole = await ended(first);
  assert.deepEqual([whole.final_status, whole.output?.rounds, whole.output?.doubled], ["COMPLETED", 1, 42]);
  assert.match(String(whole.output?.said), /\S/);

  const second = await begin(id);
  await until(async () => {
    const { events } = await server.call<{ events: { type: string; node_id?: string }[] }>(
      "GET",
      `/runs/${second}/events`,
    );
    return events.some(({ type, node_id }) => type === "node_started" && node_id === "rest");
  });
  await server.kill();
  await server.start();
  assert.deepEqual((await ended(second)).output, whole.output);
  assert.deepEqual(await server.call<RunView>("GET", `/runs/${first}`), whole);
  const page = await fetch(server.api.replace("/api/v1", "/"), { headers: { accept: "text/html" } });
  assert.deepEqual([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
} catch (error) {
  console.error(server.printed);
  throw error;
} finally {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

async function begin(workflow: string): Promise<string> {
  const run = { input: { pause: 21 } };
  return (await server.call<{ run_id: string }>("POST", `/workflows/${workflow}/runs`, run)).run_id;
}

async function ended(run: string): Promise<RunView> {
  let view: RunView | undefined;
  await until(async () => {
    view = await server.call<RunView>("GET", `/runs/${run}`);
    return view.final_status !== null;
  });
  return view as RunView;
}

async function until(holds: () => Promise<boolean>) {
  const began = Date.now();
  while (!(await holds())) {
    assert(Date.now() - began < PATIENCE_MS, "It takes too long.");
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
