import { expect, test } from "vitest";
import type { RunCommand } from "@/server/domain/run/commands/command";
import { draw } from "@/server/domain/testing/drawing";
import { type Case, cases, roles as crewRoles, graphOf, modelsOf } from "../crew/testing";
import { newStage } from "../testing";

type Stage = ReturnType<typeof newStage>;

/** A router that would go to `aside`, and can go to `east`. */
const forked = () =>
  draw("start > set > r; r aside> aside > j; r east> east > j; j > end", {
    set: { output_keys: ["r"], config: { set: { r: "'aside'" } } },
    aside: { output_keys: ["by"], config: { set: { by: "'aside'" } } },
    east: { output_keys: ["by"], config: { set: { by: "'east'" } } },
  });
const sendCommand = async (stage: Stage, id: string, command: RunCommand) => {
  const { heard } = await stage.host.steering.command(id, command, "ann");
  return heard === "ended" ? null : heard;
};
const stateOf = (stage: Stage, id: string) => stage.store.state(id)!;
const refusal = async (stage: Stage, id: string, command: RunCommand) => {
  const event = (await sendCommand(stage, id, command))?.find(({ type }) => type === "warning");
  return event?.type === "warning" ? event.payload.message : null;
};
const isPaused = (stage: Stage, id: string) => expect.poll(() => stage.store.find(id)?.status).toBe("paused");
const ended = (stage: Stage, id: string) => expect.poll(() => stage.store.find(id)?.status).toBe("finished");
const next = (to: string, activation_id = "r#1"): RunCommand => ({
  kind: "override_next",
  activation_id,
  to,
});

test.each([
  ["before the router", { on: "node_start", node_id: "r" }],
  ["after the router has chosen", { on: "node_end", node_id: "r" }],
  ["before the chosen node", { on: "node_start", node_id: "aside" }],
] as const)("a run takes the route that a person chose: %s", async (_when, breakpoint) => {
  const stage = newStage();
  const id = stage.start(forked(), { config: { breakpoints: [breakpoint] } });
  await isPaused(stage, id);
  await sendCommand(stage, id, next("east"));
  await sendCommand(stage, id, { kind: "resume" });
  await ended(stage, id);
  const { run, state, nodes, edges, graph } = stateOf(stage, id);
  expect([run.final_status, state.by]).toEqual(["COMPLETED", "east"]);
  const taken = graph.edges
    .filter((edge) => edges[edge.id]?.status === "taken")
    .map((edge) => edge.target_node_id);
  expect(taken).toEqual(["set", "r", "east", "j", "end"]);
  expect([nodes.east?.status, nodes.j?.count]).toEqual(["completed", 1]);
});

test("an invalid choice is rejected with the reason and changes nothing", async () => {
  const stage = newStage();
  const id = stage.start(forked(), { config: { breakpoints: [{ on: "node_end", node_id: "aside" }] } });
  await isPaused(stage, id);
  const before = stateOf(stage, id);
  expect([
    await refusal(stage, id, next("east")),
    await refusal(stage, id, next("j")),
    await refusal(stage, id, next("end", "luck#1")),
    await refusal(stage, id, { kind: "override_agent", activation_id: "aside#1", agent_id: "ann" }),
  ]).toEqual([
    "The run has already continued after r. Fork it from an earlier point.",
    "r isn't connected to j. It's connected to: aside, east.",
    "This run has no luck#1.",
    "aside has no crew.",
  ]);
  const after = stateOf(stage, id);
  expect([after.inbox, after.activations, after.edges]).toEqual([
    before.inbox,
    before.activations,
    before.edges,
  ]);
  await sendCommand(stage, id, { kind: "resume" });
  await ended(stage, id);
  expect(stateOf(stage, id).state.by).toBe("aside");
});

/** Chooses the next agent of a crew while its first call of a model is answered. */
async function choosing(crew: Case, agent_id: string) {
  const models = modelsOf(crew.answer);
  const replies: (string | null)[] = [];
  let calls = 0;
  const stage: Stage = newStage({
    models: {
      ...models,
      async complete(request, io) {
        if (++calls === 1)
          replies.push(
            await refusal(stage, id, { kind: "override_agent", activation_id: "crew#1", agent_id }),
          );
        return models.complete(request, io);
      },
    },
  });
  const id: string = stage.start(graphOf(crew), { roles: crewRoles });
  await stage.host.settled(id);
  const state = stateOf(stage, id);
  const order = stage.store
    .events(id, 0, 1e6)
    .flatMap((event) => (event.type === "agent_started" ? [event.agent_id] : []));
  return { reply: replies[0], order, run: state.run };
}

test("a person's choice takes over in a swarm, even from an agent that would have finished", async () => {
  const { reply, order, run } = await choosing(cases.swarm!, "checker");
  expect([reply, order, run.final_status]).toEqual([null, ["lead", "checker"], "COMPLETED"]);
  const answering: Case = {
    crew: { process: "swarm", entry_agent: "lead" },
    answer: () => ({ text: "done" }),
  };
  expect((await choosing(answering, "worker")).order).toEqual(["lead", "worker"]);
});

test("the next task of a plan goes to the chosen agent", async () => {
  const { order, run } = await choosing(cases.sequential!, "worker");
  expect([order, run.final_status]).toEqual([["worker", "worker", "lead"], "COMPLETED"]);
});

test("a manager's next message goes to the chosen agent", async () => {
  const { order, run } = await choosing(cases.hierarchical!, "checker");
  expect([order, run.final_status]).toEqual([["lead", "checker", "lead", "checker", "lead"], "COMPLETED"]);
});

test("the chosen agent's step of a pattern runs next", async () => {
  const { order, run } = await choosing(cases.custom!, "worker");
  expect([order.slice(0, 3), run.final_status]).toEqual([["worker", "worker", "checker"], "COMPLETED"]);
});

test("no agent can be chosen if all run at once, if it leads or if it isn't in the crew", async () => {
  expect((await choosing(cases.consensus!, "worker")).reply).toBe(
    "All members of this crew run at the same time, so none is next.",
  );
  expect((await choosing(cases.hierarchical!, "lead")).reply).toBe(
    "lead leads the crew and already acts in every round.",
  );
  expect((await choosing(cases.swarm!, "luck")).reply).toBe(
    'crew has no agent "luck". Its agents: lead, worker, checker.',
  );
});

test("an unused choice is reported at the end of the run", async () => {
  const once: Case = {
    crew: { process: "sequential" },
    plan: { tasks: [{ task_id: "t", description: "do it", required_role: "Worker" }] },
    answer: () => ({ text: "done" }),
  };
  expect((await choosing(once, "lead")).run.warnings).toEqual([
    "lead should have continued in crew, but nothing was left to do.",
  ]);
});
