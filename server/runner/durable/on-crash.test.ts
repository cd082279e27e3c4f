import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { RoleDefinition } from "@/server/domain/agent/role";
import { draw } from "@/server/domain/testing/drawing";
import type { OnCrash } from "@/server/domain/tool/tool";
import { newScriptedModels } from "@/server/llm/scripted";
import { sized } from "@/server/testing/thorough";
import { defineTool } from "@/server/tools/define";
import { fakeTools, killed, newStage } from "../testing";

type Stage = ReturnType<typeof newStage>;

const folder = mkdtempSync(path.join(tmpdir(), "troupe-on-crash-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let copies = 0;

const roles = [RoleDefinition.parse({ name: "Worker", tools: ["mail"] })];
const GRAPHS = {
  node: draw("start > call > end", {
    call: { node_type: "tool_call", config: { tool_name: "mail", args: {} }, output_keys: ["out"] },
  }),
  agent: draw("start > ask > end", {
    ask: {
      node_type: "agent_task",
      config: { required_role: "Worker", task_description_template: "Send it." },
      output_keys: ["out"],
    },
  }),
};

/** A tool that writes a line outside, with the key of its call, and answers when `answers` says so. */
function world(
  spec: { on_crash?: OnCrash; risk?: "HIGH" | "LOW"; idempotent?: boolean },
  answers: () => Promise<unknown>,
) {
  const lines: string[] = [];
  const tool = defineTool({
    name: "mail",
    description: "Sends a mail",
    input: z.object({}),
    source: "builtin",
    risk: "LOW",
    ...spec,
    execute: async (_input, { idempotencyKey }) => {
      lines.push(idempotencyKey);
      await answers();
      return "receipt-7";
    },
  });
  // Each process asks the model only for what the log does not hold.
  const options = () => ({
    tools: fakeTools([tool]),
    models: newScriptedModels([
      ...[1, 2, 3].map(() => ({ text: "done", matches: /receipt-7|result is unknown/ })),
      { tool_calls: [{ id: "c1", tool_name: "mail", args: {} }] },
    ]),
  });
  return { lines, options };
}

const kill = (stage: Stage, options: Parameters<typeof newStage>[0]) =>
  killed(stage, path.join(folder, `${copies++}.db`), options);

/** Answers what is asked, until that; how many questions it were. */
async function answering(
  stage: Stage,
  id: string,
  answer: () => "approve" | "reject",
  isOver: () => boolean,
) {
  let asked = 0;
  await expect
    .poll(
      () => {
        for (const { id: question, status, requested } of Object.values(
          stage.store.state(id)!.interactions,
        )) {
          if (status !== "open") continue;
          const given = { answer: answer(), by: "ann" };
          if (stage.host.steering.answer(id, question, requested.fingerprint, given)) asked++;
        }
        return isOver();
      },
      { interval: 2, timeout: 5_000 },
    )
    .toBe(true);
  return asked;
}
const finish = (stage: Stage, id: string, answer: () => "approve" | "reject") =>
  answering(stage, id, answer, () => stage.store.find(id)?.status === "finished");

const outcome = (stage: Stage, id: string) => {
  const { run, tool_calls } = stage.store.state(id)!;
  const [call] = Object.values(tool_calls);
  return { final: run.final_status, warnings: run.warnings, call };
};

describe.each(["node", "agent"] as const)(
  "a call of a %s that is in flight when the process is killed",
  (kind) => {
    const never = () => new Promise<never>(() => {});
    async function killedInFlight(
      spec: Parameters<typeof world>[0],
      answer: "approve" | "reject" = "approve",
    ) {
      let isOver = false;
      const { lines, options } = world(spec, () => (isOver ? Promise.resolve() : never()));
      const first: Stage = newStage(options());
      const id = first.start(GRAPHS[kind], { roles });
      await answering(
        first,
        id,
        () => "approve",
        () => lines.length === 1,
      );
      isOver = true;
      const stage = await kill(first, options());
      const asked = await finish(stage, id, () => answer);
      return { ...outcome(stage, id), stage, id, lines, asked, key: lines[0] ?? "" };
    }
    const twice = (key: string) =>
      `mail may have been executed twice: the server stopped while the call was in flight, and it was repeated (idempotency key ${key}).`;
    const NOT_AGAIN =
      "This call was started before and its result is unknown, so it may have been executed. It was not repeated.";

    test("a low-risk call in flight is repeated with the same key, and the run warns about it", async () => {
      const { lines, asked, key, final, warnings, call } = await killedInFlight({});
      expect([lines, asked, final, call?.status]).toEqual([[key, key], 0, "COMPLETED", "completed"]);
      expect(warnings).toEqual([twice(key)]);
    });

    test("a high-risk call in flight is repeated after a person approves it", async () => {
      const { lines, asked, key, final, warnings } = await killedInFlight({ risk: "HIGH" });
      expect([lines, asked, final]).toEqual([[key, key], 1, "COMPLETED"]);
      expect(warnings).toEqual([twice(key)]);
    });

    test("a high-risk call in flight is not repeated if the person rejects it", async () => {
      const { lines, asked, call } = await killedInFlight({ risk: "HIGH" }, "reject");
      expect([lines.length, asked, call?.status, call?.error]).toEqual([1, 1, "failed", NOT_AGAIN]);
    });

    test("a fork asks before it makes a call that may have happened in the original", async () => {
      const { stage, id, lines } = await killedInFlight({ on_crash: "fail" });
      const fork = {
        run_id: id,
        at: { seq: 2 },
        patches: {},
        graph: "original",
        by: "ann",
        trigger: "test",
      } as const;
      for (const [answer, count] of [
        ["reject", 1],
        ["approve", 2],
      ] as const) {
        const { run_id } = stage.host.fork(fork);
        expect(await finish(stage, run_id, () => answer)).toBe(1);
        expect(lines.length).toBe(count);
      }
    });

    test.each([true, false])(
      "a fork asks before it makes a call in flight of its original (cancelled: %j)",
      async (isCancelled) => {
        let isOver = false;
        const { lines, options } = world({}, () => (isOver ? Promise.resolve() : never()));
        const stage: Stage = newStage(options());
        const id = stage.start(GRAPHS[kind], { roles });
        await expect.poll(() => lines.length).toBe(1);
        if (isCancelled) {
          stage.host.cancel(id, { by: "ann", reason: "enough" });
          await stage.host.settled(id);
        }
        isOver = true;
        const fork = { at: { seq: 2 }, patches: {}, graph: "original", by: "ann", trigger: "test" } as const;
        const first = stage.host.fork({ ...fork, run_id: id }).run_id;
        expect([await finish(stage, first, () => "reject"), lines.length]).toEqual([1, 1]);
        const second = stage.host.fork({ ...fork, run_id: first }).run_id;
        expect([await finish(stage, second, () => "approve"), lines.length]).toEqual([1, 2]);
      },
    );

    test("a call in flight fails without a question if its tool is set to fail", async () => {
      const { lines, asked, call, final } = await killedInFlight({ on_crash: "fail" });
      expect([lines.length, asked, call?.status, call?.error]).toEqual([1, 0, "failed", NOT_AGAIN]);
      expect(final).toBe(kind === "node" ? "ERROR" : "COMPLETED");
    });

    test("an idempotent call in flight is repeated without a question or warning", async () => {
      const { lines, asked, final, warnings } = await killedInFlight({ risk: "HIGH", idempotent: true });
      expect([lines.length, asked, final, warnings]).toEqual([2, 0, "COMPLETED", []]);
    });
  },
);

test("after any crashes, a call is made once plus once per approval, and never after it failed", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<OnCrash>("repeat", "ask", "fail"),
      fc.constantFrom("node" as const, "agent" as const),
      fc.array(fc.record({ after: fc.integer({ min: 0, max: 6 }), approves: fc.boolean() }), {
        maxLength: 5,
      }),
      async (on_crash, kind, kills) => {
        const { lines, options } = world({ on_crash }, () => pause(2));
        let stage: Stage = newStage(options());
        const id = stage.start(GRAPHS[kind], { roles });
        let approved = 0;
        const answer = (approves: boolean) => () => {
          if (approves) approved++;
          return approves ? ("approve" as const) : ("reject" as const);
        };
        for (const { after, approves } of kills) {
          for (let k = 0; k < after; k++) await pause(1);
          stage = await kill(stage, options());
          const open = Object.values(stage.store.state(id)!.interactions).find(
            ({ status }) => status === "open",
          );
          if (open)
            stage.host.steering.answer(id, open.id, open.requested.fingerprint, {
              answer: answer(approves)(),
              by: "ann",
            });
        }
        await finish(stage, id, answer(false));
        const { final, warnings } = outcome(stage, id);
        expect(final).toMatch(kind === "agent" ? /COMPLETED/ : /COMPLETED|ERROR/);
        expect(new Set(lines).size).toBeLessThanOrEqual(1);
        if (on_crash === "fail") expect(lines.length).toBeLessThanOrEqual(1);
        if (on_crash === "ask") expect(lines.length).toBeLessThanOrEqual(1 + approved);
        if (on_crash === "repeat") expect(lines.length).toBeGreaterThanOrEqual(1);
        // What the outside saw twice is named; what it saw once may be.
        if (lines.length > 1) expect(warnings.join()).toContain(lines[0]);
      },
    ),
    { numRuns: sized(25, 500) },
  );
}, 120_000);

test("skipping a node abandons its call in flight, and the run warns that it may have happened", async () => {
  const { lines, options } = world({}, () => new Promise<never>(() => {}));
  const stage: Stage = newStage(options());
  const id = stage.start(GRAPHS.node, { roles });
  await expect.poll(() => lines.length).toBe(1);
  await stage.host.steering.command(
    id,
    { kind: "skip_node", activation_id: "call#1", output: { out: 1 } },
    "ann",
  );
  await stage.host.settled(id);
  const { final, warnings, call } = outcome(stage, id);
  const message = `mail was abandoned in flight: it may have been executed (idempotency key ${lines[0]}).`;
  expect([final, warnings, call?.status, call?.error]).toEqual(["COMPLETED", [message], "stopped", message]);
});
