import fc from "fast-check";
import { expect, test } from "vitest";
import type { RunState } from "@/server/domain/run";
import { type RunCommand, tooLate } from "@/server/domain/run/commands/command";
import { draw } from "@/server/domain/testing/drawing";
import { fakeModels, newStage, role } from "./testing";

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

test("whatever a run is told at any moment, no work is lost or done twice, and a refusal leaves nothing but itself", async () => {
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
        const events = await stage.host.command(id, one, "ann");
        if (tooLate(events) === null) continue;
        expect(events?.map(({ type }) => type)).toEqual(["warning"]);
        expect(standing(stage.store.state(id)!)).toBe(standing(before));
      }
      for (;;) {
        await expect.poll(() => stage.store.find(id)?.status, { interval: 2 }).toMatch(/paused|finished/);
        if (stage.store.find(id)?.status === "finished") break;
        await stage.host.command(id, { kind: "resume" }, "ann");
      }
      expect(result(stage.store.state(id)!)).toEqual(through);
    }),
    { numRuns: 15 },
  );
});
