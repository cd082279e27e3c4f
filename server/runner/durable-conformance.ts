import { describe, expect, test } from "vitest";
import { Cancelled, type DurableContext, type Settlement } from "@/server/domain/durable";
import type { Json } from "@/server/domain/values";

/** What an engine offers to the suite: begin programs, end the process, begin again on the same log. */
export interface EngineUnderTest {
  /** Runs a program of the seam under a run id; resolves when it has returned. */
  start(runId: string, program: Program): Promise<void>;
  signal(runId: string, name: string, value: Json): void;
  cancel(runId: string): void;
  /** Ends the process at once, as if by kill -9. Nothing that was not recorded survives. */
  kill(): void;
  /** A new process on the same log; it takes up what had not ended. */
  restart(): void;
  /** The data of the events that were recorded, in order. */
  events(runId: string): string[];
}
export type Program = (ctx: DurableContext) => Promise<void>;

/** An event of a test program, shaped so that any engine can store it. */
const say = (ctx: DurableContext, seq: { n: number }, what: string) =>
  ctx.emit({ type: "warning", seq: ++seq.n, ts: 0, payload: { code: "TEST", message: what } });
const soon = () => new Promise((resolve) => setTimeout(resolve, 15));
const until = async (holds: () => boolean) => {
  for (let k = 0; k < 400 && !holds(); k++) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(holds()).toBe(true);
};

/** The promises of the seam, told as stories. Every engine must pass all of them. */
export function describeDurableEngine(name: string, newEngine: () => EngineUnderTest) {
  describe(`${name} keeps the promises of the seam`, () => {
    test("a step that was recorded never runs again, one that was under way does", async () => {
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
        say(ctx, seq, `two gave ${result.ok ? JSON.stringify(result.value) : "an error"}`);
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
          say(ctx, seq, key);
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
      await soon();
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

    test("a signal survives the process", async () => {
      const engine = newEngine();
      let got: Json = null;
      const program: Program = async (ctx) => {
        const { result } = await nextOf(ctx, [ctx.signal("go")]);
        got = result.ok ? result.value : "error";
      };
      void engine.start("r", program);
      await soon();
      engine.kill();
      engine.signal("r", "go", 7);
      engine.restart();
      await engine.start("r", program);
      expect(got).toBe(7);
    });

    test("a sleep is due at the instant that was fixed when it began, across a restart", async () => {
      const engine = newEngine();
      const program: Program = async (ctx) => {
        await nextOf(ctx, [ctx.sleep("nap", 1500)]);
      };
      const began = Date.now();
      void engine.start("r", program);
      await soon();
      engine.kill();
      await new Promise((resolve) => setTimeout(resolve, 800));
      engine.restart();
      await engine.start("r", program);
      const took = Date.now() - began;
      expect(took).toBeGreaterThanOrEqual(1495);
      // A sleep begun anew after the restart would have ended no earlier than 2300 ms.
      expect(took).toBeLessThan(2250);
    });

    test("cancelling surfaces once, aborts the step under way, and what is emitted afterwards is kept", async () => {
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
          say(ctx, seq, "cancelled");
        }
      };
      const done = engine.start("r", program);
      await soon();
      engine.cancel("r");
      await done;
      expect([times, aborted, engine.events("r")]).toEqual([1, true, ["cancelled"]]);
    });

    test("a step that throws settles as an error and is not tried again by itself", async () => {
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

    test("what was given up never answers", async () => {
      const engine = newEngine();
      const keys: string[] = [];
      await engine.start("r", async (ctx) => {
        const slow = ctx.sleep("slow", 20);
        const fast = ctx.sleep("fast", 1);
        keys.push((await nextOf(ctx, [slow, fast])).key);
        ctx.abandon(slow);
        keys.push((await nextOf(ctx, [ctx.sleep("later", 60)])).key);
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
