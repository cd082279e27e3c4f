import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import type { RunCommand } from "@/server/domain/run/commands/command";
import type { InstructionTarget } from "@/server/domain/run/commands/instructions";
import { draw } from "@/server/domain/testing/drawing";
import type { ModelRequest } from "@/server/llm/model";
import { type Case, cases, roles as crewRoles, graphOf, modelsOf } from "../crew/testing";
import { fakeModels, newStage, role } from "../testing";

type Stage = ReturnType<typeof newStage>;

const ask = (more: object = {}) => ({
  node_type: "agent_task" as const,
  output_keys: ["answer"],
  config: { required_role: "Worker", task_description_template: "Say something.", ...more },
});
const one = draw("start > ask > end", { ask: ask() });
const INSTRUCTION = "Write in blue.";
const inject = (target: InstructionTarget, text = INSTRUCTION): RunCommand => ({
  kind: "inject",
  target,
  text,
});
const sendCommand = async (stage: Stage, id: string, command: RunCommand) => {
  const { heard } = await stage.host.steering.command(id, command, "ann");
  return heard === "ended" ? null : heard;
};
const refusal = async (stage: Stage, id: string, command: RunCommand) => {
  const [event] = (await sendCommand(stage, id, command)) ?? [];
  return event?.type === "warning" ? event.payload.message : null;
};
const isPaused = (stage: Stage, id: string) => expect.poll(() => stage.store.find(id)?.status).toBe("paused");
/** How often a request holds the words. */
const heard = ({ messages }: Pick<ModelRequest, "messages">) =>
  messages.filter(({ content }) => content.includes(INSTRUCTION)).length;

test("an instruction to a paused run reaches the next model call with its author, as a person's text", async () => {
  const models = fakeModels(() => "done");
  const stage = newStage({ models });
  const id = stage.start(one, { roles: [role("Worker")], config: { breakpoints: [{ on: "llm_call" }] } });
  await isPaused(stage, id);
  await sendCommand(stage, id, inject({ node_id: "ask" }));
  await sendCommand(stage, id, { kind: "resume" });
  await stage.host.settled(id);
  expect(models.requests.map(({ messages }) => messages.at(-1))).toEqual([
    {
      role: "user",
      content: `A person watching this run (ann) tells you:\n${INSTRUCTION}\nFollow this from now on. The required form of your answer stays the same.`,
    },
  ]);
  const { instructions, told, run } = stage.store.state(id)!;
  expect(instructions).toEqual([
    {
      number: 1,
      target: { node_id: "ask" },
      text: INSTRUCTION,
      by: "ann",
      at: expect.any(Number),
      read_by: ["Worker"],
    },
  ]);
  expect([told, run.warnings]).toEqual([[INSTRUCTION], []]);
});

test("an agent instructed during its answer is asked again, and the second answer counts", async () => {
  const stage: Stage = newStage({
    models: fakeModels(async ({ messages }) => {
      if (heard({ messages }) > 0) return "blue";
      await sendCommand(stage, id, inject({ agent_id: "Worker" }));
      return "black";
    }),
  });
  const id: string = stage.start(one, { roles: [role("Worker")] });
  await stage.host.settled(id);
  const { state, totals } = stage.store.state(id)!;
  expect([state.answer, totals.usage.requests]).toEqual(["blue", 2]);
});

test("an agent without turns left finishes, and the run warns that no agent read the instruction", async () => {
  const stage: Stage = newStage({
    models: fakeModels(async () => {
      await sendCommand(stage, id, inject({ run: true }));
      return "black";
    }),
  });
  const id: string = stage.start(draw("start > ask > end", { ask: ask({ max_iterations: 1 }) }), {
    roles: [role("Worker")],
  });
  await stage.host.settled(id);
  const { state, run } = stage.store.state(id)!;
  expect([state.answer, run.warnings]).toEqual([
    "black",
    [`No one read the message to all agents of the run: ${INSTRUCTION}`],
  ]);
});

