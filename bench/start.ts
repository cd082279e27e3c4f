import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { TroupeProcess } from "../e2e/troupe-process";
import { type Figure, median } from "./table";

const PORT = 3224;
const root = path.resolve(import.meta.dirname, "..");

/** How long people wait for the address to work, and what the server takes while nobody asks anything of it. */
export async function measureStart(): Promise<Figure[]> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), "troupe-bench-"));
  try {
    const times: number[] = [];
    for (let at = 0; at < 6; at++) times.push(await npmStart(dataDir));
    const server = new TroupeProcess(dataDir, PORT, "token-of-the-benchmark");
    await server.start();
    await fetch(`http://127.0.0.1:${PORT}/`);
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    const megabytes = residentMegabytes(server.pid);
    await server.stop();
    return [
      {
        name: "Second `npm start` to the first page",
        measured: median(times.slice(1)) / 1_000,
        unit: "s",
        target: { atMost: 1.5 },
      },
      ...(megabytes === null
        ? []
        : [{ name: "Memory of the idle server", measured: megabytes, unit: "MB", target: { atMost: 200 } }]),
    ];
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Milliseconds from the command to the first page, as a person would start it. */
async function npmStart(dataDir: string): Promise<number> {
  if (await answers()) throw new Error(`Something answers on port ${PORT} already; end it first.`);
  const began = performance.now();
  const child = spawn("npm", ["start"], {
    cwd: root,
    stdio: "ignore",
    // A group of its own: npm does not always pass on to the server that it is to stop.
    detached: true,
    shell: process.platform === "win32",
    env: {
      ...process.env,
      PORT: String(PORT),
      HOST: "127.0.0.1",
      TROUPE_DATA_DIR: dataDir,
      TROUPE_PASSWORD: "",
      TROUPE_START_LINK: "",
    },
  });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  try {
    for (;;) {
      const response = await fetch(`http://127.0.0.1:${PORT}/`, { headers: { accept: "text/html" } }).catch(
        () => null,
      );
      if (response?.ok) {
        await response.text();
        return performance.now() - began;
      }
      if (child.exitCode !== null) throw new Error(`npm start left with code ${child.exitCode}.`);
      if (performance.now() - began > 60_000) throw new Error("npm start does not answer.");
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  } finally {
    if (child.pid !== undefined && process.platform !== "win32") process.kill(-child.pid, "SIGTERM");
    else child.kill("SIGTERM");
    await gone;
    while (await answers()) await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const answers = () =>
  fetch(`http://127.0.0.1:${PORT}/`).then(
    () => true,
    () => false,
  );

/** What of a process is in memory; null where the system does not say. */
function residentMegabytes(pid: number): number | null {
  try {
    const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kilobytes ? Number(kilobytes) / 1024 : null;
  } catch {
    return null;
  }
}
