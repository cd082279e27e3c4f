import type { Db } from "@/db/open";
import { emptyDb } from "@/db/testing";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { RunEventOf } from "@/server/domain/run/events";
import { draw } from "@/server/domain/testing/drawing";
import { newRunStore, type RunStore } from "@/server/store/runs/runs";
import { WorkTime } from "./clock";
import { describeDurableEngine, type EngineUnderTest } from "./durable-conformance";
import { EmbeddedRun } from "./embedded";
import type { TurnRecord } from "./embedded-contract";

/** The embedded engine with its log in a database in memory; `kill` drops all that was not written. */
function newEngine(): EngineUnderTest {
  const db: Db = emptyDb();
  const store: RunStore = newRunStore(db);
  let alive = { value: true };
  const live = new Map<string, EmbeddedRun>();
  const written: TurnRecord[] = [];
  const create = (id: string) => {
    if (store.find(id)) return;
    const created: RunEventOf<"run_created"> = {
      type: "run_created",
      seq: 1,
      ts: Date.now(),
      payload: {
        graph: draw("start > end"),
        roles: [],
        workflow_id: null,
        workflow_name: "",
        input: {},
        config: RunConfig.parse({}),
        trigger: "test",
        provider_summary: null,
      },
    };
    store.create({ id, created, interpreterVersion: 1, idempotencyKey: null });
  };
  return {
    async start(runId, program) {
      create(runId);
      const mine = alive;
      const run = new EmbeddedRun(
        runId,
        {
          record: async (turn) => {
            if (!mine.value) return new Promise<never>(() => {});
            store.write([turn]);
            written.push(turn);
            await new Promise((resolve) => setImmediate(resolve));
          },
          live: () => {},
          workerId: "test",
          time: new WorkTime(),
          // How long a turn is depends on its events alone, however slow the machine is.
          stopwatch: () => 0,
        },
        store.journal(runId),
      );
      live.set(runId, run);
      await program(run);
      await run.close();
    },
    signal(runId, name, value) {
      if (store.signal(runId, name, value, Date.now())) live.get(runId)?.deliver(name, value);
    },
    cancel(runId) {
      this.signal(runId, "cancel", { by: "user", reason: "" });
    },
    recorded: () => new Promise((resolve) => setTimeout(resolve, 15)),
    kill() {
      alive.value = false;
      for (const run of live.values()) run.stop();
      live.clear();
    },
    restart() {
      alive = { value: true };
    },
    events: (runId) =>
      store
        .events(runId, 1, 1e6)
        .flatMap((event) => (event.type === "warning" ? [event.payload.message] : [])),
    redeliver(runId) {
      for (const turn of written) if (turn.runId === runId) store.write([turn]);
    },
    remove(runId) {
      store.setProgress(runId, { ...store.find(runId)!, status: "finished", outcome_text: "" });
      store.purge(runId);
    },
  };
}

describeDurableEngine("The embedded engine", newEngine);
