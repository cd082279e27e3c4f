import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import http2 from "node:http2";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { SegmentJournal } from "@/server/cluster/protocol";
import type { DurableContext } from "@/server/domain/base/durable";
import type { RunEvent } from "@/server/domain/run/events";
import { SettingsDamaged } from "@/server/domain/run/quarantine";
import { draw } from "@/server/domain/testing/drawing";
import { execute } from "@/server/runner/interpreter/execute";
import { fakeModels, newStage } from "@/server/runner/testing";
import { sized } from "@/server/testing/thorough";
import { newBalancer } from "./balancer.mjs";
import type { WorkerOptions } from "./endpoint";
import { ensureIdentity } from "./identity.mjs";
import { queryRestate } from "./restate-server.mjs";
import type { Program } from "./session";
import { freePorts, newRestate, newWorker } from "./testing/restate";
import { newNewsDesk, stretchStart } from "./testing/server";

type Worker = Awaited<ReturnType<typeof newWorker>>;

let restate: Awaited<ReturnType<typeof newRestate>>;
let balancer: ReturnType<typeof newBalancer>;
const folder = mkdtempSync(path.join(os.tmpdir(), "troupe-identity-"));
const identity = path.join(folder, "identity.pem");
const publicKey = ensureIdentity(identity);
/** Where the engine finds a worker, and the workers that are there. */
let port = 0;
let worker: Worker;
const workers: Worker[] = [];
const programs = new Map<string, Program>();
const journals = new Map<string, SegmentJournal>();
const news = newNewsDesk();

/** A worker to which the engine turns from now on. */
async function startWorker(workerId: string, more: Partial<WorkerOptions> = {}): Promise<void> {
  [port = 0] = await freePorts(1);
  worker = await newWorker(port, {
    effects: { models: { complete: () => Promise.reject(new Error("none")), describe: () => null } },
    sealer: restate.sealer,
    identityKeys: [publicKey],
    workerId,
    server: { ...news, journal: async ({ run_id }) => journals.get(run_id) ?? null },
    live: () => {},
    program: ({ run_id, interpreter_version }) =>
      interpreter_version === 2
        ? (programs.get(`${workerId} ${run_id}`) ?? programs.get(run_id) ?? null)
        : null,
    stopwatch: () => 0,
    ...more,
  });
  workers.push(worker);
}

beforeAll(async () => {
  restate = await newRestate({ identity });
  balancer = newBalancer(() => [`127.0.0.1:${port}`]);
  await balancer.listen(restate.workers);
  await startWorker("first");
  await restate.register();
});
afterAll(async () => {
  for (const one of workers) one.kill();
  balancer.close();
  await restate.stop();
  rmSync(folder, { recursive: true, force: true });
});

let runs = 0;
/** Begins a run of its own whose flow is this; answers its id. */
async function begin(
  flow: (ctx: DurableContext<RunEvent>) => Promise<void>,
  more: Parameters<typeof stretchStart>[1] = {},
) {
  const id = `run_${++runs}`;
  programs.set(id, flow);
  await restate.client.begin(stretchStart(id, more));
  return id;
}
const say = (ctx: DurableContext<RunEvent>, seq: number, message: string) =>
  ctx.emit({ type: "warning", seq, ts: 0, payload: { code: "TEST", message } });
