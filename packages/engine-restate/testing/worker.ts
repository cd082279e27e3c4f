// A worker in a process of its own, for tests that end it: `worker.ts PORT CONTROL_URL SECRET_KEY NAME CALL_MS LABEL [IDENTITY]`. It prints
// what its world is asked, a line of JSON each.
import process from "node:process";
import type { SegmentJournal } from "@/server/cluster/protocol";
import { newJournalSealer } from "@/server/cluster/seal";
import { ConnectionEndpoint } from "@/server/cluster/worker/connection-endpoint";
import { newControlClient } from "@/server/cluster/worker/control-client";
import { newServed } from "@/server/cluster/worker/served-tools";
import { newRemoteTools } from "@/server/cluster/worker/worker";
import { newControlFetch } from "@/server/egress/control";
import { newEndpoint } from "../endpoint";
import { openEnginePort } from "../engine-port";
import { LABELED, newWorld } from "./world";

const [port, control = "", secretKey = "", workerId = "", callMs, labels, identity] = process.argv.slice(2);
const ask = async (path: string, body: unknown, signal: AbortSignal) => {
  const answer = await fetch(`${control}${path}`, { method: "POST", body: JSON.stringify(body), signal });
  if (!answer.ok) throw new Error(`The server returned ${answer.status}.`);
  return (await answer.json()) as unknown;
};
const world = newWorld(workerId, (call) => process.stdout.write(`${JSON.stringify(call)}\n`), Number(callMs));
const client = newControlClient({ fetch: newControlFetch(control), token: "" });
const remote = newRemoteTools(client, []);
const endpoint = newEndpoint({
  effects: {
    models: world.models,
    tools: {
      ...world.tools,
      invoke: (name, ...call) => (name === LABELED ? remote : world.tools).invoke(name, ...call),
    },
  },
  sealer: newJournalSealer(secretKey),
  identityKeys: identity ? [identity] : [],
  workerId,
  server: {
    postNews: async (news, signal) => void (await ask("/turns", news, signal)),
    taken: async (hold, signal) => void (await ask("/stretch/taken", hold, signal)),
    isHeld: async (hold) => (await ask("/stretch/held", hold, AbortSignal.timeout(1_000))) === true,
    journal: async ({ run_id, stretch }, signal) =>
      (await ask("/journal", { run_id, stretch }, signal)) as SegmentJournal | null,
  },
  live: () => {},
  log: (level, message) => {
    if (level === "error") process.stderr.write(`${workerId}: ${message}\n`);
  },
});
const { leave } = await openEnginePort(endpoint, { host: "127.0.0.1", port: Number(port) });
new ConnectionEndpoint({
  control: client,
  served: newServed([world.labeled]),
  about: { worker: `${workerId}.${process.pid}`, name: workerId, labels: labels ? [labels] : [] },
  redact: (value) => value,
  log: () => {},
}).start();
process.stdout.write("up\n");
process.on("SIGTERM", () => {
  leave();
  void endpoint.drain(5_000).then(() => process.exit(0));
});