/** Tells a crew something while its first call of a model is answered. */
async function instructAtFirstCall(crew: Case, target: InstructionTarget) {
  const models = modelsOf((request) =>
    crew.answer({
      ...request,
      messages: request.messages.filter(({ content }) => !content.includes(INSTRUCTION)),
    }),
  );
  const requests: ModelRequest[] = [];
  const stage: Stage = newStage({
    models: {
      ...models,
      async complete(request, io) {
        if (requests.push(request) === 1) await sendCommand(stage, id, inject(target));
        return models.complete(request, io);
      },
    },
  });
  const id: string = stage.start(graphOf(crew), { roles: crewRoles });
  await stage.host.settled(id);
  return { requests, state: stage.store.state(id)! };
}
const whoOf = ({ messages }: ModelRequest) => /You are (\w+)/.exec(messages[0]!.content)![1]!;

for (const [name, crew] of Object.entries(cases)) {
  test(`an instruction to a run reaches every later call of its crew, once per conversation: ${name}`, async () => {
    const { requests, state } = await instructAtFirstCall(crew, { run: true });
    // Calls that were under way already with the first one could not hear of it.
    const later = requests.slice(requests.findIndex((request) => heard(request) > 0));
    expect(later.length).toBeGreaterThan(0);
    expect(new Set(later.map(heard))).toEqual(new Set([1]));
    expect(state.run.final_status).toBe("COMPLETED");
  });

  test(`an instruction to an agent reaches only that agent: ${name}`, async () => {
    const { requests, state } = await instructAtFirstCall(crew, { agent_id: "checker" });
    const own = requests.filter((request) => heard(request) > 0).map(whoOf);
    expect(state.run.final_status).toBe("COMPLETED");
    // A conversation that is handed on whole takes it along.
    if (name !== "swarm") expect([...new Set(own)]).toEqual(state.run.warnings.length > 0 ? [] : ["Checker"]);
  });
}

test("an instruction that no agent would read is rejected with the reason and leaves no trace", async () => {
  const stage = newStage({ models: fakeModels(() => "done") });
  const graph = draw("start > ask > sum > end", { ask: { ...ask(), name: "Asker" } });
  const id = stage.start(graph, {
    roles: [role("Worker")],
    config: { breakpoints: [{ on: "node_start", node_id: "sum" }] },
  });
  await isPaused(stage, id);
  expect([
    await refusal(stage, id, inject({ run: true })),
    await refusal(stage, id, inject({ node_id: "ask" })),
    await refusal(stage, id, inject({ node_id: "sum" })),
    await refusal(stage, id, inject({ node_id: "luck" })),
    await refusal(stage, id, inject({ agent_id: "Worker" })),
    await refusal(stage, id, inject({ agent_id: "luck" })),
  ]).toEqual([
    "No model calls are left in this run, so the message would not be read.",
    "Asker has finished and can't run again.",
    "sum calls no model, so the message would not be read.",
    'This workflow has no node "luck".',
    "Worker has finished its work in this run.",
    'This workflow has no agent "luck". Its agents: Worker.',
  ]);
  const { instructions, told } = stage.store.state(id)!;
  expect([instructions, told]).toEqual([[], []]);
});

test("a node in a loop reads an instruction in its next iteration", async () => {
  const models = fakeModels(({ messages }) => (heard({ messages }) > 0 ? "done" : "again"));
  const stage = newStage({ models });
  const graph = draw("start > ask > r; r again> ask; r done> end", {
    ask: { ...ask(), output_keys: ["r"] },
  });
  const id = stage.start(graph, {
    roles: [role("Worker")],
    config: { breakpoints: [{ on: "node_start", node_id: "r", hit_count: 1 }] },
  });
  await isPaused(stage, id);
  await sendCommand(stage, id, inject({ node_id: "ask" }));
  await sendCommand(stage, id, { kind: "set_breakpoints", breakpoints: [] });
  await sendCommand(stage, id, { kind: "resume" });
  await stage.host.settled(id);
  expect(models.requests.map(heard)).toEqual([0, 1]);
});

test("an instruction survives a crash", async () => {
  const first = newStage({ models: fakeModels(() => "done") });
  const id = first.start(one, { roles: [role("Worker")], config: { breakpoints: [{ on: "llm_call" }] } });
  await isPaused(first, id);
  await sendCommand(first, id, inject({ run: true }));
  await pause(5);
  const models = fakeModels(() => "done");
  const stage = newStage({ db: first.db, models });
  stage.host.recover();
  await sendCommand(stage, id, { kind: "resume" });
  await stage.host.settled(id);
  expect(models.requests.map(heard)).toEqual([1]);
});