const endOf = async (id: string) => (await news.ended(id)).at(-1)?.end;
/** Six are more than fit into one message of the engine. */
const LARGE = sized(2, 6);
/** So many MiB that cannot be packed. */
const noise = (mib: number) => randomBytes(mib * 786_432).toString("base64");
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("segments that fail", () => {
  test("a segment ends once if the interpreter throws, and isn't retried", async () => {
    let times = 0;
    const id = await begin(async (ctx) => {
      times++;
      await ctx.next([ctx.step("one", () => 1)]);
      throw new TypeError("no such thing");
    });
    expect(await endOf(id)).toMatchObject({ kind: "broke", name: "TypeError", message: "no such thing" });
    expect(times).toBe(1);
  });

  test("a segment is quarantined if settings are damaged or its interpreter version is unknown", async () => {
    const damaged = await begin(async (ctx) => {
      await ctx.next([
        ctx.step("one", () => Promise.reject(new SettingsDamaged("The provider cannot be read."))),
      ]);
    });
    const unknown = await begin(async () => {}, { interpreter_version: 99 });
    expect(await endOf(damaged)).toEqual({
      kind: "held",
      code: "settings_damaged",
      message: "The provider cannot be read.",
    });
    expect(await endOf(unknown)).toMatchObject({ kind: "held", code: "unknown_version" });
  });

  test("a segment is quarantined if its log differs from what the interpreter does", async () => {
    const id = `run_${runs + 1}`;
    const start = stretchStart(id, { from_turn: 2 });
    const turn = { key: null, result: null, at: start.created.ts, lastSeq: 1, inlined: 0, events: [] };
    journals.set(id, {
      turns: [
        { ...turn, turn: 0, events: [start.created] },
        { ...turn, turn: 1, lastSeq: 2, events: [{ type: "run_started", seq: 2, ts: 0, payload: {} }] },
        { ...turn, turn: 2, key: "one", result: { ok: true, value: 1 }, lastSeq: 2 },
      ],
      timers: [],
    });
    await begin(async (ctx) => {
      await ctx.next([ctx.step("one", () => 1)]);
    }, start);
    expect(await endOf(id)).toMatchObject({ kind: "held", code: "log_differs" });
  });

  test("a segment fails with a workflow error if a turn is too large to send", async () => {
    const id = await begin(async (ctx) => {
      await ctx.next([ctx.step("one", () => 1)]);
      for (let k = 0; k < 4; k++) say(ctx, 2 + k, noise(10));
      await ctx.next([ctx.step("two", () => 2)]);
    });
    expect(await endOf(id)).toMatchObject({ kind: "broke", edit_graph: true });
    expect(news.of(id).flatMap(({ turns }) => turns.map(({ turn }) => turn))).toEqual([1]);
  });

  test("a segment ends silently if the server no longer knows it", async () => {
    const id = await begin(async () => {}, { from_turn: 5 });
    await expect
      .poll(() =>
        queryRestate(restate.admin, `select status from sys_invocation where target_service_key = '${id}.1'`),
      )
      .toEqual([{ status: "completed" }]);
    expect(news.of(id)).toEqual([]);
  });
});

describe("the start of a segment", () => {
  const journalOf = (id: string) => {
    const start = stretchStart(id, { from_turn: 2 });
    const turn = { key: null, result: null, at: start.created.ts, lastSeq: 1, inlined: 0, events: [] };
    journals.set(id, {
      turns: [
        { ...turn, turn: 0, events: [start.created] },
        { ...turn, turn: 1 },
        { ...turn, turn: 2, key: "one", result: { ok: true, value: 1 } },
        { ...turn, turn: 3, key: "late", result: { ok: true, value: "from a stretch that is over" } },
      ],
      timers: [],
    });
    return start;
  };
  const flow = (seen: string[]) => async (ctx: DurableContext<RunEvent>) => {
    seen.push((await ctx.next([ctx.step("one", () => 2)])).key);
    for (let key = ""; key !== "two"; seen.push(key)) key = (await ctx.next([ctx.step(`two`, () => 3)])).key;
  };

  test("a segment starts at the end of the log and repeats no recorded step", async () => {
    const seen: string[] = [];
    const id = `run_${runs + 1}`;
    await begin(flow(seen), journalOf(id));
    expect(await endOf(id)).toEqual({ kind: "rested", signals: 0 });
    expect(seen).toEqual(["one", "two"]);
    expect(news.of(id).flatMap(({ turns }) => turns.map(({ key }) => key))).toEqual(["two"]);
  });

  test("a segment whose rules changed since the log starts with a recovery turn", async () => {
    const id = `run_${runs + 1}`;
    const rules = { confirmation: { kind: "risky", threshold: "HIGH", confirm_unknown: true } } as const;
    const keys: string[] = [];
    await begin(
      async (ctx) => {
        const [one, two] = [ctx.step("one", () => 2), ctx.signal("two")];
        keys.push((await ctx.next([one])).key, (await ctx.next([two])).key);
      },
      { ...journalOf(id), rules },
    );
    await news.ended(id);
    expect(keys).toEqual(["one", "recovered#3"]);
  });
});

