import { expect, test } from "vitest";
import type { RunCommand } from "@/server/domain/run/commands/command";
import { draw } from "@/server/domain/testing/drawing";
import { roles as crewRoles, graphOf } from "../crew/testing";
import { cutAt, eventLines, fakeModels, newStage, role } from "../testing";

type Stage = ReturnType<typeof newStage>;

const ask = (more: object = {}) => ({
  node_type: "agent_task" as const,
  output_keys: ["answer"],
  config: { required_role: "Worker", task_description_template: "Say something." },
  ...more,
});
const one = draw("start > ask > end", { ask: ask() });
const roles = [role("Worker")];
const retry = (activation_id: string): RunCommand => ({ kind: "retry_node", activation_id });
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

/** A model that fails for good as often as that, and answers from then on. */
function failing(times: number) {
  let left = times;
  return fakeModels(() => {
    if (left-- > 0) throw new Error("The model is gone.");
    return "done";
  });
}
/** A run that ended because a node failed. */
async function failed(graph = one, times = 1, more: Parameters<Stage["start"]>[1] = {}) {
  const stage = newStage({ models: failing(times) });
  const id = stage.start(graph, { roles, ...more });
  await stage.host.settled(id);
  expect(stateOf(stage, id).run.final_status).toBe("ERROR");
  return { stage, id };
}

test("a run that failed at a node continues with the node's next attempt when it is retried", async () => {
  const { stage, id } = await failed();
  const before = stage.store.events(id, 0, 1e6);
  await sendCommand(stage, id, retry("ask#1"));
  await stage.host.settled(id);
  const { run, activations, totals, state } = stateOf(stage, id);
  expect([run.final_status, run.error, state.answer]).toEqual(["COMPLETED", undefined, "done"]);
  expect([activations["ask#1"]?.attempt, activations["ask#1"]?.error, totals.steps]).toEqual([
    2,
    undefined,
    3,
  ]);
  const after = stage.store.events(id, 0, 1e6);
  expect(after.slice(0, before.length)).toEqual(before);
  expect(eventLines(after.slice(before.length, before.length + 4))).toEqual([
    "run_recovered",
    "run_resumed",
    "node_retried ask#1",
    "node_started ask#1",
  ]);
});

test("a node can fail and be retried any number of times", async () => {
  const { stage, id } = await failed(one, 3);
  for (let k = 0; k < 3; k++) {
    await sendCommand(stage, id, retry("ask#1"));
    await stage.host.settled(id);
  }
  const { run, activations } = stateOf(stage, id);
  expect([run.final_status, activations["ask#1"]?.attempt]).toEqual(["COMPLETED", 4]);
});

test("a retry also completes unfinished work: pending nodes, waiting tokens, a second failure", async () => {
  const graph = draw("start > a > j; start > b > j; start > c > d > j; j > end", {
    a: ask(),
    b: ask({ output_keys: ["b"] }),
  });
  const through = (await newStage({ models: failing(0) }).run(graph, { roles })).state;
  const { stage, id } = await failed(graph, 2, { config: { max_parallel_nodes: 2 } });
  expect(stateOf(stage, id).activations["c#1"]?.status).toBe("cancelled");
  await sendCommand(stage, id, retry("a#1"));
  await stage.host.settled(id);
  // The other branch failed as well, and the run with it.
  expect(stateOf(stage, id).run.error?.node_id).toBe("b");
  await sendCommand(stage, id, retry("b#1"));
  await stage.host.settled(id);
  const { run, state, nodes, totals } = stateOf(stage, id);
  expect([run.final_status, run.output, state, totals.steps]).toEqual([
    "COMPLETED",
    through.run.output,
    through.state,
    through.totals.steps,
  ]);
  expect(Object.fromEntries(Object.entries(nodes).map(([node, { count }]) => [node, count]))).toEqual(
    Object.fromEntries(Object.entries(through.nodes).map(([node, { count }]) => [node, count])),
  );
});

