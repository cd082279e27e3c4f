import { errorMessage } from "@/server/domain/base/guards";
import "server-only";
import path from "node:path";
import { audienceOf } from "@/server/access/audience";
import {
  checkBinding,
  checkDataFolder,
  closeDataFolder,
  hardenHttpServer,
  hardenPrototypes,
  lockDataFolder,
  registerEnvironmentSecrets,
} from "@/server/access/boot";
import { getAccess } from "@/server/access/current";
import { lostSecrets, lostSecretsRemark } from "@/server/access/lost-secrets";
import { refusesRequest } from "@/server/access/requests/request-filter";
import { handlers } from "@/server/handlers";
import { LIMITS } from "@/server/limits";
import { log, logConsole } from "@/server/log";
import { testUntested } from "@/server/operations/workflows/published-tests";
import { type Container, getServices } from "@/server/services";
import { originOf, readSettings } from "@/server/settings";
import { dataDir } from "@/server/store/current";
import { binEnd } from "@/server/store/library/bin";
import { copyFiles } from "@/server/store/runs/retention";

declare global {
  var __troupeBooted: boolean | undefined;
  var __troupeStartLink: string | undefined;
  /** What the start script tells the person who starts it, in sentences: to whom the app is open, what is amiss. */
  var __troupeSays: string[] | undefined;
  /** Looks at each request before the start script hands it to Next. */
  var __troupeEdge: typeof refusesRequest | undefined;
  /** Tells the start script that the server is up. */
  var __troupeUp: (() => void) | undefined;
  /** What the start script calls once requests are answered. */
  var __troupeServing: (() => void) | undefined;
}

/** How long work under way may take to finish when the server is asked to stop, in milliseconds. */
const DRAIN_MS = 8000;

/** When recovery begins where nobody says that requests are answered. */
const RECOVER_UNASKED_MS = 10_000;
const RECOVER_AGAIN_MS = 5_000;

/** When old runs are looked for. */
const TIDY_FIRST_MS = 60_000;
const TIDY_EVERY_MS = 10 * 60_000;

/** Brings the server up, once per process: checks, database, and every run that had not ended. */
export async function boot(): Promise<void> {
  if (globalThis.__troupeBooted) return;
  globalThis.__troupeBooted = true;
  registerEnvironmentSecrets();
  try {
    readSettings();
  } catch (error) {
    leave(errorMessage(error));
  }
  const refusal = checkBinding(process.env) ?? checkDataFolder(dataDir()) ?? lockDataFolder(dataDir());
  if (refusal) leave(refusal);
  try {
    const troupe = getServices();
    emptyBin(troupe);
    void troupe.toolSources.start();
    troupe.memories.sweep();
    setInterval(() => troupe.memories.sweep(), LIMITS.memory.sweepMs).unref();
    troupe.retention.allowShrinking((message, error) => {
      log("warn", message, { error: errorMessage(error) });
    });
    keepTidy(troupe);
    stopOnSignal();
    if (process.env.NODE_ENV === "production") {
      hardenPrototypes();
      logConsole();
    }
    globalThis.__troupeEdge = refusesRequest;
    globalThis.__troupeHandlers = handlers;
    if (!globalThis.__troupeUp) hardenHttpServer();
    const { sessions } = getAccess();
    const link = sessions.newLink();
    if (link) globalThis.__troupeStartLink = `${origin()}${link}`;
    const warnings = [
      closeDataFolder(dataDir()),
      lostSecretsRemark(lostSecrets(troupe), dataDir()),
      await troupe.toolSources.remark(),
    ].filter((remark) => remark !== null);
    globalThis.__troupeSays = [...audienceOf(sessions.signInMode, process.env), ...warnings];
    // The start script prints these with the address; in development nobody else does.
    if (process.env.NODE_ENV !== "production") {
      for (const remark of warnings) log("warn", remark);
      if (globalThis.__troupeStartLink)
        process.stdout.write(`Open this one-time link: ${globalThis.__troupeStartLink}\n`);
    }
    await troupe.workerPort.open();
    troupe.watchdog?.start();
    recoverOnceServing(troupe);
    troupe.notifier.start();
    testUntested(troupe);
    troupe.host.watchers.watch(() => troupe.notifier.wake());
    globalThis.__troupeUp?.();
  } catch (error) {
    leave(startError(error));
  }
}

