import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { type Disk, NO_DISK, newDisk } from "@/db/disk";
import { type Db, openDb } from "@/db/open";
import { emptyDb } from "@/db/testing";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { RunEvent } from "@/server/domain/run/events";
import { draw } from "@/server/domain/testing/drawing";
import { newRunStore } from "@/server/store/runs/runs";
import { verifyLogs } from "@/server/store/runs/verify-log";
import { sized } from "@/server/testing/thorough";
import { defineTool } from "@/server/tools/define";
import { Host } from "../lifecycle/host";
import { fakeModels, fakeTools, role } from "../testing";

/*
 * What a power cut leaves of the database is made as follows. The log of the database (its WAL) only grows while no
 * checkpoint runs, which this test sees to. A cut keeps all of it up to where it stood when the last finished sync
 * began; of what was written after that, each sector of 512 bytes is kept or lost by chance, and the file may end
 * anywhere in it. Pages in the main file are as they were: SQLite syncs the log before it moves any, and the main
 * file after.
 */

const SECTOR = 512;
const CUTS = sized(200, 1_000);
/** Each so many cuts the server is started on what is left, and the runs go on to their ends. */
const RESUMED = 25;
const folder = mkdtempSync(path.join(os.tmpdir(), "troupe-power-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Pseudo-random numbers from 0 to 1, the same in each run of the test. */
function newRandom(seed: number) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** What the world outside knows: calls in the order in which they began and ended, and what was acknowledged. */
interface World {
  calls: { run: string; key: string }[];
  acks: { run: string; what: "start" | "answer" | "end" }[];
}
/** One instant: how long the log was, how much of it was safe, how much of the world had happened. */
interface Moment {
  written: number;
  synced: number;
  calls: number;
  acks: number;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const NAMES = Array.from({ length: 5 }, (_, k) => `run ${k}`);
const act = (at: string, tool_name: string) => ({
  node_type: "tool_call",
  config: { tool_name, args: { at, who: { $template: "{{who}}" } } },
});
const graph = draw("start > a > b > one > c > two > d > ask > e > w > three > f > end", {
  one: act("one", "act"),
  two: act("two", "act"),
  ask: {
    node_type: "agent_task",
    config: { required_role: "Worker", task_description_template: "Help {{who}}." },
  },
  three: act("three", "confirmed"),
});

/** A server whose tools and models change the world; each thing that happens is a moment. */
function newServer(db: Db, disk: Disk, moment: () => void) {
  const world: World = { calls: [], acks: [] };
  const random = newRandom(7);
  const call = async (run: string, key: string) => {
    world.calls.push({ run, key });
    moment();
    await pause(random() * 3);
    moment();
  };
  const ack = (run: string, what: World["acks"][number]["what"]) => {
    world.acks.push({ run, what });
    moment();
  };
  const tool = (name: string, risk: "LOW" | "HIGH") =>
    defineTool({
      name,
      description: "Changes the world",
      input: z.object({ at: z.string(), who: z.string() }),
      source: "builtin",
      risk,
      execute: async ({ who, at }) => {
        await call(who, `tool ${at}`);
        return {};
      },
    });
  const models = fakeModels(async ({ messages }) => {
    await call(/run \d+/.exec(JSON.stringify(messages))![0], "model");
    return "done";
  });
  const store = newRunStore(db);
  const write = store.write.bind(store);
  store.write = (writes) => {
    write(writes);
    moment();
  };
  const tools = fakeTools([tool("act", "LOW"), tool("confirmed", "HIGH")]);
  const host = new Host({ store, disk, effects: { models, tools } });
  const nameOf = (id: string) => store.state(id)!.input.who as string;
  host.watchers.watch(({ run_id, status }) => {
    if (status === "finished") ack(nameOf(run_id), "end");
  });

  return {
    world,
    host,
    async start(who: string) {
      host.start({
        workflow_id: null,
        workflow_name: who,
        graph,
        roles: [role("Worker")],
        input: { who },
        config: RunConfig.parse({}),
        trigger: "test",
        provider_summary: null,
      });
      await disk.sync();
      ack(who, "start");
    },
    /** Answers all questions as a person would, until every run has ended. */
    async finish() {
      while (store.countUnfinished() > 0) {
        for (const { id } of store.unfinished())
          for (const { status, requested } of Object.values(store.state(id)!.interactions)) {
            const yes = { answer: "approve", by: "somebody" } as const;
            if (
              status !== "open" ||
              !host.steering.answer(id, requested.interaction_id, requested.fingerprint, yes)
            )
              continue;
            await disk.sync();
            ack(nameOf(id), "answer");
          }
        await pause(2);
      }
      await host.drain(0);
    },
  };
}

/** Carries out all runs once and notes every moment of it. */
async function record(real: boolean) {
  const file = path.join(mkdtempSync(path.join(folder, "whole-")), "troupe.db");
  const db = openDb(file);
  db.$client.pragma("wal_autocheckpoint = 0");
  db.$client.pragma("wal_checkpoint(TRUNCATE)");
  const pages = readFileSync(file);
  const size = () => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const moments: Moment[] = [];
  let synced = 0;
  const moment = () =>
    void moments.push({ written: size(), synced, calls: world.calls.length, acks: world.acks.length });
  const realSync = real ? newDisk(db.$client).sync : NO_DISK.sync;
  const disk: Disk = {
    async sync() {
      const before = size();
      await realSync();
      if (real) synced = Math.max(synced, before);
      moment();
    },
  };
  const server = newServer(db, disk, moment);
  const { world } = server;
  await Promise.all(NAMES.map((name) => server.start(name)));
  await server.finish();
  const log = readFileSync(`${file}-wal`);
  db.$client.close();
  return { pages, log, world, moments };
}

type Recorded = Awaited<ReturnType<typeof record>>;

/** The database as the cut leaves it. */
function cut({ pages, log }: Recorded, { written, synced }: Moment, random: () => number): string {
  const left = Buffer.from(log.subarray(0, written));
  const keeps = random();
  for (let at = synced; at < written; at = (Math.floor(at / SECTOR) + 1) * SECTOR)
    if (random() > keeps) left.fill(0, at, Math.min(written, (Math.floor(at / SECTOR) + 1) * SECTOR));
  const end = random() < 0.5 ? written : synced + Math.floor(random() * (written - synced));
  const file = path.join(mkdtempSync(path.join(folder, "cut-")), "troupe.db");
  writeFileSync(file, pages);
  writeFileSync(`${file}-wal`, left.subarray(0, end));
  return file;
}

/** What was promised at that moment and is not in what is left. */
function lost(file: string, recorded: Recorded, moment: Moment): string[] {
  const client = new Database(file, { readonly: true });
  try {
    const rows = client
      .prepare<[], { name: string; status: string; events: string; answered: number }>(
        `select workflow_name as name, status, (select '[' || group_concat(events, ',') || ']' from run_turns where run_id = id) as events,
         exists (select 1 from run_signals where run_id = id and name like 'answer:%') as answered from runs`,
      )
      .all();
    const runs = new Map(rows.map((row) => [row.name, row]));
    const holds = {
      start: () => true,
      answer: (run: (typeof rows)[number]) => run.answered === 1,
      end: (run: (typeof rows)[number]) => run.status === "finished",
    };
    const { calls, acks } = recorded.world;
    return [
      ...acks.slice(0, moment.acks).flatMap(({ run, what }) => {
        const row = runs.get(run);
        return row && holds[what](row) ? [] : [`${run}: ${what}`];
      }),
      ...calls.slice(0, moment.calls).flatMap(({ run, key }) => {
        const [kind, at] = key.split(" ");
        const events = (JSON.parse(runs.get(run)?.events ?? "[]") as RunEvent[][]).flat();
        const begun = events.some(
          ({ type, node_id }) =>
            type === (kind === "model" ? "llm_call_started" : "tool_call_started") && (!at || node_id === at),
        );
        return begun ? [] : [`${run}: ${key} began`];
      }),
      ...verifyLogs({ $client: client }).errors.map(({ message }) => message),
    ];
  } finally {
    client.close();
  }
}

/** Calls that were made again though something had followed from them, or that never were made. */
async function repeated(file: string, recorded: Recorded, moment: Moment): Promise<string[]> {
  const before = recorded.world.calls.slice(0, moment.calls);
  const acks = recorded.world.acks.slice(0, moment.acks);
  const db = openDb(file);
  const server = newServer(db, newDisk(db.$client), () => {});
  server.host.recover();
  await server.finish();
  const wrong: string[] = [];
  for (const { run } of acks.filter(({ what }) => what === "start")) {
    const made = before.filter((call) => call.run === run).map(({ key }) => key);
    const hasEnded = acks.some((other) => other.run === run && other.what === "end");
    const followed = hasEnded ? made : made.slice(0, -1);
    const again = server.world.calls.filter((call) => call.run === run).map(({ key }) => key);
    wrong.push(...followed.filter((key) => again.includes(key)).map((key) => `${run}: ${key} again`));
    if (new Set([...made, ...again]).size !== 4) wrong.push(`${run}: ${[...made, ...again].join()}`);
  }
  wrong.push(...verifyLogs(db).errors.map(({ message }) => message));
  db.$client.close();
  return wrong;
}

test("a power cut at any moment loses nothing acknowledged and repeats no step that others depend on", async () => {
  const recorded = await record(true);
  expect(recorded.moments.length).toBeGreaterThan(100);
  const random = newRandom(1);
  let torn = 0;
  for (let at = 0; at < CUTS; at++) {
    const moment = recorded.moments[Math.floor(random() * recorded.moments.length)]!;
    if (moment.written > moment.synced) torn++;
    const file = cut(recorded, moment, random);
    expect({ moment, lost: lost(file, recorded, moment) }).toEqual({ moment, lost: [] });
    if (at % RESUMED === 0)
      expect({ moment, repeated: await repeated(file, recorded, moment) }).toEqual({ moment, repeated: [] });
    rmSync(path.dirname(file), { recursive: true });
  }
  expect(torn).toBeGreaterThan(CUTS / 10);
}, 120_000);

test("the same power cuts lose data if nothing is synced, so the test can fail", async () => {
  const recorded = await record(false);
  const random = newRandom(2);
  let losses = 0;
  for (let at = 0; at < 20; at++) {
    const moment = recorded.moments[Math.floor(random() * recorded.moments.length)]!;
    losses += lost(cut(recorded, moment, random), recorded, moment).length;
  }
  expect(losses).toBeGreaterThan(0);
});

test("a call is made only after its start is recorded on disk", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = newServer(emptyDb(), { sync: () => held }, () => {});
  void server.start("run 0");
  await pause(30);
  expect(server.world.calls).toEqual([]);
  release();
  await server.finish();
  expect(server.world.calls.map(({ key }) => key)).toEqual(["tool one", "tool two", "model", "tool three"]);
});