test("a run paused at a failed node retries it after the resume", async () => {
  const stage = newStage({ models: failing(1) });
  const id = stage.start(one, { roles, config: { breakpoints: [{ on: "error", node_id: "ask" }] } });
  await isPaused(stage, id);
  await sendCommand(stage, id, retry("ask#1"));
  expect(stateOf(stage, id).nodes.ask?.status).toBe("ready");
  await sendCommand(stage, id, { kind: "resume" });
  await ended(stage, id);
  expect([stateOf(stage, id).run.final_status, stateOf(stage, id).activations["ask#1"]?.attempt]).toEqual([
    "COMPLETED",
    2,
  ]);
  const types = stage.store.events(id, 0, 1e6).map(({ type }) => type);
  expect(types.filter((type) => type === "run_finished")).toHaveLength(1);
});

test("a manual retry starts a scheduled attempt immediately", async () => {
  const stage = newStage({ models: failing(1) });
  const patient = {
    retry: { max_attempts: 2, initial_delay_ms: 3_600_000, max_delay_ms: 3_600_000, retry_on: ["INTERNAL"] },
  };
  const id = stage.start(draw("start > ask > end", { ask: ask(patient) }), { roles });
  await expect.poll(() => stateOf(stage, id).activations["ask#1"]?.waiting?.for).toBe("retry");
  await sendCommand(stage, id, retry("ask#1"));
  await ended(stage, id);
  expect([stateOf(stage, id).run.final_status, stateOf(stage, id).activations["ask#1"]?.attempt]).toEqual([
    "COMPLETED",
    2,
  ]);
});

test("a retry is rejected if the node didn't fail or the run continued past its failure", async () => {
  const stage = newStage({ models: failing(1) });
  const graph = draw("start > ask > sum > end", { ask: { ...ask(), name: "Asker", on_error: "continue" } });
  const id = stage.start(graph, {
    roles,
    config: { breakpoints: [{ on: "node_start", node_id: "end" }] },
  });
  await isPaused(stage, id);
  expect([
    await refusal(stage, id, retry("ask#1")),
    await refusal(stage, id, retry("sum#1")),
    await refusal(stage, id, retry("luck#1")),
  ]).toEqual([
    "Asker failed, so the run took another path. To retry it, fork the run before Asker.",
    "sum has not failed (completed).",
    "This run has no luck#1.",
  ]);
  await sendCommand(stage, id, { kind: "resume" });
  await ended(stage, id);
  expect(stateOf(stage, id).run.final_status).toBe("COMPLETED");
});

test("a failed and retried run survives a crash at any turn", async () => {
  const { stage: first, id } = await failed(draw("start > a > ask > b > end", { ask: ask() }));
  await sendCommand(first, id, retry("ask#1"));
  await first.host.settled(id);
  const turns = first.store.journal(id).turns.length;
  const through = stateOf(first, id);
  for (let at = 2; at < turns; at++) {
    const stage = newStage({ db: cutAt(first, id, at), models: fakeModels(() => "done") });
    stage.host.recover();
    await stage.host.settled(id);
    const { run, state, totals } = stateOf(stage, id);
    expect([run.final_status, state, totals.steps]).toEqual([
      "COMPLETED",
      through.state,
      through.totals.steps,
    ]);
  }
});

test("a crew's work in a retried run counts once, with its last outcome", async () => {
  const graph = graphOf({
    crew: { process: "sequential" },
    plan: { tasks: [{ task_id: "t", description: "do it", required_role: "Worker" }] },
    answer: () => ({ text: "" }),
  });
  const { stage, id } = await failed(graph, 1, { roles: crewRoles });
  const work = () => stage.db.$client.prepare("select agent_id, done, failed from crew_work").all();
  expect(work()).toEqual([{ agent_id: "worker", done: 0, failed: 1 }]);
  await sendCommand(stage, id, retry("crew#1"));
  await stage.host.settled(id);
  expect(stateOf(stage, id).run.final_status).toBe("COMPLETED");
  expect(work()).toEqual([{ agent_id: "worker", done: 1, failed: 0 }]);
});

test("a retried run can be forked at its end like any other", async () => {
  const { stage, id } = await failed();
  await sendCommand(stage, id, retry("ask#1"));
  await stage.host.settled(id);
  const { run_id } = stage.host.fork({
    run_id: id,
    at: { seq: stateOf(stage, id).seq },
    graph: "original",
    patches: {},
    by: "ann",
    trigger: "api",
  });
  await stage.host.settled(run_id);
  expect(stateOf(stage, run_id).run.final_status).toBe("COMPLETED");
});
