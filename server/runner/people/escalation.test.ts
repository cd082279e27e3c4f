import { expect, test } from "vitest";
import { as, call, calls, crewGraph, of, role, tool } from "@/server/conformance/stage";
import { escalateText } from "@/server/domain/agent/escalate";
import type { RunConfig } from "@/server/domain/agent/outcome";
import { whenSilent } from "@/server/domain/run/questions/question-text";
import { draw } from "@/server/domain/testing/drawing";
import { newScriptedModels } from "@/server/llm/scripted";
import { cutAt, fakeModels, fakeTools, newStage } from "../testing";

/*
 * A run that has passed a number of errors, a cost or a time asks a person once whether it continues; the next question
 * comes after as much again.
 */

type Stage = ReturnType<typeof newStage>;
const config = (escalate: RunConfig["escalate"]) => ({ config: { escalate } });

const openOf = (stage: Stage, id: string) =>
  Object.values(stage.store.state(id)?.interactions ?? {}).find(({ status }) => status === "open");
async function asked(stage: Stage, id: string) {
  await expect.poll(() => openOf(stage, id)).toBeDefined();
  await expect.poll(() => stage.store.find(id)!.status).toBe("waiting");
  return openOf(stage, id)!;
}
function give(stage: Stage, id: string, option: string, instruction?: string) {
  const open = openOf(stage, id)!;
  stage.host.steering.answer(id, open.id, open.requested.fingerprint, {
    answer: "chosen",
    option,
    ...(instruction === undefined ? {} : { value: { instruction } }),
    by: "ann",
  });
}
const titles = (stage: Stage, id: string) =>
  of(stage.store.events(id, 0, 1e6), "interaction_requested").map(({ title }) => title);

/** Nodes that fail, one after the other; the run continues after each. */
const failing = (count: number) => {
  const names = Array.from({ length: count }, (_, at) => `n${at + 1}`);
  return draw(
    `start > ${names.join(" > ")} > end`,
    Object.fromEntries(
      names.map((name) => [
        name,
        {
          node_type: "transform",
          on_error: "continue",
          output_keys: [name],
          config: { set: { [name]: "state.nowhere" } },
        },
      ]),
    ),
  );
};
const task = (more: object = {}) => ({
  node_type: "agent_task",
  output_keys: ["answer"],
  config: { required_role: "Worker", task_description_template: "Work" },
  ...more,
});
/** Each task costs $0.001. */
const paid = draw("start > a > b > c > d > e > end", {
  a: task(),
  b: task(),
  c: task(),
  d: task(),
  e: task(),
});
/** Three tasks of one crew, $0.001 each. */
const crew = crewGraph(
  { agents: [{ agent_id: "w", role_name: "Worker" }] },
  {
    tasks: [1, 2, 3].map((n) => ({ task_id: `t${n}`, description: `Task ${n}`, required_role: "Worker" })),
  },
);
const roles = [role("Worker")];

test("a person is asked after a number of errors, and again after as many more", async () => {
  const stage = newStage();
  const id = stage.start(failing(5), config({ after_errors: 2, to: ["data"] }));
  const open = await asked(stage, id);
  expect(open).toMatchObject({ node_id: "n3", activation_id: "" });
  expect(open.requested).toMatchObject({
    kind: "escalation",
    mode: "sync",
    title: "Continue after 2 errors?",
    required_expertise: ["data"],
  });
  expect(open.requested.why).toMatch(/^So far: 2 errors, \$0\.00, \d+ seconds? of running time\.$/);
  expect(open.requested.body).toMatch(/^Latest errors:\n- `n1: .*nowhere.*`\n- `n2: .*nowhere.*`$/);
  expect(open.requested.options?.map(({ label }) => label)).toEqual([
    "Continue",
    "Message agents",
    "Stop the run",
  ]);
  expect(whenSilent(open.requested)).toBe("stops the run");
  give(stage, id, "continue");
  await expect.poll(() => titles(stage, id)).toHaveLength(2);
  await asked(stage, id);
  give(stage, id, "continue");
  await stage.host.settled(id);
  expect(titles(stage, id)).toEqual(["Continue after 2 errors?", "Continue after 4 errors?"]);
  expect(stage.store.state(id)!.run.final_status).toBe("COMPLETED");
});

test("a person is asked after an amount of money, before the next model call", async () => {
  const models = fakeModels(() => "done");
  const stage = newStage({ models });
  const id = stage.start(paid, { roles, ...config({ after_cost_usd: 0.002 }) });
  expect((await asked(stage, id)).requested.title).toBe("Continue after $0.002?");
  expect(models.requests).toHaveLength(2);
  give(stage, id, "continue");
  await expect.poll(() => titles(stage, id)).toHaveLength(2);
  await asked(stage, id);
  expect(models.requests).toHaveLength(4);
  give(stage, id, "continue");
  await stage.host.settled(id);
  expect(stage.store.state(id)!.run.final_status).toBe("COMPLETED");
});

