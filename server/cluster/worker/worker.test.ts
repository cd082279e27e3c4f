import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newModels } from "@/server/llm/models";
import { ask, endServersWithTests, newIo, newServer, sendSse, sse } from "@/server/llm/testing";
import { readWorkerSettings } from "@/server/settings";
import { type ControlSide, newControlSide, SECRET_KEY, TOKEN } from "../testing";
import { Worker } from "./worker";

endServersWithTests();
let side: ControlSide;
let workers: Worker[];
beforeEach(async () => {
  workers = [];
  side = newControlSide();
  await side.start();
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await side.stop();
});

const logged: string[] = [];
async function newWorkerHere(name: string, more: Record<string, string> = {}) {
  const env = {
    TROUPE_SECRET_KEY: SECRET_KEY,
    TROUPE_WORKER_TOKEN: TOKEN,
    TROUPE_CONTROL_URL: side.url,
    TROUPE_WORKER_NAME: name,
    ...more,
  };
  const worker = new Worker({
    settings: readWorkerSettings("box", env),
    env: env as unknown as NodeJS.ProcessEnv,
    version: "1.2.3",
    address: "127.0.0.1:1",
    log: (_level, message) => void logged.push(message),
    fetch: globalThis.fetch,
    everyMs: 100,
  });
  await worker.connect();
  worker.announce(() => 3);
  workers.push(worker);
  return worker;
}

/**
 * A service that notes how many calls it has at the same time. It answers once it has `together` calls; the last ones,
 * which may be fewer, wait a second.
 */
async function newProvider(
  settings: { max_concurrency?: number; max_requests_per_minute?: number },
  together = 1,
) {
  let now = 0;
  const waiting: (() => void)[] = [];
  const answer = () => {
    for (const send of waiting.splice(0)) send();
  };
  const seen = { most: 0, calls: 0, by: {} as Record<string, number> };
  const service = await newServer(({ body }, response) => {
    seen.calls++;
    seen.most = Math.max(seen.most, ++now);
    const who = /from (\w+)/.exec(JSON.stringify(body))?.[1] ?? "";
    seen.by[who] = (seen.by[who] ?? 0) + 1;
    const timer = setTimeout(answer, 1_000);
    waiting.push(() => {
      clearTimeout(timer);
      now--;
      sendSse(response, sse(["done"]));
    });
    // Time for calls beyond the limit to show up.
    if (waiting.length >= together) setTimeout(answer, 20);
  });
  const { id } = side.providers.save({
    name: "Acme",
    base_url: service.url,
    default_model: "acme-1",
    key: "an acme key of some length",
    settings,
  });
  side.providers.setDefault(id);
  return seen;
}
let calls = 0;
const call = (worker: Pick<Worker, "effects">, who: string) =>
  worker.effects.models.complete(ask(`Hello from ${who}`, { call_id: `call_${++calls}` }), newIo().io);
const times = <T>(count: number, work: () => T) => Array.from({ length: count }, work);

describe("two workers and a server that call the same provider", () => {
  test("two workers and a server together respect a provider's limit, and all make progress", async () => {
    const seen = await newProvider({ max_concurrency: 2 }, 2);
    const [one, two] = [await newWorkerHere("one"), await newWorkerHere("two")];
    const server = {
      effects: { models: newModels({ providers: side.providers, gates: side.limits.gates, fetch }) },
    };
    await Promise.all([
      ...times(8, () => call(one, "one")),
      ...times(8, () => call(two, "two")),
      ...times(3, () => call(server, "server")),
    ]);
    expect(seen).toEqual({ most: 2, calls: 19, by: { one: 8, two: 8, server: 3 } });
  });

  test("two workers take turns if a provider allows one call", async () => {
    const seen = await newProvider({ max_concurrency: 1 });
    const [one, two] = [await newWorkerHere("one"), await newWorkerHere("two")];
    await Promise.all([...times(3, () => call(one, "one")), ...times(3, () => call(two, "two"))]);
    expect(seen).toEqual({ most: 1, calls: 6, by: { one: 3, two: 3 } });
  });

  test("workers keep their shares while the server is unavailable and respect the limit afterwards", async () => {
    const seen = await newProvider({ max_concurrency: 2 }, 2);
    const [one, two] = [await newWorkerHere("one"), await newWorkerHere("two")];
    await Promise.all([call(one, "one"), call(two, "two")]);
    await side.stop();
    const rest = [...times(4, () => call(one, "one")), ...times(4, () => call(two, "two"))];
    await Promise.all([call(one, "one"), call(two, "two")]);
    await side.start();
    await Promise.all(rest);
    expect(seen).toEqual({ most: 2, calls: 12, by: { one: 6, two: 6 } });
  });
});

describe("worker lifecycle", () => {
  test("a worker reports its state, and that it stops", async () => {
    const worker = await newWorkerHere("north", { TROUPE_WORKER_LABELS: "gpu, eu", TROUPE_WORKER_RUNS: "4" });
    const list = () =>
      side.workers.list().map(({ id: _id, memory_bytes, seen_at, ...reported }) => ({
        ...reported,
        isReported: memory_bytes > 0 && seen_at > 0,
      }));
    await expect.poll(list).toEqual([
      {
        name: "north",
        version: "1.2.3",
        labels: ["gpu", "eu"],
        address: "127.0.0.1:1",
        state: "working",
        running: 3,
        limit: 4,
        isReported: true,
      },
    ]);
    await worker.drain();
    expect(list()).toMatchObject([{ state: "draining" }]);
    await worker.stop();
    expect(list()).toMatchObject([{ state: "gone" }]);
  });

  test("a worker calls the default provider that was just set", async () => {
    const worker = await newWorkerHere("north");
    const seen = await newProvider({});
    await call(worker, "north");
    await call(worker, "north");
    expect(seen.by).toEqual({ north: 2 });
  });

  test("a worker with another token or key than the server's doesn't start", async () => {
    await expect(newWorkerHere("north", { TROUPE_WORKER_TOKEN: "x".repeat(32) })).rejects.toThrow(
      "set TROUPE_WORKER_TOKEN to the same value as on the server",
    );
    await expect(
      newWorkerHere("north", { TROUPE_SECRET_KEY: Buffer.alloc(32).toString("base64") }),
    ).rejects.toThrow("set TROUPE_SECRET_KEY to the same value as on the server");
  });

  test("a worker waits for a server that hasn't started yet", async () => {
    await side.stop();
    const coming = newWorkerHere("north");
    await expect.poll(() => logged).toContain(`Waiting for the server at ${side.url}.`);
    await side.start();
    await coming;
    expect(side.heard.news).toEqual([]);
  });

  test("a worker forwards partial output in order and repeats all of it after a loss", async () => {
    const worker = await newWorkerHere("north");
    const write = (offset: number, text: string) =>
      worker.live("run_a", { type: "llm_delta", call_id: "c", channel: "content", offset, text });
    const shown = () => side.heard.live.map((news) => JSON.stringify(news)).join("");
    write(0, "One ");
    await expect.poll(shown).toContain("One ");
    await side.stop();
    write(4, "two ");
    await pause(120);
    await side.start();
    write(8, "three!");
    await expect.poll(shown).toContain("three!");
    const text = side.heard.live
      .flatMap((news) => (news as { frames: { offset: number; text: string }[] }).frames)
      .reduce((before, { offset, text: more }) => (offset === 0 ? more : before + more), "");
    expect(text).toBe("One two three!");
  });
});
