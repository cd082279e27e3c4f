// Restate's server: its binary, its configuration, and requests to its admin port.
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";

/** The server's binary from the package for this platform; null if there is none or it is not installed. */
export function restateBinary() {
  const folder = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  try {
    const home = path.dirname(createRequire(import.meta.url).resolve(`${folder}/package.json`));
    const file = path.join(home, "bin", "restate-server");
    return existsSync(file) ? file : null;
  } catch {
    return null;
  }
}

/** Whether there is a binary for this platform. */
export const hasRestate = () =>
  ["linux", "darwin"].includes(process.platform) && ["x64", "arm64"].includes(process.arch);

const text = (value) => JSON.stringify(value);

/**
 * A single node. `identity` is the file of its private key. Its connections carry one invocation at a time, so that a
 * connection balancer distributes the work, and it soon notices a machine that stops responding.
 */
export const restateConfig = ({
  host = "127.0.0.1",
  ingress,
  admin,
  node,
  identity,
  partitions = 4,
  memory = "256 MiB",
  retry = "5s",
}) => `\
cluster-name = "troupe"
node-name = "troupe-1"
bind-ip = ${text(host)}
bind-port = ${node}
advertised-host = ${text(host)}
listen-mode = "tcp"
auto-provision = true
disable-telemetry = true
default-num-partitions = ${partitions}
rocksdb-total-memory-size = ${text(memory)}
log-filter = "warn"
log-disable-ansi-codes = true
${identity ? `request-identity-private-key-pem-file = ${text(identity)}\n` : ""}
[default-retry-policy]
initial-interval = "50ms"
exponentiation-factor = 2.0
max-interval = ${text(retry)}
max-attempts = "unlimited"

[worker.invoker]
http2-streams-per-connection-limit = 1
http2-keep-alive-interval = "5s"
http2-keep-alive-timeout = "5s"

[ingress]
bind-address = ${text(`${host}:${ingress}`)}

[admin]
disable-web-ui = true
bind-address = ${text(`${host}:${admin}`)}
`;

/**
 * Starts Restate with this folder. `ready` resolves once it accepts requests, and rejects if it exits before.
 * @returns {{ child: import("node:child_process").ChildProcess, ingress: string, admin: string, ready: Promise<void> }}
 */
export function startRestate({ binary, folder, log = "ignore", ...config }) {
  const file = path.join(folder, "restate.toml");
  writeFileSync(file, restateConfig(config), { mode: 0o600 });
  const child = spawn(binary, ["--no-logo", "--config-file", file, "--base-dir", folder], {
    stdio: ["ignore", log, log],
  });
  const { host = "127.0.0.1", ingress, admin } = config;
  const urls = { ingress: `http://${host}:${ingress}`, admin: `http://${host}:${admin}` };
  return { child, ...urls, ready: untilReady(child, urls) };
}

async function untilReady(child, urls) {
  let ended = false;
  child.on("exit", () => (ended = true));
  while (!ended) {
    if (await isRestateUp(urls)) return;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  throw new Error("Restate exited during startup. See its log.");
}

/** Whether it accepts requests at both ports. */
export const isRestateUp = async ({ ingress, admin }) =>
  (await isUp(`${admin}/health`)) && (await isUp(`${ingress}/restate/health`));

const isUp = async (url) => {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
};

/** Registers the workers' address. Repeating it changes nothing unless `force` is set. */
export async function registerWorkers(admin, uri, { force = false } = {}) {
  const answer = await fetch(`${admin}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri, force, breaking: true }),
  });
  if (answer.ok || answer.status === 409) return;
  throw new Error(`Restate rejected the workers at ${uri}: ${answer.status} ${await answer.text()}`);
}

/** Queries Restate's own tables, such as sys_invocation. */
export async function queryRestate(admin, query) {
  const answer = await fetch(`${admin}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query }),
  });
  if (!answer.ok) throw new Error(`Restate returned ${answer.status}: ${await answer.text()}`);
  return (await answer.json()).rows;
}
