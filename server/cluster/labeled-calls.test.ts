import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { sized } from "@/server/testing/thorough";
import { toolAtWorkers } from "@/server/tools/at-workers";
import { defineTool } from "@/server/tools/define";
import { newToolHost } from "@/server/tools/host";
import { OperatorTool } from "@/server/tools/operator/file";
import { ToolsRegistry } from "@/server/tools/registry";
import { RequestRejected } from "./internal-api";
import { type InternalParts, internalRoutes } from "./internal-routes";
import { ConnectionEndpoint } from "./worker/connection-endpoint";
import { ControlAway, type ControlClient, ControlRejected } from "./worker/control-client";
import { newServed } from "./worker/served-tools";
import { newRemoteTools } from "./worker/worker";
import { WorkerConnections } from "./worker-connections";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const LABEL = "gpu";
const CALLS = 12;
const PATIENT = { timeout: sized(60_000, 1_800_000) };
const RETRY_MS = [100, 2_000] as const;

/** The same numbers for the same seed, from 0 to below 1 (mulberry32). */
function newRandom(seed: number) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A server, workers with a label and callers without one, over a network that loses, delays and repeats messages. */
function newWorld(seed: number, { errorRate = 0.05 }: { errorRate?: number } = {}) {
  const random = newRandom(seed);
  const between = (low: number, high: number) => low + Math.floor(random() * (high - low));
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  /** How often each call took effect, and the workers that died after it did and before its answer was known. */
  const effects = new Map<string, number>();
  const deaths = new Map<string, number>();
  const count = (of: Map<string, number>, key: string) => of.set(key, (of.get(key) ?? 0) + 1);

  type Server = {
    lines: WorkerConnections;
    routes: ReturnType<typeof internalRoutes>;
    ended: AbortController;
  };
  let server: Server | null = null;
  const cuts = new Set<AbortController>();

  function startServer() {
    const lines = new WorkerConnections();
    const registry = new ToolsRegistry();
    const declared = OperatorTool.parse({
      name: "render",
      type: "script",
      description: "Takes effect.",
      command: ["true"],
      input: { type: "object", properties: {} },
      worker_label: LABEL,
    });
    registry.register(toolAtWorkers({ ...declared, worker_label: LABEL }, lines));
    const nothing = () => {
      throw new Error("Nothing asks for that here.");
    };
    const tools = newToolHost({ registry, keep: nothing, forget() {}, matches: nothing, runCode: nothing });
    const unused = {} as Pick<InternalParts, "runs" | "providers" | "workers">;
    const routes = internalRoutes({ ...unused, tools, lines, keep: nothing, redact: (value) => value });
    server = { lines, routes, ended: new AbortController() };
  }
  function killServer() {
    server?.ended.abort();
    server?.lines.stop();
    server = null;
  }

  /** One request, as a connection carries it. */
  async function request(path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    const cut = new AbortController();
    const lost = () => new ControlAway("The connection is lost.");
    await pause(between(1, 30));
    const to = server;
    if (!to || random() < errorRate) throw lost();
    signal.throwIfAborted();
    const serve = async (gone: AbortSignal) => {
      const route = to.routes.find((one) => one.path === `/${path}`);
      if (!route) throw new Error(`No ${path}.`);
      const search = new URLSearchParams();
      return JSON.stringify(
        (await route.serve(JSON.parse(JSON.stringify(body)), { search, signal: gone })) ?? null,
      );
    };
    cuts.add(cut);
    const gone = AbortSignal.any([cut.signal, signal, to.ended.signal]);
    const isGone = new Promise<never>((_resolve, reject) => {
      gone.addEventListener("abort", () => reject(lost()), { once: true });
    });
    isGone.catch(() => {});
    if (random() < errorRate)
      void pause(between(0, 200)).then(() => {
        if (server === to) serve(gone).catch(() => {});
      });
    try {
      const answer = await Promise.race([serve(gone), isGone]);
      await Promise.race([pause(between(1, 30)), isGone]);
      if (random() < errorRate) throw lost();
      return JSON.parse(answer) as unknown;
    } catch (error) {
      throw error instanceof RequestRejected
        ? new ControlRejected(error.status, error.code, error.message)
        : error;
    } finally {
      cuts.delete(cut);
    }
  }
  function newControl(dead: AbortSignal): Pick<ControlClient, "ask" | "insist"> {
    const ask: ControlClient["ask"] = (path, body, { signal } = {}) =>
      request(path, body, signal ? AbortSignal.any([dead, signal]) : dead);
    return {
      ask,
      async insist(path, body, options = {}) {
        for (let wait: number = RETRY_MS[0]; ; wait = Math.min(wait * 2, RETRY_MS[1])) {
          try {
            return await ask(path, body, options);
          } catch (error) {
            if (dead.aborted) return new Promise(() => {});
            if (options.signal?.aborted) throw options.signal.reason;
            if (!(error instanceof ControlAway)) throw error;
            await pause(wait);
          }
        }
      },
    };
  }

  let starts = 0;
  function startWorker(name: string) {
    const dead = new AbortController();
    const unanswered = new Set<string>();
    const render = defineTool({
      name: "render",
      description: "Takes effect.",
      input: z.object({}),
      source: "operator",
      risk: "LOW",
      async execute(_input, { idempotencyKey, signal }) {
        if (dead.signal.aborted) return new Promise<never>(() => {});
        count(effects, idempotencyKey);
        unanswered.add(idempotencyKey);
        const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
        await Promise.race([pause(between(0, random() < 0.2 ? 30_000 : 2_000)), aborted]);
        return { made: idempotencyKey };
      },
    });
    const line = new ConnectionEndpoint({
      control: newControl(dead.signal),
      served: newServed([render]),
      about: { worker: `${name}.${++starts}`, name, labels: [LABEL] },
      redact: (value) => value,
      log: () => {},
    });
    line.start();
    return {
      name,
      answered: (key: string) => unanswered.delete(key),
      kill() {
        dead.abort();
        for (const key of unanswered) count(deaths, key);
      },
    };
  }

  startServer();
  const workers = ["gpu-1", "gpu-2", "gpu-3"].map(startWorker);
  const outputs = new Map<string, unknown>();
  const caller = newRemoteTools(newControl(new AbortController().signal), []);
  return {
    random,
    between,
    pause,
    effects,
    deaths,
    outputs,
    isUp: () => server !== null,
    startServer,
    killServer,
    cutConnections: () => {
      for (const cut of cuts) cut.abort();
    },
    async replaceWorker(at: number, afterMs: number) {
      const [old] = workers.splice(at, 1);
      old?.kill();
      await pause(afterMs);
      if (old) workers.push(startWorker(old.name));
    },
    end() {
      killServer();
      for (const worker of workers) worker.kill();
      vi.clearAllTimers();
    },
    call(key: string) {
      const scope = {
        signal: new AbortController().signal,
        idempotencyKey: key,
        run: { id: `run_${between(0, 3)}`, workflow_id: null },
        agent: null,
      };
      void caller.invoke("render", {}, scope).then((output) => {
        for (const worker of workers) worker.answered(key);
        outputs.set(key, output);
      });
    },
  };
}

