import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import type { RunState } from "@/server/domain/run";
import { type RunCommand, tooLate } from "@/server/domain/run/commands/command";
import { draw } from "@/server/domain/testing/drawing";
import { sized } from "@/server/testing/thorough";
import { CANCEL } from "../durable/embedded-contract";
import { fakeModels, killed, newStage, role } from "../testing";
import type { Heard } from "./command-waiters";

const folder = mkdtempSync(path.join(tmpdir(), "troupe-commands-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Stage = ReturnType<typeof newStage>;

/** A loop with an agent in it, beside a branch of its own, and a join. */
const graph = draw("start > a > ask > r; r again> a; r done> j; start > b > c > j; j > end", {
  a: { output_keys: ["n"], config: { set: { n: "('n' in state ? state.n : 0) + 1" } } },
  ask: {
    node_type: "agent_task",
    output_keys: ["r"],
    config: { required_role: "Worker", task_description_template: "Go on? {{state.n}}" },
  },
});
/** Answers from the request alone. */
const models = () =>
  fakeModels(({ messages }) =>
    messages.some(({ content }) => /[3-9]/.test(content.match(/Go on\?.*/s)?.[0] ?? "")) ? "done" : "again",
  );

const nodes = ["start", "a", "ask", "r", "b", "c", "j", "end", "luck"];
const activation = fc
  .tuple(fc.constantFrom(...nodes), fc.integer({ min: 1, max: 3 }))
  .map(([id, k]) => `${id}#${k}`);
/** Commands that leave a run's result as it is, where they are taken. */
const command: fc.Arbitrary<RunCommand> = fc.oneof(
  fc.record({ kind: fc.constant("pause" as const), now: fc.boolean() }),
  fc.constant({ kind: "resume" as const }),
  fc.record({
    kind: fc.constant("step" as const),
    granularity: fc.constantFrom("node" as const, "turn" as const),
  }),
  fc.constantFrom(...nodes.slice(0, 8)).map(
    (node_id): RunCommand => ({
      kind: "set_breakpoints",
      breakpoints: [{ on: "node_start", node_id, once: true }],
    }),
  ),
  activation.map((activation_id): RunCommand => ({ kind: "retry_node", activation_id })),
  fc
    .constantFrom(...nodes)
    .map((node_id): RunCommand => ({ kind: "inject", target: { node_id }, text: "Go." })),
  fc.tuple(activation, fc.constantFrom("luck", "start")).map(
    ([activation_id, to]): RunCommand => ({
      kind: "override_next",
      activation_id,
      to,
    }),
  ),
  activation.map(
    (activation_id): RunCommand => ({ kind: "override_agent", activation_id, agent_id: "Worker" }),
  ),
  fc.constant<RunCommand>({ kind: "signal", name: "luck", data: null }),
  fc.constant<RunCommand>({ kind: "edit_state", set: {}, remove: ["luck"] }),
  activation.map(
    (activation_id): RunCommand => ({ kind: "skip_node", activation_id: `${activation_id}0`, output: {} }),
  ),
);

/** What a run came to. */
const result = ({ run, state, nodes: of, edges, totals }: RunState) => ({
  status: run.final_status,
  output: run.output,
  state,
  nodes: Object.fromEntries(Object.entries(of).map(([id, { status, count }]) => [id, { status, count }])),
  edges,
  steps: totals.steps,
});

/** What a person sees of a run that a refusal must leave alone. */
const standing = ({ run, state, activations, inbox, instructions, signals, told }: RunState) =>
  JSON.stringify({
    paused: run.paused_at,
    breakpoints: run.breakpoints,
    state,
    activations,
    inbox,
    instructions,
    signals,
    told,
  });

/** Whether a run is held or over, and no call is under way, whose end would change what a person sees. */
const isAtRest = (stage: Stage, id: string): boolean => {
  const { status } = stage.store.find(id) ?? {};
  const { calls } = stage.store.state(id)!;
  return (
    status === "finished" ||
    (status === "paused" && Object.values(calls).every((call) => call.status !== "running"))
  );
};

test("no sequence of commands loses or repeats work, and a rejected command changes nothing", async () => {
  const through = result(
    (await newStage({ models: models() }).run(graph, { roles: [role("Worker")] })).state,
  );
  expect(through.status).toBe("COMPLETED");
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 12 }), async (commands) => {
      const stage: Stage = newStage({ models: models() });
      const id = stage.start(graph, { roles: [role("Worker")], config: { mode: "step" } });
      for (const one of commands) {
        await expect.poll(() => isAtRest(stage, id), { interval: 2 }).toBe(true);
        if (stage.store.find(id)?.status === "finished") break;
        const before = stage.store.state(id)!;
        const { heard } = await stage.host.steering.command(id, one, "ann");
        if (tooLate(heard) === null) continue;
        expect(heard !== "ended" && heard?.map(({ type }) => type)).toEqual(["warning"]);
        expect(standing(stage.store.state(id)!)).toBe(standing(before));
      }
      for (;;) {
        await expect.poll(() => stage.store.find(id)?.status, { interval: 2 }).toMatch(/paused|finished/);
        if (stage.store.find(id)?.status === "finished") break;
        await stage.host.steering.command(id, { kind: "resume" }, "ann");
      }
      expect(result(stage.store.state(id)!)).toEqual(through);
    }),
    { numRuns: 15 },
  );
});

