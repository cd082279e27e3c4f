import { describe, expect, test } from "vitest";
import type { Db } from "@/db/open";
import { emptyDb } from "@/db/testing";
import { draw } from "@/server/domain/testing/drawing";
import type { SentTurn } from "@/server/runner/log/record-turns";
import { fakeModels, newStage } from "@/server/runner/testing";
import { newRunStore } from "@/server/store/runs/runs";
import { newSegmentStore } from "@/server/store/runs/segments";
import { segmentJournal } from "./cluster";
import { Dispatcher } from "./dispatcher";
import type { EngineClient, Invocation } from "./engine-client";
import { EngineStatus } from "./engine-status";
import type { SegmentSignal, SegmentStart } from "./protocol";

/** An engine that only notes what it is sent. */
function newFakeEngine() {
  const engineState = {
    starts: [] as SegmentStart[],
    signals: [] as SegmentSignal[],
    has: [] as Invocation[],
    isAway: false,
  };
  const refuse = () => {
    if (engineState.isAway) throw new Error("Restate does not answer.");
  };
  const engine: EngineClient = {
    begin: async (start) => (refuse(), void engineState.starts.push(start)),
    deliver: async (signal) => (refuse(), void engineState.signals.push(signal)),
    ping: async () => refuse(),
    invocations: async () => (refuse(), engineState.has),
  };
  return { engine, engineState };
}

/** A server whose runs are carried out elsewhere, on a database of its own or an earlier one's. */
function newServer(options: { db?: Db; isConfigured?: boolean; now?: () => number } = {}) {
  const db = options.db ?? emptyDb();
  const { engine, engineState } = newFakeEngine();
  const segments = newSegmentStore(db, options.now);
  const dispatcher = new Dispatcher({
    segments,
    runs: newRunStore(db),
    ...(options.isConfigured === false ? {} : { engine }),
    isPreferred: true,
    rules: null,
    ...(options.now ? { now: options.now } : {}),
  });
  return {
    ...newStage({ db, remoteEngine: dispatcher }),
    dispatcher,
    segments,
    engineState,
  };
}

const GRAPH = draw("start > a > nap > b > end", {
  nap: { node_type: "wait", config: { signal: "go" } },
});
const until = async (holds: () => boolean) => {
  for (let k = 0; k < 400 && !holds(); k++) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(holds()).toBe(true);
};

/** A run that the server carried out itself, as a worker would tell of it: up to its rest, and from there to its end. */
async function executedTurns(): Promise<{ rest: SentTurn[]; end: SentTurn[] }> {
  const stage = newStage({ models: fakeModels(() => "done") });
  const id = stage.start(GRAPH);
  await until(() => stage.store.find(id)?.status === "waiting");
  await stage.host.steering.command(id, { kind: "signal", name: "go", data: 1 }, "ann");
  await stage.host.settled(id);
  const turns = stage.store
    .journal(id)
    .turns.slice(1)
    .map((turn) => ({ ...turn, timers: [] }));
  const went = turns.findIndex(({ key }) => key === "control#1");
  expect(went).toBeGreaterThan(0);
  return {
    rest: standing(turns.slice(0, went), { status: "waiting", waits_for: "time" }),
    end: standing(turns.slice(went), { status: "finished", final_status: "COMPLETED", finished_at: 2 }),
  };
}

/** The last turn says how the run stands. */
const standing = (turns: SentTurn[], more: Partial<NonNullable<SentTurn["progress"]>>): SentTurn[] =>
  turns.map((turn, at) =>
    at < turns.length - 1
      ? turn
      : {
          ...turn,
          progress: {
            status: "running",
            final_status: null,
            reason_code: null,
            simulated: false,
            cost_usd: 0,
            unknown_cost_calls: 0,
            input_tokens: 0,
            output_tokens: 0,
            started_at: 1,
            finished_at: null,
            waits_for: null,
            outcome_text: "",
            ...more,
          },
        },
  );

