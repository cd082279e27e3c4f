import { type ChildProcess, spawn } from "node:child_process";
import http from "node:http";
import path from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import type { Db } from "@/db/open";
import { emptyDb } from "@/db/testing";
import { segmentJournal } from "@/server/cluster/cluster";
import { Dispatcher } from "@/server/cluster/dispatcher";
import { RequestRejected } from "@/server/cluster/internal-api";
import { type InternalParts, internalRoutes } from "@/server/cluster/internal-routes";
import { WorkerConnections } from "@/server/cluster/worker-connections";
import type { SegmentProgress } from "@/server/runner/lifecycle/segment-progress";
import { fakeTools, newStage } from "@/server/runner/testing";
import { newRunStore } from "@/server/store/runs/runs";
import { newSegmentStore } from "@/server/store/runs/segments";
import { toolAtWorkers } from "@/server/tools/at-workers";
import { OperatorTool } from "@/server/tools/operator/file";
import { newBalancer } from "../balancer.mjs";
import { freePorts, newRestate } from "./restate";
import { CALL_MS, LABEL, LABELED, type WorldCall } from "./world";

/** A server, Restate, a balancer and workers in processes of their own. */
export async function newCluster(workerCount: number, { callMs = CALL_MS }: { callMs?: number } = {}) {
  const restate = await newRestate();
  const [control = 0, ...ports] = await freePorts(1 + workerCount);
  const calls: WorldCall[] = [];
  const workers = ports.map((port, at) =>
    newWorkerProcess(
      `w${at + 1}`,
      [
        String(port),
        `http://127.0.0.1:${control}`,
        restate.secretKey,
        `w${at + 1}`,
        String(callMs),
        at === 0 ? LABEL : "",
      ],
      calls,
    ),
  );
  await Promise.all(workers.map((worker) => worker.start()));
  const balancer = newBalancer(() => ports.map((port) => `127.0.0.1:${port}`));
  await balancer.listen(restate.workers);
  await restate.register();
  const db = emptyDb();
  let server = await newServer(db, control, restate.client);
  return {
    restate,
    workers,
    calls,
    get stage() {
      return server.stage;
    },
    /** The server ends at once, and another begins on its data. */
    async killServer() {
      await server.kill();
    },
    async restartServer() {
      server = await newServer(db, control, restate.client);
      server.stage.host.recover();
      server.dispatcher.start();
    },
    async stop() {
      await Promise.all(workers.map((worker) => worker.kill()));
      await server.kill();
      balancer.close();
      await restate.stop();
    },
  };
}

type Client = Awaited<ReturnType<typeof newRestate>>["client"];

/** The server with the part of its own port that runs need. */
async function newServer(db: Db, port: number, engine: Client) {
  const [runs, segments] = [newRunStore(db), newSegmentStore(db)];
  const dispatcher = new Dispatcher({ runs, segments, engine, isPreferred: true, rules: null });
  const stage = newStage({ db, remoteEngine: dispatcher, maxRuns: 100 });
  const lines = new WorkerConnections();
  const declared = OperatorTool.parse({
    ...{ name: LABELED, type: "script", description: "Does something outside", command: ["true"] },
    ...{ input: { type: "object" }, worker_label: LABEL },
  });
  const tools = fakeTools([toolAtWorkers({ ...declared, worker_label: LABEL }, lines)]);
  const unused = {} as Pick<InternalParts, "runs" | "providers" | "workers">;
  const routes = internalRoutes({ ...unused, tools, lines, keep: () => "", redact: (value) => value });
  let isDead = false;
  const answer = async (asked: string, body: SegmentProgress, signal: AbortSignal): Promise<unknown> => {
    const { run_id, stretch, worker } = body;
    switch (asked) {
      case "/turns":
        return await stage.host.segments?.receive(body), null;
      case "/stretch/taken":
        return segments.taken(run_id, stretch, worker), null;
      case "/stretch/held":
        return segments.isHeldBy(run_id, stretch, worker);
      case "/tools/invoke":
      case "/line/ask":
      case "/line/tell":
        return (
          (await routes
            .find(({ path }) => path === asked)
            ?.serve(body, { search: new URLSearchParams(), signal })) ?? null
        );
      default:
        return segmentJournal(runs, segments, run_id, stretch);
    }
  };
  const listener = http.createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = JSON.parse(Buffer.concat(chunks).toString()) as SegmentProgress;
      if (isDead) return void request.destroy();
      const gone = new AbortController();
      response.on("close", () => gone.abort());
      response.end(JSON.stringify(await answer(request.url ?? "", body, gone.signal)));
    })().catch((error: unknown) => {
      response.statusCode = error instanceof RequestRejected ? error.status : 500;
      response.end(JSON.stringify({ error: { code: "FAILED", message: String(error) } }));
    });
  });
  await new Promise<void>((resolve) => listener.listen(port, "127.0.0.1", resolve));
  return {
    stage,
    dispatcher,
    async kill() {
      isDead = true;
      dispatcher.stop();
      lines.stop();
      listener.closeAllConnections();
      await new Promise((closed) => listener.close(closed));
      await stage.host.drain(0);
    },
  };
}

function newWorkerProcess(name: string, args: readonly string[], calls: WorldCall[]) {
  let child: ChildProcess | null = null;
  // Whatever becomes of the test, it is not left behind.
  process.on("exit", () => child?.kill("SIGKILL"));
  const end = async (signal: "SIGKILL" | "SIGTERM") => {
    const ending = child;
    child = null;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
    const gone = new Promise((resolve) => ending.once("exit", resolve));
    ending.kill(signal);
    await gone;
  };
  return {
    name,
    pid: () => child?.pid,
    async start() {
      const started = spawn(
        process.execPath,
        [
          "--conditions=react-server",
          "--import",
          "tsx",
          path.join(import.meta.dirname, "worker.ts"),
          ...args,
        ],
        { cwd: path.resolve(import.meta.dirname, "../../.."), stdio: ["ignore", "pipe", "inherit"] },
      );
      child = started;
      await new Promise<void>((up, failed) => {
        started.once("exit", () => failed(new Error(`${name} ended at its start.`)));
        createInterface({ input: started.stdout }).on("line", (line) => {
          if (line === "up") up();
          else calls.push(JSON.parse(line) as WorldCall);
        });
      });
    },
    /** As if by kill -9. */
    kill: () => end("SIGKILL"),
    /** As a person stops it: it finishes what is under way. */
    stop: () => end("SIGTERM"),
  };
}