test("a segment with nothing to do ends immediately", async () => {
  const stage = newStage();
  const graph = draw("start > a > nap > b > end", {
    nap: { node_type: "wait", config: { for: "signal", signal: "go" } },
  });
  const id = stage.start(graph);
  await expect.poll(() => stage.store.find(id)?.status).toBe("waiting");
  const { turns } = stage.store.journal(id);
  journals.set(id, { turns: [...turns], timers: [] });
  const { created } = stage.store.creation(id);
  programs.set(id, (ctx, watch) => execute(ctx, created, { models: fakeModels(() => "done") }, watch));
  await restate.client.begin(stretchStart(id, { created, from_turn: turns.length - 1, signals: [] }));
  expect(await news.ended(id)).toMatchObject([{ turns: [], end: { kind: "rested", signals: 0 } }]);
  const control = { name: "control#1", value: { kind: "signal", name: "go", data: 1, by: "ann" } };
  await restate.client.begin(
    stretchStart(id, { stretch: 2, created, from_turn: turns.length - 1, signals: [control] }),
  );
  await expect.poll(() => news.of(id).length).toBeGreaterThan(1);
  await expect.poll(() => news.of(id).at(-1)?.end).toEqual({ kind: "rested", signals: 1 });
  const last = news
    .of(id)
    .flatMap((one) => one.turns)
    .at(-1);
  expect(last).toMatchObject({ progress: { status: "finished", final_status: "COMPLETED" } });
  await stage.host.drain(0);
});

describe("steps in progress", () => {
  test("a step in progress continues after a restart of the engine and isn't repeated", async () => {
    let times = 0;
    const id = await begin(async (ctx) => {
      const step = ctx.step("long", async () => {
        times++;
        await pause(2_500);
        return times;
      });
      const { result } = await ctx.next([step]);
      say(ctx, 2, result.ok ? `gave ${JSON.stringify(result.value)}` : "failed");
    });
    await expect.poll(() => times).toBe(1);
    await restate.kill();
    await restate.restart();
    await news.ended(id);
    expect(times).toBe(1);
    expect(news.of(id).flatMap(({ turns }) => turns.flatMap(({ events }) => events))).toMatchObject([
      { payload: { message: "gave 1" } },
    ]);
  });

  /** A step that lasts until it is let go. */
  function held() {
    const told = { begun: 0, aborted: 0, letGo: () => {} };
    const flow = async (ctx: DurableContext<RunEvent>) => {
      const step = ctx.step("long", ({ abort }) => {
        told.begun++;
        abort.addEventListener("abort", () => told.aborted++);
        return new Promise((resolve) => (told.letGo = () => resolve(null)));
      });
      await ctx.next([step]);
    };
    return { told, flow };
  }

  test("a segment continues after many results of the maximum size", async () => {
    const ran: string[] = [];
    const id = await begin(async (ctx) => {
      for (let k = 0; k < LARGE; k++) {
        const step = ctx.step(`large${k}`, () => (ran.push(`large${k}`), noise(7.9)));
        await ctx.next([step]);
      }
      const { told, flow } = last;
      await flow(ctx);
      ran.push(`last ${told.begun}`);
    });
    await expect.poll(() => last.told.begun, { timeout: 20_000 }).toBe(1);
    worker.endpoint.drop(id, 1);
    await expect.poll(() => last.told.begun, { timeout: 20_000 }).toBe(2);
    last.told.letGo();
    expect(await endOf(id)).toEqual({ kind: "rested", signals: 0 });
    expect(ran).toEqual([...Array.from({ length: LARGE }, (_, k) => `large${k}`), "last 2"]);
  });
  const last = held();

  test("a dropped step is aborted, and executed again when the engine asks next", async () => {
    const { told, flow } = held();
    const id = await begin(flow);
    await expect.poll(() => told.begun).toBe(1);
    worker.endpoint.drop(id, 1);
    expect(told.aborted).toBe(1);
    await expect.poll(() => told.begun).toBe(2);
    told.letGo();
    expect(await endOf(id)).toEqual({ kind: "rested", signals: 0 });
  });

  test("a step is aborted at once if another worker has taken over its segment", async () => {
    const [here, there] = [held(), held()];
    const id = `run_${runs + 1}`;
    programs.set(`other ${id}`, there.flow);
    await begin(here.flow);
    await expect.poll(() => here.told.begun).toBe(1);
    await startWorker("other");
    // The engine comes back, and finds another worker.
    await restate.kill();
    await restate.restart();
    await expect.poll(() => there.told.begun).toBe(1);
    await expect.poll(() => here.told.aborted).toBe(1);
    there.told.letGo();
    expect(await endOf(id)).toEqual({ kind: "rested", signals: 0 });
    expect([here.told.begun, there.told.begun]).toEqual([1, 1]);
  });

  test("a step is aborted if the engine doesn't reconnect in time", async () => {
    await startWorker("impatient", { lingerMs: 50 });
    for (const other of workers.splice(0, workers.length - 1)) other.kill();
    const { told, flow } = held();
    const id = await begin(flow);
    await expect.poll(() => told.begun).toBe(1);
    await restate.kill();
    await expect.poll(() => told.aborted).toBe(1);
    await restate.restart();
    await expect.poll(() => told.begun).toBe(2);
    told.letGo();
    expect(await endOf(id)).toEqual({ kind: "rested", signals: 0 });
  });

  test("a step of a stopping worker finishes, and another worker continues the run", async () => {
    const ran: string[] = [];
    const flow = (by: string) => async (ctx: DurableContext<RunEvent>) => {
      for (const [key, ms] of [
        ["one", 300],
        ["two", 10],
      ] as const) {
        const step = ctx.step(key, async () => {
          ran.push(`${by} begins ${key}`);
          await pause(ms);
          ran.push(`${by} ends ${key}`);
          return null;
        });
        await ctx.next([step]);
      }
    };
    const id = `run_${runs + 1}`;
    programs.set(`second ${id}`, flow("second"));
    await begin(flow("first"));
    await expect.poll(() => ran).toEqual(["first begins one"]);
    const first = worker;
    await startWorker("second");
    await first.endpoint.drain(5_000);
    first.kill();
    expect(await endOf(id)).toEqual({ kind: "rested", signals: 0 });
    expect(ran).toEqual(["first begins one", "first ends one", "second begins two", "second ends two"]);
    const told = news.of(id).flatMap(({ turns }) => turns.map(({ turn, key }) => `${turn} ${key}`));
    expect([...new Set(told)]).toEqual(["1 null", "2 one", "3 two"]);
  });
});