let copies = 0;

const act = fc.record({
  what: fc.oneof(
    { weight: 12, arbitrary: command },
    {
      weight: 6,
      arbitrary: fc.constantFrom<RunCommand>({ kind: "resume" }, { kind: "step", granularity: "node" }),
    },
    { weight: 2, arbitrary: fc.constantFrom("raise" as const, "kill" as const) },
    { weight: 1, arbitrary: fc.constant("cancel" as const) },
  ),
  /** How many moments later the next one follows; 0: at the same moment. */
  then: fc.constantFrom(0, 0, 0, 1, 3),
});

/** What a person was told of a command; `lost`: the server was killed before it replied. */
interface Sent {
  id: string;
  reply: Heard | "lost";
}

test("every command is applied once or rejected with a reason, even near the end and across crashes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { minLength: 4, maxLength: 40 }),
      fc.constantFrom("step" as const, "continuous" as const),
      async (acts, mode) => {
        let stage: Stage = newStage({ models: models() });
        const id = stage.start(graph, { roles: [role("Worker")], config: { mode, max_steps: 14 } });
        const sent: Sent[] = [];
        let open: Promise<void>[] = [];
        let life = 0;
        const send = (
          name: string | null,
          response: Promise<Heard | { command_id: string; heard: Heard }>,
        ) => {
          const one: Sent = { id: name ?? "", reply: "lost" };
          const since = life;
          sent.push(one);
          open.push(
            response.then((value) => {
              if (since !== life) return;
              const isNamed = value !== null && typeof value === "object" && "command_id" in value;
              if (isNamed) one.id = value.command_id;
              one.reply = isNamed ? value.heard : value;
            }),
          );
        };
        const sendCommand = (what: Exclude<(typeof acts)[number]["what"], "kill">) => {
          if (what === "raise") send(null, stage.host.steering.raiseLimit(id, "max_steps", 100, "ann"));
          else if (what !== "cancel") send(null, stage.host.steering.command(id, what, "ann"));
          else if (stage.host.cancel(id, { by: "ann", reason: "" }))
            send("cancel", stage.host.waiters.wait(id, CANCEL));
        };
        for (const { what, then } of acts) {
          if (what === "kill") {
            life++;
            open = [];
            stage = await killed(stage, path.join(folder, `${copies++}.db`), { models: models() });
          } else sendCommand(what);
          for (let k = 0; k < then; k++) await pause(1);
        }
        for (;;) {
          await expect.poll(() => stage.store.find(id)?.status, { interval: 2 }).toMatch(/paused|finished/);
          if (stage.store.find(id)?.status === "finished") break;
          sendCommand({ kind: "resume" });
          await Promise.all(open);
        }
        await Promise.all(open);
        await stage.host.settled(id);

        const events = stage.store.events(id, 0, 1e6);
        const named = (name: string) => events.filter(({ command_id }) => command_id === name);
        const ids = events.flatMap(({ command_id }) => (command_id === undefined ? [] : [command_id]));
        expect(ids.toSorted()).toEqual([...new Set(ids)].toSorted());
        for (const { id: name, reply } of sent) {
          if (reply === "lost") continue;
          const isApplied = named(name).some((event) => tooLate([event]) === null);
          if (reply === null) expect(named(name)).toHaveLength(1);
          else if (name === "cancel") expect(isApplied).toBe(reply !== "ended");
          else expect(isApplied).toBe(tooLate(reply) === null);
        }
        // What was never taken was refused to somebody, or is named by the end.
        const ended = new Set(sent.flatMap(({ id: name, reply }) => (reply === "ended" ? [name] : [])));
        const isLost = sent.some(({ reply }) => reply === "lost");
        for (const name of stage.store.untaken(id))
          expect(named(name).length === 1 || ended.has(name) || isLost).toBe(true);
      },
    ),
    { numRuns: sized(30, 600) },
  );
}, 120_000);
