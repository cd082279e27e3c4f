import { describe, expect, test } from "vitest";
import { Cancelled, type DurableContext, type Settlement } from "@/server/domain/base/durable";
import type { Json } from "@/server/domain/base/values";

/** What an engine offers to the suite: begin programs, end the process, begin again on the same log. */
export interface EngineUnderTest {
  /** Runs a program of the seam under a run id; resolves when it has returned. */
  start(runId: string, program: Program): Promise<void>;
  signal(runId: string, name: string, value: Json): void;
  cancel(runId: string): void;
  /** Resolves once every run that was begun waits for what comes from outside, and what it told is recorded. */
  recorded(): Promise<void>;
  /** Ends the process at once, as if by kill -9. Nothing that was not recorded survives. */
  kill(): void;
  /** A new process on the same log; it takes up what had not ended. */
  restart(): void;
  /** The data of the events that were recorded, in order. */
  events(runId: string): string[];
  /** Sends every record of the run once more to where records are kept, as a carrier that delivers at least once may. */
  redeliver(runId: string): void;
  /** Deletes the run with all that is kept of it. */
  remove(runId: string): void;
}
export type Program = (ctx: DurableContext) => Promise<void>;

/** An event of a test program, shaped so that any engine can store it. */
const emitMessage = (ctx: DurableContext, seq: { n: number }, what: string) =>
  ctx.emit({ type: "warning", seq: ++seq.n, ts: 0, payload: { code: "TEST", message: what } });
const until = async (holds: () => boolean) => {
  for (let k = 0; k < 2000 && !holds(); k++) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(holds()).toBe(true);
};

