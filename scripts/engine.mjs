// `npm run engine`: Restate on this machine with what Troupe needs of it, and a balancer in front of the workers. What it
// keeps lies in the folder `restate` of the data folder. `npm run engine -- install`: only installs. `-- status`: how it is.
// Where Restate itself runs elsewhere: `-- identity FILE` makes its key and prints the public one, `-- register URL` tells it
// where the workers are.
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
const [asked = "start", ...more] = process.argv.slice(2);
const TAKES = { start: 0, install: 0, status: 0, identity: 1, register: 1 };
if (TAKES[asked] !== more.length)
  giveUp("npm run engine -- [install | status | identity FILE | register URL]", 2);

const setting = (name, usual) => process.env[name] || usual;
const urls = {
  ingress: setting("TROUPE_RESTATE_INGRESS", "http://127.0.0.1:8080"),
  admin: setting("TROUPE_RESTATE_ADMIN", "http://127.0.0.1:9070"),
};
const control = setting(
  "TROUPE_CONTROL_URL",
  `http://127.0.0.1:${process.env.TROUPE_INTERNAL_PORT || 3010}`,
).replace(/(?<!\/)\/+$/, "");
const REGISTER_EVERY_MS = 1_000;
const ASK_EVERY_MS = 2_000;

const { hasRestate } = await restateServer();
if (asked === "status") await status();
else if (asked === "identity") {
  const { ensureIdentity } = await import("../packages/engine-restate/identity.mjs");
  console.log(ensureIdentity(more[0]));
} else if (asked === "register") await register(more[0], new AbortController().signal);
else {
  if (!hasRestate())
    giveUp(
      `There is no Restate for ${process.platform}-${process.arch}. Run it in a container, and set TROUPE_RESTATE_INGRESS and TROUPE_RESTATE_ADMIN.`,
    );
  const missing = await ensureEnginePackage("server");
  if (missing) giveUp(missing);
  if (asked === "start") await start();
}

async function start() {
  const { restateBinary, startRestate, isRestateUp } = await restateServer();
  if (await isRestateUp(urls)) {
    console.log(`Restate runs already at ${urls.ingress}.`);
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
    giveUp(`Port ${balancerPort} is taken (${error.code}). Set TROUPE_BALANCER_PORT to another.`);
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
    giveUp(`Restate ended (${code}). The end of ${logFile}:\n${lastLines(logFile)}`);
  });
  await engine.ready;
  console.log(`Restate takes runs at ${urls.ingress}; what it keeps is in ${folder}.
Workers on this data folder know it by its key; those elsewhere have to be told:

  TROUPE_RESTATE_IDENTITY=${publicKey}
`);
  await register(`http://127.0.0.1:${balancerPort}`, stop.signal);
}

/** Tells Restate where workers are, as soon as one answers. */
async function register(uri, signal) {
  const { registerWorkers } = await restateServer();
  let isWaiting = false;
  while (!signal.aborted)
    try {
      await registerWorkers(urls.admin, uri, { force: true });
      return console.log("Restate knows the workers.");
    } catch {
      if (!isWaiting) console.log("Waiting for a worker: start one with npm run worker.");
      isWaiting = true;
      await new Promise((resolve) => setTimeout(resolve, REGISTER_EVERY_MS));
    }
}

/** The workers' addresses: those of TROUPE_WORKERS, else those of which the server had a sign of life. */
async function workerList() {
  const given = (process.env.TROUPE_WORKERS ?? "").split(/[\s,]+/).filter(Boolean);
  if (given.length > 0) return { list: () => given, stop: () => {} };
  let known = [];
  const ask = async () => {
    known = (await workersOfServer()) ?? known;
  };
  await ask();
  const asking = setInterval(ask, ASK_EVERY_MS);
  return { list: () => known, stop: () => clearInterval(asking) };
}

/** Null where the server does not answer. */
async function workersOfServer() {
  try {
    const answer = await fetch(`${control}/workers`, {
      headers: { authorization: `Bearer ${process.env.TROUPE_WORKER_TOKEN ?? ""}` },
      signal: AbortSignal.timeout(ASK_EVERY_MS),
    });
    if (!answer.ok) return null;
    const workers = await answer.json();
    return workers.filter(({ state }) => state === "working").map(({ address }) => address);
  } catch {
    return null;
  }
}

async function status() {
  const { isRestateUp, queryRestate } = await restateServer();
  if (!(await isRestateUp(urls))) {
    console.log(
      `Restate does not answer at ${urls.admin} and ${urls.ingress}. Start it with npm run engine.`,
    );
    process.exitCode = 1;
    return;
  }
  const { version } = await (await fetch(`${urls.admin}/version`)).json();
  console.log(`Restate ${version} at ${urls.ingress}, administered at ${urls.admin}`);
  const { deployments } = await (await fetch(`${urls.admin}/deployments`)).json();
  for (const { uri } of deployments) console.log(`  workers behind ${uri}`);
  if (deployments.length === 0) console.log("  It knows no workers yet.");
  const rows = await queryRestate(
    urls.admin,
    "select target_service_key as run, status, retry_count, last_failure from sys_invocation where target_service_name = 'troupe' and target_handler_name = 'run' and status <> 'completed'",
  );
  console.log(`  ${rows.length} ${rows.length === 1 ? "run is" : "runs are"} at work`);
  for (const { run, status: state, last_failure } of rows)
    if (state === "backing-off" || state === "paused")
      console.log(`    ${run} ${state}: ${last_failure ?? ""}`);
}

function portOf(name, url) {
  const { hostname, port, protocol } = new URL(url);
  if (!LOOPBACK.test(hostname))
    giveUp(`${name}=${url} is on another machine: there is nothing to start here.`);
  return Number(port) || (protocol === "https:" ? 443 : 80);
}

function numberOf(name, usual) {
  const port = Number(setting(name, usual));
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    giveUp(`${name} must be a number from 1 to 65535.`, 78);
  return port;
}

const lastLines = (file) => readFileSync(file, "utf8").trimEnd().split("\n").slice(-8).join("\n");
