import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { templateOf } from "@/server/templates";
import { type Figure, median } from "./table";

const PORT = 3224;
const HOME = `http://127.0.0.1:${PORT}`;
const TOKEN = "token-of-the-benchmark-0123456789";
const PATIENCE_MS = 900_000;
const root = path.resolve(import.meta.dirname, "..");

/** How long people wait until the address responds, disk usage then, and memory of the idle server. */
export async function measureStart(): Promise<Figure[]> {
  if (await answers()) throw new Error(`Something answers on port ${PORT} already; end it first.`);
  const scratch = mkdtempSync(path.join(os.tmpdir(), "troupe-bench-"));
  const inScratch = (name: string) => path.join(scratch, name);
  try {
    const clone = inScratch("clone");
    const began = performance.now();
    succeeds("git", ["clone", "--quiet", root, clone], root);
    const first = await started(["npm", "start"], clone, inScratch("data"));
    const firstMs = performance.now() - began;
    await first.stop();
    const times: number[] = [];
    for (let at = 0; at < 5; at++) {
      const next = await started(["node", "scripts/start.mjs"], clone, inScratch("data"));
      times.push(next.ms);
      await next.stop();
    }
    const idle = await started(["node", "scripts/start.mjs"], clone, inScratch("data"));
    await fetch(`${HOME}/`, { headers: { accept: "text/html" } });
    await pause(10_000);
    const [supervisor, server] = idle.memory();
    await idle.stop();
    const build = path.join(clone, ".next");
    const copies = filesBelow(path.join(build, "server")).filter((file) => statSync(file).size > 1_500_000);
    const size = filesBelow(build).reduce((sum, file) => sum + statSync(file).size, 0);

    succeeds("npm", ["run", "pack", "--", "--loglevel=error"], clone);
    const archive = readdirSync(clone).find((name) => name.endsWith(".tgz")) ?? "";
    const unpacking = performance.now();
    const packed = await started(["npx", "--yes", `./${archive}`], clone, inScratch("packed"), {
      npm_config_cache: inScratch("npm"),
    });
    await firstRun();
    const packedMs = performance.now() - unpacking;
    await packed.stop();
    return [
      { name: "Clone to ready", measured: firstMs / 1_000, unit: "s", target: { atMost: 75 } },
      {
        name: "Second start until health answers",
        measured: median(times) / 1_000,
        unit: "s",
        target: { atMost: 0.8 },
      },
      { name: "Size of .next", measured: size / 1e6, unit: "MB", target: { atMost: 90 } },
      { name: "Copies of the server in .next", measured: copies.length, unit: "", target: { atMost: 1 } },
      {
        name: "Packed archive to the first finished run",
        measured: packedMs / 1_000,
        unit: "s",
        target: { atMost: 10 },
      },
      ...(server === undefined || supervisor === undefined
        ? []
        : [
            { name: "Memory of the idle server", measured: server, unit: "MB", target: { atMost: 140 } },
            { name: "Memory of its supervisor", measured: supervisor, unit: "MB" },
          ]),
    ];
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Starts a server as a person would, and waits until its health check responds. */
async function started(
  [command = "", ...args]: string[],
  cwd: string,
  dataDir: string,
  env: Record<string, string> = {},
) {
  const began = performance.now();
  const child = spawn(command, args, {
    cwd,
    stdio: "ignore",
    // A separate process group: npm does not always forward signals.
    detached: true,
    shell: process.platform === "win32",
    env: {
      ...process.env,
      PORT: String(PORT),
      HOST: "127.0.0.1",
      TROUPE_DATA_DIR: dataDir,
      TROUPE_API_TOKEN: TOKEN,
      TROUPE_PASSWORD: "",
      TROUPE_START_LINK: "",
      TROUPE_OFFLINE_SPEED: "0",
      INIT_CWD: "",
      ...env,
    },
  });
  while (!(await answers())) {
    if (child.exitCode !== null) throw new Error(`${command} ${args.join(" ")} left with ${child.exitCode}.`);
    if (performance.now() - began > PATIENCE_MS) throw new Error(`${command} does not answer.`);
    await pause(10);
  }
  return {
    ms: performance.now() - began,
    memory: () => [child.pid ?? 0, ...childrenOf(child.pid ?? 0)].map(residentMegabytes),
    stop: () => stop(child),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once("exit", resolve));
  if (child.pid !== undefined && process.platform !== "win32") process.kill(-child.pid, "SIGTERM");
  else child.kill("SIGTERM");
  await gone;
  while (await answers()) await pause(20);
}

/** Runs the first template to its end. */
async function firstRun(): Promise<void> {
  const { id } = await call<{ id: string }>("POST", "/workflows", templateOf("approval").graph);
  const input = { user_request: "Please approve my vacation for next week." };
  const { run_id } = await call<{ run_id: string }>("POST", `/workflows/${id}/runs`, { input });
  while ((await call<{ final_status: string | null }>("GET", `/runs/${run_id}`)).final_status === null)
    await pause(20);
}

async function call<T>(method: string, where: string, body?: unknown): Promise<T> {
  const response = await fetch(`${HOME}/api/v1${where}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${where}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const answers = () =>
  fetch(`${HOME}/api/v1/health`).then(
    ({ ok }) => ok,
    () => false,
  );

function succeeds(command: string, args: string[], cwd: string): void {
  const { status, stderr } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, INIT_CWD: cwd },
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}\n${stderr}`);
}

const filesBelow = (folder: string) =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));

/** The children of a process, on systems that list them. */
function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** The resident memory of a process in megabytes; undefined on systems that don't report it. */
function residentMegabytes(pid: number): number | undefined {
  try {
    const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kilobytes ? Number(kilobytes) / 1024 : undefined;
  } catch {
    return undefined;
  }
}