/**
 * Takes up the runs that had not ended once the server answers, so that a person reaches it whatever they do to it.
 * Where no start script says when that is, as in development, after a while.
 */
function recoverOnceServing({
  host,
  cluster,
  triggers,
}: Pick<Container, "host" | "cluster" | "triggers">): void {
  let isDone = false;
  const recover = () => {
    if (isDone || host.isDraining) return;
    isDone = true;
    clearTimeout(timer);
    try {
      const taken = host.recover();
      cluster.start();
      triggers.start();
      if (taken > 0) log("info", `Resuming ${taken} unfinished ${taken === 1 ? "run" : "runs"}.`);
    } catch (error) {
      isDone = false;
      log("error", "Unfinished runs could not be resumed; retrying.", {
        error: errorMessage(error),
      });
      setTimeout(recover, RECOVER_AGAIN_MS).unref();
    }
  };
  const timer = setTimeout(recover, RECOVER_UNASKED_MS);
  globalThis.__troupeServing = recover;
}

/** Deletes old runs now and then; what goes wrong once is tried again. */
function keepTidy(troupe: Container): void {
  const sweep = () => {
    emptyBin(troupe);
    troupe.triggerStore.tidy();
    troupe.retention.sweep().then(
      (count) => {
        if (count > 0) log("info", `Deleted ${count} old ${count === 1 ? "run" : "runs"}.`);
      },
      (error: unknown) =>
        log("warn", "Old runs could not be deleted; retrying later.", {
          error: errorMessage(error),
        }),
    );
  };
  setTimeout(sweep, TIDY_FIRST_MS).unref();
  setInterval(sweep, TIDY_EVERY_MS).unref();
}

/** Deletes for good what has lain in the bin for long enough; runs are the retention's. */
function emptyBin({ bin, workflows, toolSources }: Container): void {
  const before = binEnd(Date.now());
  bin.sweep();
  workflows.purge(before);
  toolSources.customTools.purge(before);
}

/** Where people open Troupe. */
const origin = () => originOf(readSettings());

function leave(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(78);
}

function startError(error: unknown): string {
  const message = errorMessage(error);
  if (/different Node\.js version|ERR_DLOPEN/.test(message))
    return `The database library doesn't match this version of Node. ${process.env.TROUPE_PROGRAM ? "Install Troupe again" : "Run npm start once"} to repair it.`;
  if (/file is not a database|malformed/.test(message)) {
    const copies = copyFiles(dataDir());
    const advice =
      copies.length > 0
        ? `Automatic backups are in the same folder: ${copies.map(({ name }) => name).join(", ")}. Replace troupe.db with one of these, or use another data folder.`
        : "There is no automatic backup. Restore your own backup, or use another data folder.";
    return `The database ${path.join(dataDir(), "troupe.db")} is damaged: ${message}. It was not changed. ${advice}`;
  }
  return `Troupe couldn't start: ${message}`;
}

/** Lets everything end in turn, and leaves. What cannot end is told, and keeps nothing after it open. */
async function shutDown(code: number): Promise<void> {
  const { cluster, host, workerPort, notifier, toolSources, triggers, db } = getServices();
  cluster.stop();
  triggers.stop();
  for (const end of [
    () => host.drain(DRAIN_MS),
    () => workerPort.close(),
    () => notifier.stop(),
    () => toolSources.stop(),
    async () => db.$client.close(),
  ])
    try {
      await end();
    } catch (error) {
      log("warn", "An unexpected error occurred while shutting down.", { error: errorMessage(error) });
    }
  process.exit(code);
}

/** Lets work under way finish, then leaves; what is left goes on at the next start. */
function stopOnSignal(): void {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 0],
  ] as const)
    process.once(signal, () => void shutDown(code));
}