/** Calls at random moments while the server is killed and replaced again and again. */
async function story(seed: number, killsWorkers: boolean) {
  const world = newWorld(seed);
  const { random, between, pause } = world;
  let isOver = false;
  const play = async () => {
    let made = 0;
    while (made < CALLS) {
      await pause(between(0, 1_500));
      const luck = random();
      if (luck < 0.5) world.call(`call-${made++}`);
      else if (luck < 0.75 && world.isUp()) {
        world.killServer();
        const downFor = between(0, random() < 0.1 ? 200_000 : 4_000);
        void pause(downFor).then(world.startServer);
      } else if (luck < 0.85) world.cutConnections();
      else if (killsWorkers && luck < 0.92) void world.replaceWorker(between(0, 3), between(0, 8_000));
    }
    while (world.outputs.size < CALLS) await pause(1_000);
    // Whatever is repeated late shows by now.
    await pause(90_000);
    isOver = true;
  };
  const played = play();
  for (let left = 5_000; !isOver && left > 0; left--) await vi.advanceTimersByTimeAsync(1_000);
  expect(isOver, `seed ${seed} ends`).toBe(true);
  await played;
  world.end();
  return world;
}

const seeds = Array.from({ length: sized(4, 400) }, (_, at) => at + 1);

const isDone = (output: unknown) => z.object({ status_code: z.literal(200) }).safeParse(output).success;

test(
  "a labeled call executes once, however often the server is killed and messages are lost or repeated",
  PATIENT,
  async () => {
    let failed = 0;
    for (const seed of seeds) {
      const { effects, outputs } = await story(seed, false);
      for (const [key, output] of outputs) {
        const made = effects.get(key) ?? 0;
        if (isDone(output))
          expect([seed, output, made]).toEqual([seed, { status_code: 200, output: { made: key } }, 1]);
        else {
          // Of whom so many messages in a row are lost that nothing is heard of it for seconds, the server knows no better.
          expect(output).toMatchObject({ status_code: 503, error: expect.stringContaining("is gone.") });
          expect(made, `seed ${seed}: ${key}`).toBeLessThanOrEqual(1);
          failed++;
        }
      }
    }
    expect(failed).toBeLessThanOrEqual(seeds.length * CALLS * 0.01);
  },
);

test(
  "calls of a killed worker fail with a message or are repeated at most once per death",
  PATIENT,
  async () => {
    for (const seed of seeds) {
      const { effects, deaths, outputs } = await story(seed + 10_000, true);
      for (const [key, output] of outputs) {
        const made = effects.get(key) ?? 0;
        expect(made, `seed ${seed}: ${key}`).toBeLessThanOrEqual(1 + (deaths.get(key) ?? 0));
        if (isDone(output)) expect(made).toBeGreaterThan(0);
        else expect(output, `seed ${seed}: ${key}`).toMatchObject({ status_code: 503 });
      }
    }
  },
);
