// `npm run worker`: a process that executes a server's runs, which Restate assigns to it.
import process from "node:process";
import packageJson from "@/package.json";
import { newWorkerProcess, type WorkerProcess } from "@/server/cluster/worker/worker-process";
import { errorMessage } from "@/server/domain/base/guards";
import { newEndpoint, type WorkerEndpoint } from "./endpoint";
import { type EnginePort, openEnginePort } from "./engine-port";

/** How long running steps may take to finish once the worker is asked to stop. */
const DRAIN_MS = 30_000;
const CONFIGURATION_ERROR = 78;

function leave(error: unknown): never {
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exit(CONFIGURATION_ERROR);
}

async function main(): Promise<void> {
  const parts = newWorkerProcess(packageJson.version);
  const endpoint = endpointOf(parts);
  await parts.worker.connect();
  const port = await listen(parts, endpoint);
  parts.worker.announce(() => endpoint.load().runs);
  let isStopping = false;
  const stop = (code: number) => {
    if (isStopping) process.exit(code);
    isStopping = true;
    port.leave();
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
    live: (runId, frame) => worker.live(runId, frame),
    redact: worker.redact,
    maxRuns: settings.runs,
    log: (level, message) => {
      if (level === "warn" || level === "error") log(level, message);
    },
  });

async function listen({ settings, log }: WorkerProcess, endpoint: WorkerEndpoint): Promise<EnginePort> {
  const { name, host, port, runs, control } = settings;
  const broke = (error: Error) =>
    log("warn", "A connection from the engine broke.", { error: error.message });
  const opened = await openEnginePort(endpoint, { host, port, broke }).catch((error: unknown) =>
    leave(`This worker can't listen on ${host}:${port}: ${errorMessage(error)}.`),
  );
  process.stdout.write(
    `Worker ${name} accepts up to ${runs} runs on ${host}:${port}, for the server at ${control.url}.\n`,
  );
  return opened;
}

main().catch(leave);