/** The promises of the seam, told as stories. Every engine must pass all of them. */
export function describeDurableEngine(name: string, newEngine: () => EngineUnderTest) {
  describe(`${name} keeps the promises of the seam`, () => {
    test("a step that was recorded never runs again, one that was in progress does", async () => {
      const engine = newEngine();
      const ran: string[] = [];
      let hold = true;
      const program: Program = async (ctx) => {
        const seq = { n: 1 };
        const one = ctx.step("one", () => (ran.push("one"), 1));
        await ctx.next([one]);
        const two = ctx.step("two", async () => {
          ran.push("two");
          if (hold) await new Promise(() => {});
          return 2;
        });
        const { result } = await nextOf(ctx, [two]);
        emitMessage(ctx, seq, `two gave ${result.ok ? JSON.stringify(result.value) : "an error"}`);
      };
      void engine.start("r", program);
      await until(() => ran.includes("two"));
      engine.kill();
      hold = false;
      engine.restart();
      await engine.start("r", program);
      expect(ran).toEqual(["one", "two", "two"]);
      expect(engine.events("r")).toEqual(["two gave 2"]);
    });

    test("killed in the middle of a fan-out, it repeats only what was not recorded, and tells it once", async () => {
      const engine = newEngine();
      const ran: string[] = [];
      let slow = true;
      const program: Program = async (ctx) => {
        const seq = { n: 1 };
        const open = new Map(
          Array.from({ length: 8 }, (_, k) => {
            const handle = ctx.step(`branch${k}`, async () => {
              ran.push(`branch${k}`);
              await new Promise((resolve) => setTimeout(resolve, slow && k >= 4 ? 1e9 : 5));
              return k;
            });
            return [handle.key, handle] as const;
          }),
        );
        while (open.size > 0) {
          const { key } = await ctx.next([...open.values()]);
          if (!open.delete(key)) continue;
          emitMessage(ctx, seq, key);
        }
      };
      void engine.start("r", program);
      await until(() => engine.events("r").length >= 3);
      const before = engine.events("r");
      engine.kill();
      slow = false;
      engine.restart();
      await engine.start("r", program);
      const after = engine.events("r");
      expect(after.slice(0, before.length)).toEqual(before);
      expect(after.toSorted()).toEqual(Array.from({ length: 8 }, (_, k) => `branch${k}`));
      for (const key of before) expect(ran.filter((other) => other === key)).toHaveLength(1);
    });

    test("the answers come back in the same order, however long the steps take the second time", async () => {
      const engine = newEngine();
      const orders: string[][] = [];
      let flip = false;
      const program: Program = async (ctx) => {
        const order: string[] = [];
        orders.push(order);
        const a = ctx.step(
          "a",
          () => new Promise<Json>((resolve) => setTimeout(() => resolve("a"), flip ? 40 : 5)),
        );
        const b = ctx.step(
          "b",
          () => new Promise<Json>((resolve) => setTimeout(() => resolve("b"), flip ? 5 : 40)),
        );
        const take = async (handles: Parameters<DurableContext["next"]>[0]) => {
          const answer = await nextOf(ctx, handles);
          order.push(answer.key);
          return answer;
        };
        await take([a, b]);
        await take([a, b]);
        const gate = ctx.signal("gate");
        await nextOf(ctx, [gate]);
      };
      void engine.start("r", program);
      await until(() => orders[0]?.length === 2);
      await engine.recorded();
      engine.kill();
      flip = true;
      engine.restart();
      const done = engine.start("r", program);
      engine.signal("r", "gate", null);
      await done;
      expect(orders.map((order) => order.join())).toEqual(["a,b", "a,b"]);
    });

    test("a signal sent before anyone waits is kept, and the first value wins", async () => {
      const engine = newEngine();
      let got: Json = null;
      const program: Program = async (ctx) => {
        await nextOf(ctx, [ctx.sleep("nap", 40)]);
        const { result } = await nextOf(ctx, [ctx.signal("go")]);
        got = result.ok ? result.value : "error";
      };
      const done = engine.start("r", program);
      engine.signal("r", "go", "first");
      engine.signal("r", "go", "second");
      await done;
      expect(got).toBe("first");
    });

    test("a flow can tell before its end whether a signal was sent, and tells the same on a replay", async () => {
      const engine = newEngine();
      const seen: boolean[][] = [];
      const program: Program = async (ctx) => {
        const [sent, never] = [ctx.signal("sent"), ctx.signal("never")];
        await nextOf(ctx, [sent, never]);
        seen.push([ctx.isSent("sent"), ctx.isSent("never")]);
        if (seen.length === 1) await nextOf(ctx, [never]);
      };
      void engine.start("r", program);
      engine.signal("r", "sent", 1);
      await until(() => seen.length === 1);
      await engine.recorded();
      engine.kill();
      engine.restart();
      await engine.start("r", program);
      expect(seen).toEqual([
        [true, false],
        [true, false],
      ]);
    });

    test("a signal survives the process", async () => {
      const engine = newEngine();
      let got: Json = null;
      const program: Program = async (ctx) => {
        const { result } = await nextOf(ctx, [ctx.signal("go")]);
        got = result.ok ? result.value : "error";
      };
      void engine.start("r", program);
      await engine.recorded();
      engine.kill();
      engine.signal("r", "go", 7);
      engine.restart();
      await engine.start("r", program);
      expect(got).toBe(7);
    });

    test("a sleep is due at the instant that was fixed when it began, across a restart", async () => {
      const engine = newEngine();
      const napOf =
        (ms: number): Program =>
        async (ctx) => {
          await nextOf(ctx, [ctx.sleep("nap", ms)]);
        };
      const began = Date.now();
      void engine.start("r", napOf(600));
      await engine.recorded();
      engine.kill();
      await new Promise((resolve) => setTimeout(resolve, 300));
      engine.restart();
      const ends: string[] = [];
      const end = async (id: string, ms: number) => {
        await engine.start(id, napOf(ms));
        ends.push(id);
      };
      const r = end("r", 600).then(() => Date.now() - began);
      // A sleep that started over at the restart would outlast this one.
      await Promise.all([r, end("new", 450)]);
      expect(await r).toBeGreaterThanOrEqual(595);
      expect(ends).toEqual(["r", "new"]);
    });

    test("cancelling surfaces once, aborts the step in progress, and keeps what is emitted afterwards", async () => {
      const engine = newEngine();
      let aborted = false;
      let times = 0;
      const program: Program = async (ctx) => {
        const seq = { n: 1 };
        const step = ctx.step(
          "long",
          (scope) => new Promise<Json>(() => scope.abort.addEventListener("abort", () => (aborted = true))),
        );
        try {
          await nextOf(ctx, [step]);
        } catch (error) {
          if (!(error instanceof Cancelled)) throw error;
          times++;
          ctx.abandon(step);
          emitMessage(ctx, seq, "cancelled");
        }
      };
      const done = engine.start("r", program);
      await engine.recorded();
      engine.cancel("r");
      await done;
      expect([times, aborted, engine.events("r")]).toEqual([1, true, ["cancelled"]]);
    });

    test("a step that throws settles as an error and is not retried", async () => {
      const engine = newEngine();
      let runs = 0;
      const seen: Settlement[] = [];
      await engine.start("r", async (ctx) => {
        const step = ctx.step("bad", () => {
          runs++;
          throw new TypeError("no");
        });
        seen.push(await nextOf(ctx, [step]));
      });
      expect([runs, seen[0]!.result]).toEqual([
        1,
        { ok: false, error: { name: "TypeError", message: "no" } },
      ]);
    });

    test("inline steps answer at the instant of their turn, in their order, ahead of all that comes from outside", async () => {
      const engine = newEngine();
      const answers: Settlement[] = [];
      await engine.start("r", async (ctx) => {
        const outside = ctx.step("outside", () => 0);
        const inline = [1, 2, 3].map((k) => ctx.step(`inline${k}`, () => k, { inline: true }));
        for (let k = 0; k < 4; k++) answers.push(await nextOf(ctx, [outside, ...inline]));
        const after = ctx.step("after", () => "after", { inline: true });
        answers.push(await nextOf(ctx, [after]));
      });
      expect(answers.map(({ key }) => key)).toEqual(["inline1", "inline2", "inline3", "outside", "after"]);
      expect(answers.map(({ result }) => result.ok && result.value)).toEqual([1, 2, 3, 0, "after"]);
      expect(new Set(answers.slice(0, 3).map(({ at }) => at)).size).toBe(1);
      expect(answers[4]!.at).toBe(answers[3]!.at);
    });

    test("an inline step that throws settles as an error; one that was given up before never answers", async () => {
      const engine = newEngine();
      const answers: Settlement[] = [];
      await engine.start("r", async (ctx) => {
        const pure = (key: string, work: () => Json) => ctx.step(key, work, { inline: true });
        const dropped = pure("dropped", () => 0);
        const bad = pure("bad", () => {
          throw new RangeError("no");
        });
        ctx.abandon(dropped);
        answers.push(await nextOf(ctx, [bad, dropped]));
        answers.push(await nextOf(ctx, [ctx.sleep("nap", 1), dropped]));
      });
      expect(answers.map(({ key, result }) => [key, result])).toEqual([
        ["bad", { ok: false, error: { name: "RangeError", message: "no" } }],
        ["nap", { ok: true, value: null }],
      ]);
    });

    test("a long stretch of inline steps shows its progress, lets a cancel in, and is told once after a kill", async () => {
      const engine = newEngine();
      let seenAtEnd = 0;
      const runSteps = async (ctx: DurableContext, steps: number, prefix: string, seq: { n: number }) => {
        for (let k = 0; k < steps; k++) {
          await nextOf(ctx, [ctx.step(`${prefix}${k}`, () => k, { inline: true })]);
          emitMessage(ctx, seq, `${prefix}${k}`);
        }
      };
      const program: Program = async (ctx) => {
        const seq = { n: 1 };
        try {
          await runSteps(ctx, 1_000, "a", seq);
          seenAtEnd = engine.events("r").length;
          await nextOf(ctx, [ctx.signal("go")]);
          await runSteps(ctx, 100_000, "b", seq);
        } catch (error) {
          if (!(error instanceof Cancelled)) throw error;
          emitMessage(ctx, seq, "cancelled");
        }
      };
      void engine.start("r", program);
      await until(() => engine.events("r").length === 1_000);
      expect(seenAtEnd).toBeGreaterThan(0);
      engine.kill();
      engine.restart();
      const done = engine.start("r", program);
      engine.signal("r", "go", null);
      await until(() => engine.events("r").length > 1_000);
      engine.cancel("r");
      await done;
      const messages = engine.events("r");
      expect(messages.slice(0, 1_000)).toEqual(Array.from({ length: 1_000 }, (_, k) => `a${k}`));
      expect(messages.slice(1_000, -1)).toEqual(
        Array.from({ length: messages.length - 1_001 }, (_, k) => `b${k}`),
      );
      expect([messages.at(-1), messages.length < 101_000]).toEqual(["cancelled", true]);
    });

    test("after a timer the answer says when it came, not when it was due", async () => {
      const engine = newEngine();
      const came: number[] = [];
      const program: Program = async (ctx) => {
        came.push((await nextOf(ctx, [ctx.sleep("nap", 60)])).at);
        await nextOf(ctx, [ctx.signal("never")]);
      };
      void engine.start("r", program);
      await engine.recorded();
      engine.kill();
      await new Promise((resolve) => setTimeout(resolve, 120));
      const up = Date.now();
      engine.restart();
      void engine.start("r", program);
      await until(() => came.length === 1);
      expect(came[0]).toBeGreaterThanOrEqual(up);
      await engine.recorded();
      engine.kill();
      engine.restart();
      void engine.start("r", program);
      await until(() => came.length === 2);
      expect(came[1]).toBe(came[0]);
    });

    test("records that come twice change nothing, and none of a deleted run is kept", async () => {
      const engine = newEngine();
      const program: Program = async (ctx) => {
        const seq = { n: 1 };
        for (const name of ["one", "two"]) {
          await nextOf(ctx, [ctx.sleep(name, 1)]);
          emitMessage(ctx, seq, name);
        }
      };
      await engine.start("r", program);
      engine.redeliver("r");
      expect(engine.events("r")).toEqual(["one", "two"]);
      await engine.start("other", program);
      engine.remove("r");
      engine.redeliver("r");
      expect([engine.events("r"), engine.events("other")]).toEqual([[], ["one", "two"]]);
    });

    test("a handle that is given up before it starts never starts", async () => {
      const engine = newEngine();
      let ran = false;
      await engine.start("r", async (ctx) => {
        const step = ctx.step("dropped", () => {
          ran = true;
          return null;
        });
        ctx.abandon(step);
        await nextOf(ctx, [ctx.sleep("nap", 10)]);
      });
      expect(ran).toBe(false);
    });

    test("a result that is too large to be kept is a failure of the step, not of the engine", async () => {
      const engine = newEngine();
      let settled: Settlement | null = null;
      await engine.start("r", async (ctx) => {
        settled = await nextOf(ctx, [ctx.step("huge", () => "x".repeat(40 * 1024 * 1024))]);
      });
      expect(settled!.result).toMatchObject({ ok: false, error: { name: "ResultTooLarge" } });
    });

    test("what was given up never answers", async () => {
      const engine = newEngine();
      const keys: string[] = [];
      let finish = () => {};
      await engine.start("r", async (ctx) => {
        const slow = ctx.step("slow", () => new Promise<null>((resolve) => (finish = () => resolve(null))));
        const nap = ctx.sleep("nap", 400);
        const fast = ctx.step("fast", () => null);
        keys.push((await nextOf(ctx, [slow, nap, fast])).key);
        for (const handle of [slow, nap]) ctx.abandon(handle);
        finish();
        keys.push((await nextOf(ctx, [ctx.sleep("later", 600)])).key);
      });
      expect(keys).toEqual(["fast", "later"]);
    });
  });
}

/** The next answer that is not the engine's own note of a restart. */
async function nextOf(
  ctx: DurableContext,
  handles: Parameters<DurableContext["next"]>[0],
): Promise<Settlement> {
  for (;;) {
    const answer = await ctx.next(handles);
    if (!answer.key.startsWith("recovered#")) return answer;
  }
}
