// `npm run engine`: Restate on this machine, and a balancer in front of the workers. Its data is in the folder `restate` of
// the data folder. `-- install` only installs it, `-- status` prints its state. For a Restate that runs elsewhere,
// `-- identity FILE` creates its key and prints the public one, and `-- register URL` tells it where the workers are.
import { openSync, readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import {
  ensureEngineFolder,
  ensureEngineIdentity,
  ensureEnginePackage,
  LOOPBACK,
  restateServer,
} from "./engine-package.mjs";
import { ensureNode } from "./nodes.mjs";
import { giveUp, readEnvFile } from "./prepare.mjs";

await ensureNode();
readEnvFile();
const [command = "start", ...rest] = process.argv.slice(2);
const ARGUMENT_COUNTS = { start: 0, install: 0, status: 0, identity: 1, register: 1 };
if (ARGUMENT_COUNTS[command] !== rest.length)
  giveUp("Usage: npm run engine -- [install | status | identity FILE | register URL]", 2);

const setting = (name, fallback) => process.env[name] || fallback;
const urls = {
  ingress: setting("TROUPE_RESTATE_INGRESS", "http://127.0.0.1:8080"),
  admin: setting("TROUPE_RESTATE_ADMIN", "http://127.0.0.1:9070"),
};
const control = setting(
  "TROUPE_CONTROL_URL",
  `http://127.0.0.1:${process.env.TROUPE_INTERNAL_PORT || 3010}`,
).replace(/(?<!\/)\/+$/, "");
const REGISTER_INTERVAL_MS = 1_000;
const POLL_INTERVAL_MS = 2_000;

const { hasRestate } = await restateServer();
if (command === "status") await status();
else if (command === "identity") {
  const { ensureIdentity } = await import("../packages/engine-restate/identity.mjs");
  console.log(ensureIdentity(rest[0]));
} else if (command === "register") await register(rest[0], new AbortController().signal);
else {
  if (!hasRestate())
    giveUp(
      `Restate isn't available for ${process.platform}-${process.arch}. Run it in a container, and set TROUPE_RESTATE_INGRESS and TROUPE_RESTATE_ADMIN.`,
    );
  const missing = await ensureEnginePackage("server");
  if (missing) giveUp(missing);
  if (command === "start") await start();
}

async function start() {
  const { restateBinary, startRestate, isRestateUp } = await restateServer();
  if (await isRestateUp(urls)) {
    console.log(`Restate is already running at ${urls.ingress}.`);
    return status();
  }
  const ports = {
    ingress: portOf("TROUPE_RESTATE_INGRESS", urls.ingress),
    admin: portOf("TROUPE_RESTATE_ADMIN", urls.admin),
  };
  const node = numberOf("TROUPE_RESTATE_NODE_PORT", 5122);
  const balancerPort = numberOf("TROUPE_BALANCER_PORT", 9080);
  const folder = ensureEngineFolder();
  const { file: identity, publicKey } = await ensureEngineIdentity();

  const { newBalancer } = await import("../packages/engine-restate/balancer.mjs");
  const workers = await workerList();
  const balancer = newBalancer(workers.list);
  try {
    await balancer.listen(balancerPort);
  } catch (error) {
    giveUp(`Port ${balancerPort} is in use (${error.code}). Set TROUPE_BALANCER_PORT to another port.`);
  }
  const logFile = path.join(folder, "restate.log");
  const log = openSync(logFile, "a", 0o600);
  const engine = startRestate({ binary: restateBinary(), folder, log, ...ports, node, identity });
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"])
    process.on(signal, () => {
      stop.abort();
      engine.child.kill("SIGTERM");
    });
  engine.child.on("exit", (code) => {
    workers.stop();
    balancer.close();
    if (stop.signal.aborted) process.exit(0);
    giveUp(`Restate exited (${code}). The end of ${logFile}:\n${lastLines(logFile)}`);
  });
  await engine.ready;
  console.log(`Restate is ready at ${urls.ingress}. Its data is in ${folder}.
Workers with this data folder trust its key. Workers elsewhere need this setting:

  TROUPE_RESTATE_IDENTITY=${publicKey}
`);
  await register(`http://127.0.0.1:${balancerPort}`, stop.signal);
}

/** Registers the workers' address with Restate as soon as a worker responds. */
async function register(uri, signal) {
  const { registerWorkers } = await restateServer();
  let isWaiting = false;
  while (!signal.aborted)
    try {
      await registerWorkers(urls.admin, uri, { force: true });
      return console.log("Workers registered.");
    } catch {
      if (!isWaiting) console.log("Waiting for a worker. Start one with npm run worker.");
      isWaiting = true;
      await new Promise((resolve) => setTimeout(resolve, REGISTER_INTERVAL_MS));
    }
}

/** The workers' addresses: TROUPE_WORKERS, else those that report to the server. */
async function workerList() {
  const configured = (process.env.TROUPE_WORKERS ?? "").split(/[\s,]+/).filter(Boolean);
  if (configured.length > 0) return { list: () => configured, stop: () => {} };
  let known = [];
  const poll = async () => {
    known = (await workersOfServer()) ?? known;
  };
  await poll();
  const polling = setInterval(poll, POLL_INTERVAL_MS);
  return { list: () => known, stop: () => clearInterval(polling) };
}

/** Null if the server doesn't respond. */
async function workersOfServer() {
  try {
    const response = await fetch(`${control}/workers`, {
      headers: { authorization: `Bearer ${process.env.TROUPE_WORKER_TOKEN ?? ""}` },
      signal: AbortSignal.timeout(POLL_INTERVAL_MS),
    });
    if (!response.ok) return null;
    const workers = await response.json();
    return workers.filter(({ state }) => state === "working").map(({ address }) => address);
  } catch {
    return null;
  }
}

async function status() {
  const { isRestateUp, queryRestate } = await restateServer();
  if (!(await isRestateUp(urls))) {
    console.log(
      `Restate doesn't respond at ${urls.admin} and ${urls.ingress}. Start it with npm run engine.`,
    );
    process.exitCode = 1;
    return;
  }
  const { version } = await (await fetch(`${urls.admin}/version`)).json();
  console.log(`Restate ${version} at ${urls.ingress}, admin at ${urls.admin}`);
  const { deployments } = await (await fetch(`${urls.admin}/deployments`)).json();
  for (const { uri } of deployments) console.log(`  workers behind ${uri}`);
  if (deployments.length === 0) console.log("  No workers registered yet.");
  const rows = await queryRestate(
    urls.admin,
    "select target_service_key as run, status, retry_count, last_failure from sys_invocation where target_service_name = 'troupe' and target_handler_name = 'run' and status <> 'completed'",
  );
  console.log(`  ${rows.length} ${rows.length === 1 ? "run" : "runs"} in progress`);
  for (const { run, status: state, last_failure } of rows)
    if (state === "backing-off" || state === "paused")
      console.log(`    ${run} ${state}: ${last_failure ?? ""}`);
}

function portOf(name, url) {
  const { hostname, port, protocol } = new URL(url);
  if (!LOOPBACK.test(hostname)) giveUp(`${name}=${url} is on another machine. Start Restate there.`);
  return Number(port) || (protocol === "https:" ? 443 : 80);
}

function numberOf(name, fallback) {
  const port = Number(setting(name, fallback));
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    giveUp(`${name} must be a number from 1 to 65535.`, 78);
  return port;
}

const lastLines = (file) => readFileSync(file, "utf8").trimEnd().split("\n").slice(-8).join("\n");
