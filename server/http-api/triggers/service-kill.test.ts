import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { programOf } from "@/server/testing/program";

const program = await programOf("server/testing/server.ts");
const root = path.resolve(import.meta.dirname, "../../..");
const folder = mkdtempSync(path.join(os.tmpdir(), "troupe-hooks-"));
const TOKEN = "trp_0123456789abcdef0123456789abcdef";
let child: ChildProcess | null = null;
let port = 0;

async function start(): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  port = (probe.address() as AddressInfo).port;
  await new Promise((resolve) => probe.close(resolve));
  const made = spawn(process.execPath, program, {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      ...{ PORT: String(port), HOST: "127.0.0.1", TROUPE_DATA_DIR: folder, TROUPE_API_TOKEN: TOKEN },
      ...{ TROUPE_PASSWORD: "", OPENAI_API_KEY: "", OPENAI_BASE_URL: "" },
    },
  });
  child = made;
  await new Promise<void>((resolve, reject) => {
    made.stdout.on("data", (text) => String(text).includes("ready") && resolve());
    made.on("exit", (code) => reject(new Error(`The server left with code ${code}.`)));
  });
}

async function kill(): Promise<void> {
  const ended = new Promise((resolve) => child?.once("exit", resolve));
  if (child?.kill("SIGKILL")) await ended;
  child = null;
}
afterAll(async () => {
  await kill();
  rmSync(folder, { recursive: true, force: true });
});

async function ask<T>(method: string, where: string, body?: unknown, id?: string): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}${where}`, {
    method,
    headers: {
      ...{ authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      ...(id === undefined ? {} : { "webhook-id": id }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.text();
  if (!response.ok) throw new Error(`${method} ${where}: ${response.status} ${answer}`);
  // Every answer is checked by what the test then expects of it.
  return JSON.parse(answer) as T;
}

test("one ID twice is one run, also if the server is killed in between", { timeout: 240_000 }, async () => {
  await start();
  const graph = draw("start > w > end", { w: { config: { ms: 5 } } });
  const { id } = await ask<{ id: string }>("POST", "/api/v1/workflows", { name: "W", graph });
  const { key } = await ask<{ key: string }>("POST", `/api/v1/workflows/${id}/triggers`, { kind: "webhook" });
  const deliver = (name: string) => ask<{ run_id: string }>("POST", `/hooks/${key}`, {}, name);
  const acknowledged = new Map<string, string>();
  const names = Array.from({ length: 90 }, (_, k) => `id_${k}`);
  for (const round of [0, 1, 2]) {
    const all = names.slice(round * 30, round * 30 + 30).map(async (name) => {
      const { run_id } = await deliver(name);
      acknowledged.set(name, run_id);
    });
    const sent = Promise.allSettled(all);
    await vi.waitFor(() => expect(acknowledged.size).toBeGreaterThanOrEqual(round * 30 + 5), {
      timeout: 60_000,
      interval: 1,
    });
    await kill();
    await sent;
    await start();
  }
  for (const name of names) {
    const { run_id } = await deliver(name);
    expect([name, run_id]).toEqual([name, acknowledged.get(name) ?? run_id]);
  }
  const { runs } = await ask<{ runs: { id: string }[] }>("GET", `/api/v1/runs?workflow_id=${id}&limit=200`);
  expect(runs).toHaveLength(names.length);
  await kill();
});

test("published versions are whole and numbered without gaps, forms start one run each, and every run is entirely on one version, also if the server is killed in between", {
  timeout: 240_000,
}, async () => {
  await start();
  const saying = (text: string) =>
    draw("start > a > b > end", {
      a: { config: { set: { a: `'${text}'` } } },
      b: { config: { set: { b: `'${text}'` } } },
    });
  const { id } = await ask<{ id: string }>("POST", "/api/v1/workflows", { name: "V", graph: saying("0") });
  const where = `/api/v1/workflows/${id}`;
  await ask("POST", `${where}/versions`, { note: "0" });
  const { key } = await ask<{ key: string }>("POST", `${where}/triggers`, { kind: "webhook" });
  const form = await ask<{ key: string }>("POST", `${where}/triggers`, {
    ...{ kind: "form", config: { runs_per_hour: 1000 } },
  });
  const published = new Map<number, string>([[1, "0"]]);
  const submit = (name: string) =>
    fetch(`http://127.0.0.1:${port}/p/${form.key}/submit`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: `http://127.0.0.1:${port}` },
      body: JSON.stringify({ id: name.padEnd(20, "x"), input: {} }),
    });
  let count = 0;
  let hasStopped = false;
  const publishing = async () => {
    while (!hasStopped) {
      const text = String(++count);
      await ask("PUT", where, saying(text));
      const { number } = await ask<{ number: number }>("POST", `${where}/versions`, { note: text });
      published.set(number, text);
      // Every third time, back to the first.
      if (count % 3 > 0) continue;
      const body = { publish: true };
      const { version } = await ask<{ version: { number: number } }>(
        ...(["POST", `${where}/versions/1/restore`, body] as const),
      );
      published.set(version.number, "0");
    }
  };
  const submitted: string[] = [];
  for (const round of [0, 1, 2]) {
    hasStopped = false;
    const until = published.size + 4;
    const work = Promise.allSettled([
      publishing(),
      ...Array.from({ length: 20 }, (_, k) => ask("POST", `/hooks/${key}`, {}, `v${round}_${k}`)),
      ...Array.from({ length: 10 }, (_, k) => submit(`f${round}_${k}`)),
    ]);
    submitted.push(...Array.from({ length: 10 }, (_, k) => `f${round}_${k}`));
    await vi.waitFor(() => expect(published.size).toBeGreaterThanOrEqual(until), { timeout: 60_000 });
    hasStopped = true;
    await kill();
    for (const one of await work)
      if (one.status === "rejected") expect(String(one.reason)).not.toMatch(/: \d{3} /);
    await start();
  }
  for (const name of submitted) expect((await submit(name)).status).toBe(202);

  const { versions } = await ask<{ versions: { number: number; note: string }[] }>(
    ...(["GET", `${where}/versions?limit=200`] as const),
  );
  expect(versions.map(({ number }) => number)).toEqual(versions.map((_, at) => versions.length - at));
  for (const [number, text] of published) {
    const file = await ask<object>("GET", `${where}/versions/${number}`);
    expect([number, JSON.stringify(file).includes(`'${text}'`)]).toEqual([number, true]);
  }
  interface Run {
    id: string;
    status: string;
    trigger: string;
    workflow_version: number;
    output: { a: string; b: string };
  }
  const runs = await vi.waitFor(
    async () => {
      const all = await ask<{ runs: Run[] }>("GET", `/api/v1/runs?workflow_id=${id}&limit=200`);
      expect(all.runs.filter(({ status }) => status !== "finished")).toEqual([]);
      return all.runs;
    },
    { timeout: 60_000 },
  );
  expect(runs.filter(({ trigger }) => trigger === "form")).toHaveLength(submitted.length);
  for (const { id: run } of runs) {
    const { workflow_version, output } = await ask<Run>("GET", `/api/v1/runs/${run}`);
    const text = published.get(workflow_version) ?? output.a;
    expect([run, output]).toEqual([run, { a: text, b: text }]);
  }
});
