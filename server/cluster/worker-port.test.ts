import { createServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import { segments } from "@/db/schema";
import { emptyDb } from "@/db/testing";
import { newControlFetch } from "@/server/egress/control";
import { newSealer } from "@/server/secrets/sealer";
import { readSettings } from "@/server/settings";
import { ProviderStore } from "@/server/store/providers";
import type { InternalParts } from "./internal-routes";
import { SECRET_KEY, TOKEN } from "./testing";
import { newControlClient } from "./worker/control-client";
import { newWorkerPort, type WorkerPort } from "./worker-port";

const ingress = { TROUPE_RESTATE_INGRESS: "http://127.0.0.1:8080" };
const SENT = { isActive: true, isPosted: true, signalsBefore: 0, signalsSent: 0 };
const opened: WorkerPort[] = [];
afterEach(() => Promise.all(opened.splice(0).map((port) => port.close())));

/** A port that nobody listens on at the moment. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}

function newPort(more: Record<string, string>, hasRun = false) {
  const env = { TROUPE_SECRET_KEY: SECRET_KEY, TROUPE_WORKER_TOKEN: TOKEN, ...more };
  const db = emptyDb();
  if (hasRun)
    db.insert(segments)
      .values({ runId: "run_a", stretch: 1, fromTurn: 0, begunAt: 0, ...SENT })
      .run();
  const sealer = newSealer(null, env);
  const port = newWorkerPort({
    db,
    sealer,
    settings: readSettings(env),
    providers: new ProviderStore(db, sealer, env),
    env: env as unknown as NodeJS.ProcessEnv,
    log: () => {},
  });
  opened.push(port);
  return port;
}
const parts: Parameters<WorkerPort["open"]>[0] = {
  runs: { receive: async () => {}, taken: () => {}, isHeld: () => true, journal: () => null, live: () => {} },
  tools: {
    specs: async () => [],
    invoke: async () => ({ status_code: 404 }),
    forgetTask: async () => {},
    runCode: async () => null,
    matches: async () => null,
  },
  keep: (() => "") satisfies InternalParts["keep"],
  redact: (value) => value,
};
const client = (port: number) =>
  newControlClient({ fetch: newControlFetch(`http://127.0.0.1:${port}`), token: TOKEN });

test.each([{}, ingress])(
  "a server that executes all runs itself opens no worker port: %o",
  async (settings) => {
    const number = await freePort();
    const port = newPort({ ...settings, TROUPE_INTERNAL_PORT: String(number) });
    await port.open(parts);
    expect([port.gates, port.workers()]).toEqual([undefined, []]);
    await expect(client(number).ask("workers")).rejects.toThrow("Can't reach the server's port for workers");
  },
);

test.each([
  ["with an engine", { TROUPE_ENGINE: "restate" }, false],
  ["with unfinished runs on workers", ingress, true],
])("a server %s opens the worker port until it stops", async (_what, settings, hasRun) => {
  const number = await freePort();
  const port = newPort({ ...settings, TROUPE_INTERNAL_PORT: String(number) }, hasRun);
  await port.open(parts);
  expect(await client(number).ask("workers")).toEqual([]);
  await port.close();
  await expect(client(number).ask("workers")).rejects.toThrow("Can't reach the server's port for workers");
});

test("the server doesn't start if the worker port is in use", async () => {
  const number = await freePort();
  const settings = { TROUPE_ENGINE: "restate", TROUPE_INTERNAL_PORT: String(number) };
  await newPort(settings).open(parts);
  await expect(newPort(settings).open(parts)).rejects.toThrow(
    `Can't open the workers' port 127.0.0.1:${number}: `,
  );
});
