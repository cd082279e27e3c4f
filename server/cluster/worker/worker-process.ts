import os from "node:os";
import { registerEnvironmentSecrets } from "@/server/access/boot";
import { log } from "@/server/log";
import { readWorkerSettings, type WorkerSettings } from "@/server/settings";
import { type JournalSealer, newJournalSealer } from "../seal";
import { Worker } from "./worker";

/** What a worker's process is made of beside the engine's part. */
export interface WorkerProcess {
  settings: WorkerSettings;
  worker: Worker;
  sealer: JournalSealer;
  log: typeof log;
}

/** Reads the environment. Throws, in words for whoever starts it, where that does not do. `version`: of Troupe. */
export function newWorkerProcess(version: string, env: NodeJS.ProcessEnv = process.env): WorkerProcess {
  registerEnvironmentSecrets(env);
  const settings = readWorkerSettings(os.hostname(), env);
  const sealer = newJournalSealer(env.TROUPE_SECRET_KEY ?? "");
  const worker = new Worker({ settings, env, version, address: addressOf(settings), log });
  return { settings, worker, sealer, log };
}

/** Where the engine's balancer reaches it: one that listens everywhere is told by the machine's name. */
export function addressOf({ host, port }: Pick<WorkerSettings, "host" | "port">): string {
  const name = ["0.0.0.0", "::", "[::]"].includes(host) ? os.hostname() : host;
  return name.includes(":") && !name.startsWith("[") ? `[${name}]:${port}` : `${name}:${port}`;
}
