// `npm run worker`: a process that carries out runs of a server, handed to it by Restate.
import "./polyfill";
import http2 from "node:http2";
import process from "node:process";
import packageJson from "@/package.json";
import { newWorkerProcess, type WorkerProcess } from "@/server/cluster/worker-process";
import { errorMessage } from "@/server/domain/base/guards";
import { newEndpoint, type WorkerEndpoint } from "./endpoint";

/** How long what is under way may take to finish once the worker is asked to stop. */
const DRAIN_MS = 30_000;
/**
 * How long a connection of the engine is used for new work. Balancers spread connections, so a worker that came back gets
 * work only once others are opened; what is under way on one that ends goes on.
 */
const CONNECTION_MS = 60_000;
const CONFIGURATION_ERROR = 78;

function leave(error: unknown): never {
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exit(CONFIGURATION_ERROR);
}

async function main(): Promise<void> {
  const parts = newWorkerProcess(packageJson.version);
  const endpoint = endpointOf(parts);
  await parts.worker.start(() => endpoint.load().runs);
  listen(parts, endpoint);
  let isStopping = false;
  const stop = (code: number) => {
    if (isStopping) process.exit(code);
    isStopping = true;
    void parts.worker
      .drain()
      .then(() => endpoint.drain(DRAIN_MS))
      .then(() => parts.worker.stop())
      .finally(() => process.exit(code));
  };
  process.on("SIGTERM", () => stop(0));
  process.on("SIGINT", () => stop(130));
}

const endpointOf = ({ settings, worker, sealer, log }: WorkerProcess): WorkerEndpoint =>
  newEndpoint({
    effects: worker.effects,
    sealer,
    identityKeys: settings.identity === null ? [] : [settings.identity],
    workerId: worker.id,
    server: worker.server,
    live: worker.live,
    redact: worker.redact,
    maxRuns: settings.runs,
    log: (level, message) => {
      if (level === "warn" || level === "error") log(level, message);
    },
  });

function listen({ settings, log }: WorkerProcess, endpoint: WorkerEndpoint): void {
  const { name, host, port, runs, control } = settings;
  const server = http2.createServer((request, response) => endpoint.handler(request, response));
  server.on("session", (session) => {
    // Not all at once.
    const ending = setTimeout(() => session.close(), CONNECTION_MS * (0.75 + Math.random() / 2));
    ending.unref();
    session.once("close", () => clearTimeout(ending));
  });
  server.on("sessionError", (error) =>
    log("warn", "A connection of the engine broke.", { error: error.message }),
  );
  server.once("error", (error) => leave(`This worker cannot listen on ${host}:${port}: ${error.message}.`));
  server.listen(port, host, () =>
    process.stdout.write(
      `The worker ${name} takes up to ${runs} runs on ${host}:${port}, for the server at ${control.url}.\n`,
    ),
  );
}

main().catch(leave);