test("a crew waits with its next task until a person has answered", async () => {
  const models = fakeModels(() => "done");
  const stage = newStage({ models });
  const id = stage.start(crew, { roles, ...config({ after_cost_usd: 0.002 }) });
  expect((await asked(stage, id)).node_id).toBe("crew");
  expect(models.requests).toHaveLength(2);
  give(stage, id, "instruct", "Be brief.");
  await stage.host.settled(id);
  expect(models.requests).toHaveLength(3);
  expect(JSON.stringify(models.requests[2]!.messages)).toContain("Be brief.");
  expect(stage.store.state(id)!.run.final_status).toBe("COMPLETED");
});

test("a person is asked after a running time", async () => {
  const models = fakeModels(async () => {
    await new Promise((resolve) => setTimeout(resolve, 600));
    return "done";
  });
  const stage = newStage({ models });
  const id = stage.start(paid, { roles, ...config({ after_ms: 1000 }) });
  expect((await asked(stage, id)).requested.title).toMatch(/^Continue after [1-9] seconds?\?$/);
  expect(models.requests).toHaveLength(2);
  give(stage, id, "stop");
  await stage.host.settled(id);
  expect(models.requests).toHaveLength(2);
});

test("failed tool calls count, and the agent waits for the answer", async () => {
  const broken = tool("look", {
    execute: () => {
      throw new Error("It is dark.");
    },
  });
  const models = newScriptedModels([
    calls(call("look", { text: "a" })),
    calls(call("look", { text: "b" })),
    as("Worker", { text: "Nothing to see." }),
  ]);
  const stage = newStage({ models, tools: fakeTools([broken]) });
  const id = stage.start(draw("start > a > end", { a: task() }), {
    roles: [role("Worker", ["look"])],
    ...config({ after_errors: 2 }),
  });
  expect((await asked(stage, id)).requested.body).toMatch(/`look \(500\): .*It is dark/);
  expect(models.calls).toHaveLength(2);
  give(stage, id, "continue");
  await stage.host.settled(id);
  expect(stage.store.state(id)!.state.answer).toBe("Nothing to see.");
});

test("a failed attempt counts, and the next one waits for the answer", async () => {
  let requests = 0;
  const models = fakeModels(() => (++requests < 3 ? "" : "done"));
  const stage = newStage({ models });
  const retry = { max_attempts: 3, initial_delay_ms: 1, retry_on: ["OUTPUT_INVALID"] };
  const id = stage.start(draw("start > a > end", { a: task({ retry }) }), {
    roles,
    ...config({ after_errors: 1 }),
  });
  // An empty answer is asked for again within an attempt.
  requests = -3;
  const open = await asked(stage, id);
  expect(open.node_id).toBe("a");
  expect(stage.store.state(id)!.activations["a#1"]?.attempt).toBe(1);
  give(stage, id, "continue");
  await stage.host.settled(id);
  expect(stage.store.state(id)!.run.final_status).toBe("COMPLETED");
});

test("a person can stop the run, and so does silence", async () => {
  const stage = newStage();
  const id = stage.start(failing(3), config({ after_errors: 1 }));
  await asked(stage, id);
  give(stage, id, "stop");
  await stage.host.settled(id);
  expect(stage.store.state(id)!.run.final_status).toBe("CANCELLED");
  expect(of(stage.store.events(id, 0, 1e6), "run_cancel_requested")).toEqual([
    { by: "ann", reason: "Stopped after 1 error: a person stopped it." },
  ]);
  const silent = newStage({ people: { answer_within_ms: 40 } });
  const other = silent.start(failing(3), config({ after_errors: 1 }));
  await silent.host.settled(other);
  await expect.poll(() => silent.store.state(other)!.run.final_status, { timeout: 10_000 }).toBe("CANCELLED");
});

test("a run that has nothing left to do asks nobody", async () => {
  const { state } = await newStage().run(failing(2), config({ after_errors: 2 }));
  expect(state.interactions).toEqual({});
  expect(state.run.final_status).toBe("COMPLETED");
});

test.each([
  ["between nodes", paid, 0.003],
  ["within a crew", crew, 0.002],
])("killed at any turn, a run asks the same question once %s", async (_where, graph, after_cost_usd) => {
  const models = fakeModels(() => "done");
  const stage = newStage({ models });
  const id = stage.start(graph, { roles, ...config({ after_cost_usd }) });
  await asked(stage, id);
  give(stage, id, "instruct", "Be brief.");
  await stage.host.settled(id);
  const whole = stage.store.events(id, 0, 1e6);
  const types = (events: typeof whole) =>
    events.map(({ type }) => type).filter((type) => type !== "run_recovered");
  const turns = stage.db.$client.prepare<[], { n: number }>("select count(*) n from run_turns").get()!.n;
  for (let turn = 1; turn < turns; turn++) {
    const again = newStage({ db: cutAt(stage, id, turn), models: fakeModels(() => "done") });
    again.host.recover();
    await again.host.settled(id);
    expect([turn, types(again.store.events(id, 0, 1e6))]).toEqual([turn, types(whole)]);
  }
});

test("when a person is asked is one sentence", () => {
  expect(escalateText({ after_errors: 3, after_cost_usd: 2, after_ms: 600_000 })).toBe(
    "Asks a person whether to continue after every 3 errors, $2.00, or 10 minutes.",
  );
  expect(escalateText({ after_errors: 1 })).toBe("Asks a person whether to continue after every error.");
  expect(escalateText({})).toBe("The run never asks whether to continue.");
});
