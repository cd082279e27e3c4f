import type { ChildProcess } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import http2 from "node:http2";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { newEngineClient } from "@/server/cluster/engine-client";
import { newJournalSealer } from "@/server/cluster/seal";
import { newEndpoint, type WorkerEndpoint, type WorkerOptions } from "../endpoint";
import { registerWorkers, restateBinary, startRestate } from "../restate-server.mjs";

/**
 * Ports that nobody listens on at the moment, below those that systems give to outgoing connections: whoever listens on
 * one may end and come back to it.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(20_000, 32_000);
    if (!ports.includes(port) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = net.createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

/** Restate on a folder of its own that goes with it; `workers` is the port where it looks for them. */
export async function newRestate({
  log = "ignore",
  identity,
}: {
  log?: "ignore" | "inherit";
  identity?: string;
} = {}) {
  const binary = restateBinary();
  if (!binary) throw new Error("Restate's program is not installed: npm run engine -- install");
  const [ingress = 0, admin = 0, node = 0, workers = 0] = await freePorts(4);
  const folder = mkdtempSync(path.join(os.tmpdir(), "troupe-restate-"));
  const secretKey = randomBytes(32).toString("base64");
  const sealer = newJournalSealer(secretKey);
  const start = () =>
    startRestate({
      binary,
      folder,
      log,
      ingress,
      admin,
      node,
      partitions: 2,
      memory: "128 MiB",
      retry: "500ms",
      identity,
    });
  let running = start();
  // Whatever becomes of the test, it is not left behind.
  const leave = () => {
    running.child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.on("exit", leave);
  await running.ready;
  return {
    pid: () => running.child.pid,
    admin: running.admin,
    ingress: running.ingress,
    workers,
    sealer,
    secretKey,
    client: newEngineClient({ ...running, seal: (bytes) => sealer.seal(bytes) }),
    register: () => registerWorkers(running.admin, `http://127.0.0.1:${workers}`),
    /** As if by kill -9. */
    async kill() {
      await ended(running.child);
    },
    async restart() {
      running = start();
      await running.ready;
    },
    async stop() {
      await ended(running.child);
      leave();
      process.off("exit", leave);
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
}

/** A worker in this process. `kill` leaves nothing of it, as kill -9 would. */
export async function newWorker(port: number, options: WorkerOptions) {
  const endpoint: WorkerEndpoint = newEndpoint(options);
  const server = http2.createServer((request, response) => endpoint.handler(request, response));
  const sockets = new Set<net.Socket>();
  server.on("connection", (socket: net.Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("sessionError", () => {});
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    endpoint,
    kill() {
      endpoint.close();
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