test("results that arrive together share an entry, and the steps after them start once it's stored", async () => {
  const branches = Array.from({ length: 20 }, (_, k) => `branch${k}`);
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  let begun = 0;
  const id = await begin(async (ctx) => {
    const handles = branches.map((key) =>
      ctx.step(key, async () => {
        if (++begun === branches.length) open();
        await opened;
        return key;
      }),
    );
    for (const _ of branches) await ctx.next(handles);
  });
  await news.ended(id);
  const all = news.of(id);
  expect(all.flatMap(({ turns }) => turns.map(({ turn }) => turn))).toEqual(
    branches.map((_, k) => k + 1).concat(21),
  );
  expect(all.length).toBeLessThan(8);
});

describe("unauthorized access", () => {
  test("the engine's storage shows nothing of a run's content", async () => {
    const secret = "the customer's question is whether";
    let release = () => {};
    const id = await begin(async (ctx) => {
      say(ctx, 2, secret);
      await ctx.next([ctx.step("one", () => new Promise((resolve) => (release = () => resolve(secret))))]);
      await ctx.next([ctx.signal("go")]);
    });
    await expect.poll(() => news.of(id).length).toBe(1);
    await restate.client.deliver({ run_id: id, stretch: 1, index: 1, name: "later", value: secret });
    release();
    await expect.poll(() => news.of(id).length).toBe(2);
    const tables = ["sys_journal", "sys_invocation", "sys_promise", "state"];
    const kept = await Promise.all(
      tables.map((table) => queryRestate(restate.admin, `select * from ${table}`)),
    );
    const text = JSON.stringify(kept);
    expect(text).toContain(id);
    for (const form of [
      secret,
      Buffer.from(secret).toString("hex"),
      Buffer.from(secret).toString("base64").slice(0, 40),
    ])
      expect(text).not.toContain(form);
    await restate.client.deliver({ run_id: id, stretch: 1, index: 2, name: "go", value: null });
    expect(await endOf(id)).toEqual({ kind: "rested", signals: 2 });
  });

  test("an unsealed message starts no run", async () => {
    let isBegun = false;
    const id = `run_${++runs}`;
    programs.set(id, async () => {
      isBegun = true;
    });
    const answer = await fetch(`${restate.ingress}/troupe/${id}.1/run/send`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(stretchStart(id)),
    });
    expect(answer.status).toBe(202);
    const outcome = `select status, completion_result from sys_invocation where target_service_key = '${id}.1'`;
    await expect
      .poll(() => queryRestate(restate.admin, outcome))
      .toEqual([{ status: "completed", completion_result: "failure" }]);
    expect(isBegun).toBe(false);
  });

  test("a message that is unsealed or sealed for another segment changes nothing", async () => {
    const heard: unknown[] = [];
    const id = await begin(async (ctx) => {
      const { result } = await ctx.next([ctx.signal("go")]);
      heard.push(result);
    });
    const forge = async (key: string, handler: string, body: BodyInit) => {
      const url = `${restate.ingress}/troupe/${key}/${handler}/send`;
      const answer = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      expect(answer.status).toBe(202);
      const { invocationId } = z.object({ invocationId: z.string() }).parse(await answer.json());
      const open = `select id from sys_invocation where id = '${invocationId}' and status <> 'completed'`;
      await expect.poll(() => queryRestate(restate.admin, open)).toEqual([]);
    };
    const sealed = (body: object) => new Uint8Array(restate.sealer.seal(Buffer.from(JSON.stringify(body))));
    const signal = { run_id: "run_other", stretch: 1, index: 1, name: "go", value: "forged" };
    await forge(`${id}.1`, "deliver", JSON.stringify({ ...signal, run_id: id }));
    await forge(`${id}.1`, "deliver", sealed(signal));
    await forge("run_copy.1", "run", sealed(stretchStart(id)));
    await restate.client.deliver({ ...signal, run_id: id, value: "real" });
    expect(await endOf(id)).toMatchObject({ kind: "rested" });
    expect(heard).toEqual([{ ok: true, value: "real" }]);
  });

  test("an unsigned request can neither invoke a worker nor list its services", async () => {
    const statuses = await Promise.all(
      ["/discover", "/invoke/troupe/run", "/invoke/troupe/deliver"].map(statusOf),
    );
    expect(statuses).toEqual([401, 401, 401]);
  });
});

