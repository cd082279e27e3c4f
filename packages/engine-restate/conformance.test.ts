import { afterAll, beforeAll } from "vitest";
import type { Db } from "@/db/open";
import { emptyDb } from "@/db/testing";
import {
  describeDurableEngine,
  type EngineUnderTest,
  type Program,
} from "@/server/runner/durable/durable-conformance";
import type { SegmentProgress } from "@/server/runner/lifecycle/segment-progress";
import { newRunStore } from "@/server/store/runs/runs";
import type { WorkerOptions } from "./endpoint";
import { newRestate, newWorker } from "./testing/restate";
import { stretchStart } from "./testing/server";

let restate: Awaited<ReturnType<typeof newRestate>>;
let worker: Awaited<ReturnType<typeof newWorker>> | null = null;
/** By the run's id as the engine knows it: each test has runs of its own. */
const programs = new Map<string, Program>();
const servers = new Map<string, Server>();

const options = (): WorkerOptions => ({
  effects: { models: { complete: () => Promise.reject(new Error("none")), describe: () => null } },
  sealer: restate.sealer,
  identityKeys: [],
  workerId: "test",
  server: {
    postNews: async (news) => servers.get(news.run_id)?.receive(news),
    taken: async () => {},
    isHeld: async () => true,
    journal: async ({ run_id }) => servers.get(run_id)?.journal() ?? null,
  },
  live: () => {},
  program: ({ run_id }) => programs.get(run_id) ?? null,
  // How long a turn is depends on its events alone, however slow the machine is.
  stopwatch: () => 0,
});

beforeAll(async () => {
  restate = await newRestate();
  worker = await newWorker(restate.workers, options());
  await restate.register();
});

afterAll(async () => {
  worker?.kill();
  await restate.stop();
});

/** What a server does with news: each turn once, none of a run that is not there. */
class Server {
  private readonly db: Db = emptyDb();
  private readonly store = newRunStore(this.db);
  private readonly heard: SegmentProgress[] = [];
  private over = () => {};
  readonly end = new Promise<void>((resolve) => {
    this.over = resolve;
  });
  private sent: Promise<unknown>;
  private signals = 0;
  private readonly names = new Set<string>();

  constructor(private readonly id: string) {
    const start = stretchStart(id, { interpreter_version: 1 });
    this.store.create({ id, created: start.created, interpreterVersion: 1, idempotencyKey: null });
    this.sent = restate.client.begin(start);
  }

  receive(news: SegmentProgress): void {
    this.heard.push(news);
    if (this.store.find(this.id)) this.store.write(news.turns.map((turn) => ({ ...turn, runId: this.id })));
    if (news.end?.kind === "broke") throw new Error(`${news.end.name}: ${news.end.message}`);
    if (news.end) this.over();
  }

  journal() {
    return null;
  }

  /** One after another, as an outbox would. */
  signal(name: string, value: unknown): void {
    if (this.names.has(name)) return;
    this.names.add(name);
    const signal = { run_id: this.id, stretch: 1, index: ++this.signals, name, value: value as never };
    this.sent = this.sent.then(() => restate.client.deliver(signal));
  }

  redeliver(): void {
    for (const news of [...this.heard]) this.receive(news);
  }

  events(): string[] {
    return this.store
      .events(this.id, 1, 1e6)
      .flatMap((event) => (event.type === "warning" ? [event.payload.message] : []));
  }

  remove(): void {
    this.store.setProgress(this.id, { ...this.store.find(this.id)!, status: "finished", outcome_text: "" });
    this.store.purge(this.id);
  }
}

let engines = 0;

function newEngine(): EngineUnderTest {
  const prefix = `run_${++engines}_`;
  const serverOf = (id: string) => {
    const key = prefix + id;
    const server = servers.get(key) ?? new Server(key);
    servers.set(key, server);
    return server;
  };
  return {
    async start(id, program) {
      programs.set(prefix + id, program);
      await serverOf(id).end;
    },
    signal: (id, name, value) => serverOf(id).signal(name, value),
    cancel: (id) => serverOf(id).signal("cancel", { by: "user", reason: "" }),
    kill() {
      worker?.kill();
      worker = null;
    },
    restart() {
      void newWorker(restate.workers, options()).then((next) => {
        worker = next;
      });
    },
    events: (id) => serverOf(id).events(),
    redeliver: (id) => serverOf(id).redeliver(),
    remove: (id) => serverOf(id).remove(),
    async recorded() {
      while (!worker || !worker.endpoint.load().isQuiet)
        await new Promise((resolve) => setTimeout(resolve, 5));
    },
  };
}

describeDurableEngine("Restate", newEngine);