describe("a dispatched run", () => {
  test("a dispatched run stores each turn once, waits, and continues in a new segment with its signals", async () => {
    const { host, store, engineState, start, segments } = newServer();
    const id = start(GRAPH);
    await until(() => engineState.starts.length === 1);
    expect(engineState.starts).toEqual([
      {
        run_id: id,
        stretch: 1,
        interpreter_version: 2,
        created: store.creation(id).created,
        from_turn: 0,
        signals: [],
        rules: null,
      },
    ]);
    const { rest: before, end: after } = await executedTurns();
    const news = { run_id: id, stretch: 1, worker: "w1" };
    await host.segments!.receive({ ...news, turns: before.slice(0, 1) });
    await host.segments!.receive({ ...news, turns: before.slice(0, 1) });
    await host.segments!.receive({
      ...news,
      worker: "w2",
      turns: before,
      end: { kind: "rested", signals: 0 },
    });
    expect(store.find(id)?.status).toBe("waiting");
    expect(segments.place(id)).toBeNull();
    expect(host.live.isHere(id)).toBe(true);

    const taken = host.steering.command(id, { kind: "signal", name: "go", data: 1 }, "ann");
    await until(() => engineState.starts.length === 2);
    expect(engineState.starts[1]).toMatchObject({
      stretch: 2,
      from_turn: before.at(-1)!.turn,
      signals: [{ name: "control#1" }],
    });
    // The first stretch is over: what it still says is not heard.
    await host.segments!.receive({ ...news, turns: after });
    expect(store.lastTurn(id).turn).toBe(before.at(-1)!.turn);
    const over = host.settled(id);
    await host.segments!.receive({ ...news, stretch: 2, turns: after, end: { kind: "rested", signals: 1 } });
    await over;
    expect(await taken).not.toBeNull();
    expect(store.find(id)).toMatchObject({ status: "finished", final_status: "COMPLETED" });
    expect(store.events(id, 1).map(({ type }) => type)).toEqual(
      [...before, ...after].flatMap(({ events }) => events.map(({ type }) => type)),
    );
    expect(host.live.isHere(id)).toBe(false);
  });

  test("a signal that arrives as a segment ends starts the next one at once", async () => {
    const { host, store, engineState, start } = newServer();
    const id = start(GRAPH);
    await until(() => engineState.starts.length === 1);
    host.cancel(id, { by: "ann", reason: "" });
    await until(() => engineState.signals.length === 1);
    expect(engineState.signals).toEqual([
      { run_id: id, stretch: 1, index: 1, name: "cancel", value: { by: "ann", reason: "" } },
    ]);
    await host.segments!.receive({
      run_id: id,
      stretch: 1,
      worker: "w1",
      turns: (await executedTurns()).rest,
      end: { kind: "rested", signals: 0 },
    });
    await until(() => engineState.starts.length === 2);
    expect(engineState.starts[1]!.signals).toEqual([{ name: "cancel", value: { by: "ann", reason: "" } }]);
    expect(store.find(id)?.status).toBe("waiting");
  });

  test("messages to an unavailable engine are delivered later in order, even by a restarted server", async () => {
    const first = newServer();
    first.engineState.isAway = true;
    const id = first.start(GRAPH);
    first.host.cancel(id, { by: "ann", reason: "" });
    await until(() => first.dispatcher.outbox().error !== null);
    expect(first.dispatcher.outbox()).toMatchObject({
      waiting: 2,
      error: { message: "Restate does not answer." },
    });
    first.dispatcher.stop();
    await first.host.drain(0);

    const second = newServer({ db: first.db });
    second.host.recover();
    second.dispatcher.start();
    await until(() => second.engineState.signals.length === 1);
    expect(second.engineState.starts.map(({ run_id, stretch }) => [run_id, stretch])).toEqual([[id, 1]]);
    expect(second.engineState.signals.map(({ name, index }) => [name, index])).toEqual([["cancel", 1]]);
    expect(second.dispatcher.outbox()).toEqual({ waiting: 0, oldest_at: null, error: null });
  });

  test("the status counts the outbox with one query, however many runs there are", async () => {
    const clock = { now: 100 };
    const { host, engineState, start, segments, dispatcher } = newServer({ now: () => clock.now });
    const sent = start(GRAPH);
    await until(() => engineState.starts.length === 1 && dispatcher.outbox().waiting === 0);
    engineState.isAway = true;
    clock.now = 200;
    for (const id of [sent, start(GRAPH), start(GRAPH)]) host.cancel(id, { by: "ann", reason: "" });
    await until(() => dispatcher.outbox().error !== null);
    const asked: (string | symbol)[] = [];
    const watched = new Proxy(segments, {
      get(store, name: keyof typeof segments) {
        asked.push(name);
        return store[name];
      },
    });
    const status = new EngineStatus({
      kind: "restate",
      dispatcher: new Dispatcher({
        segments: watched,
        runs: newRunStore(emptyDb()),
        isPreferred: true,
        rules: null,
      }),
      segments: watched,
      workers: () => [],
    });
    asked.length = 0;
    // Two that were begun, and a signal for each of the three.
    expect(status.state()).toMatchObject({ at_work: 3, outbox: { waiting: 5, oldest_at: 200 } });
    expect(asked).toEqual(["outbox"]);
  });

  test("a run is quarantined without its engine and resumes with it, or on the server on request", async () => {
    const first = newServer();
    const id = first.start(GRAPH);
    await until(() => first.engineState.starts.length === 1);
    await first.host.drain(0);

    const without = newServer({ db: first.db, isConfigured: false });
    without.host.recover();
    expect(without.store.find(id)).toMatchObject({ status: "held", held: { code: "engine_missing" } });
    await without.host.drain(0);

    const again = newServer({ db: first.db });
    again.host.recover();
    expect([again.store.find(id)?.status, again.host.live.isHere(id), again.engineState.starts]).toEqual([
      "queued",
      true,
      [],
    ]);
    await again.host.drain(0);

    const here = newServer({ db: first.db, isConfigured: false });
    here.host.recover();
    expect(here.host.tryAgain(id)).toBe(true);
    await until(() => here.store.find(id)?.status === "waiting");
    expect(here.segments.active(id)).toBeNull();
  });

  test("an interpreter error ends the run as internal, and a quarantined segment quarantines it", async () => {
    const { host, store, engineState, start } = newServer();
    const [broken, held] = [start(GRAPH), start(GRAPH)];
    await until(() => engineState.starts.length === 2);
    const news = { stretch: 1, worker: "w1", turns: [] };
    await host.segments!.receive({
      ...news,
      run_id: broken,
      end: { kind: "broke", name: "TypeError", message: "no" },
    });
    await host.segments!.receive({
      ...news,
      run_id: held,
      end: { kind: "held", code: "log_differs", message: "It tells another story." },
    });
    await Promise.all([host.settled(broken), host.settled(held)]);
    expect(store.find(broken)).toMatchObject({ final_status: "ERROR", reason_code: "INTERNAL" });
    expect(store.find(held)).toMatchObject({ status: "held", held: { code: "log_differs" } });
  });

  test("a segment the engine lost is started again; a known or recent one isn't", async () => {
    const clock = { now: Date.now() };
    const { engineState, start, dispatcher } = newServer({ now: () => clock.now });
    const [lost, known] = [start(GRAPH), start(GRAPH)];
    await until(() => engineState.starts.length === 2);
    const about = { status: "running", retries: 0, failure: null };
    engineState.has = [{ run_id: known, stretch: 1, ...about }];
    await dispatcher.reconcile();
    expect(engineState.starts).toHaveLength(2);
    clock.now += 61_000;
    await dispatcher.reconcile();
    await until(() => engineState.starts.length === 3);
    expect(engineState.starts[2]).toMatchObject({ run_id: lost, stretch: 2 });
  });

  test("a run belongs to the last worker that accepted it until its segment ends", async () => {
    const clock = { now: 5 };
    const { host, engineState, start, segments } = newServer({ now: () => clock.now });
    const id = start(GRAPH);
    await until(() => engineState.starts.length === 1);
    const held = () => ["w1", "w2"].filter((worker) => segments.isHeldBy(id, 1, worker));
    expect(held()).toEqual(["w1", "w2"]);
    segments.taken(id, 1, "w1");
    expect(held()).toEqual(["w1"]);
    clock.now = 7;
    segments.taken(id, 1, "w2");
    const { rest: turns } = await executedTurns();
    clock.now = 9;
    // The second one reports what the first one did.
    await host.segments!.receive({ run_id: id, stretch: 1, worker: "w1", turns: turns.slice(0, 1) });
    expect(held()).toEqual(["w2"]);
    expect(segments.place(id)).toMatchObject({ worker: "w2", moved_from: "w1", moved_at: 7 });
    await host.segments!.receive({
      run_id: id,
      stretch: 1,
      worker: "w2",
      turns,
      end: { kind: "rested", signals: 0 },
    });
    expect(held()).toEqual([]);
  });

  test("a worker gets the log up to its segment, and null for an ended segment", async () => {
    const { host, store, engineState, start, segments } = newServer();
    const id = start(GRAPH);
    await until(() => engineState.starts.length === 1);
    const { rest: turns } = await executedTurns();
    await host.segments!.receive({ run_id: id, stretch: 1, worker: "w1", turns });
    expect(segmentJournal(store, segments, id, 1)).toEqual({
      turns: store.journal(id).turns.slice(0, 1),
      timers: [],
    });
    expect(segmentJournal(store, segments, id, 2)).toBeNull();
  });
});