describe("an unreachable server", () => {
  test("a server that was unreachable receives the progress of runs later, in order", async () => {
    const heard: (number | string)[] = [];
    let isAway = true;
    await startWorker("patient", {
      server: {
        ...news,
        journal: async () => null,
        postNews: async ({ turns, end }) => {
          if (isAway) throw new Error("The server does not answer.");
          heard.push(...turns.map(({ turn }) => turn), ...(end ? [end.kind] : []));
        },
      },
    });
    for (const other of workers.splice(0, workers.length - 1)) other.kill();
    let isOver = false;
    const id = await begin(async (ctx) => {
      for (const key of ["one", "two", "three"]) await ctx.next([ctx.step(key, () => key)]);
      isOver = true;
    });
    await expect.poll(() => isOver).toBe(true);
    const status = async (): Promise<unknown> =>
      await queryRestate(
        restate.admin,
        `select status from sys_invocation where target_service_key = '${id}.1'`,
      );
    await pause(200);
    expect([heard, await status()]).toEqual([[], [{ status: "running" }]]);
    isAway = false;
    await expect.poll(status).toEqual([{ status: "completed" }]);
    expect(heard).toEqual([1, 2, 3, 4, "rested"]);
  });
});

function statusOf(asked: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const session = http2.connect(`http://127.0.0.1:${port}`);
    session.on("error", reject);
    const request = session.request({
      ":method": "POST",
      ":path": asked,
      "content-type": "application/vnd.restate.invocation.v5",
    });
    request.on("response", (headers) => {
      resolve(headers[":status"]);
      request.close();
      session.close();
    });
    request.end();
  });
}
