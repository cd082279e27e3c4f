import { expect, test } from "vitest";
import { agent, as, call, calls, crewGraph, newScriptedStage, of, role } from "@/server/conformance/stage";
import { must } from "@/server/domain/base/must";
import { newScriptedModels } from "@/server/llm/scripted";
import { cutAt, newStage } from "@/server/runner/testing";
import { Retention } from "@/server/store/runs/retention";

const team = { agents: [agent("ann"), agent("bob")], on_task_failure: "continue_independent" as const };
const roles = [role("ann"), role("bob")];
const open = { tasks: [{ task_id: "t", description: "the test to be done" }] };
const named = (agent_id: string) => ({
  tasks: [{ task_id: "t", description: "do it", assigned_agent: agent_id }],
});

/** A stage on which both have a past: ann lost three of five tasks, bob none of five. */
async function stageWithPast(...after: Parameters<typeof newScriptedStage>[0]) {
  const lost = Array.from({ length: 3 }, () => as("ann", { refusal: "no" }));
  const done = ["ann", "ann", "bob", "bob", "bob", "bob", "bob"];
  const stage = newScriptedStage([...lost, ...done.map((name) => as(name, { text: "done" })), ...after]);
  for (const name of [...lost.map(() => "ann"), ...done])
    await stage.run(crewGraph(team, named(name)), { roles });
  return stage;
}

test("an unassigned task goes to the agent with fewer past failures, with the reason", async () => {
  const stage = await stageWithPast(as("bob", { text: "done" }));
  const { events } = await stage.run(crewGraph(team, open), { roles });
  expect(of(events, "run_created")[0]?.past_work).toEqual([
    {
      node_id: "crew",
      agent_id: "ann",
      role_name: "ann",
      own: { done: 2, failed: 3, sent_back: 0 },
      role: { done: 2, failed: 3, sent_back: 0 },
    },
    {
      node_id: "crew",
      agent_id: "bob",
      role_name: "bob",
      own: { done: 5, failed: 0, sent_back: 0 },
      role: { done: 5, failed: 0, sent_back: 0 },
    },
  ]);
  expect(of(events, "task_status_changed")[0]).toEqual({
    from: "pending",
    to: "in_progress",
    assigned_agent: "bob",
    chosen_because:
      "it matches as well as ann, and in earlier runs less of its work failed or was sent back: 0 of 5 compared to 3 of 5",
  });
});

test("without past work, the crew's order decides and prompts mention no earlier runs", async () => {
  const stage = newScriptedStage([as("ann", { text: "done" })]);
  const { events } = await stage.run(crewGraph(team, open), { roles });
  expect(of(events, "run_created")[0]).not.toHaveProperty("past_work");
  expect(of(events, "task_status_changed")[0]).toMatchObject({ assigned_agent: "ann" });
  expect(JSON.stringify(stage.models.calls)).not.toContain("earlier runs");
});

test("deleting old runs keeps their past work", async () => {
  const stage = await stageWithPast(as("bob", { text: "done" }));
  const retention = new Retention(stage.db, { dataDir: null, defaults: { days: null, runs: 1 } });
  await retention.sweep();
  expect(stage.store.list()).toHaveLength(1);
  const { events } = await stage.run(crewGraph(team, open), { roles });
  expect(of(events, "run_created")[0]?.past_work?.[0]?.own).toEqual({ done: 2, failed: 3, sent_back: 0 });
});

test("a run counts once in past work even if its last turn is written again", async () => {
  const stage = newScriptedStage([as("ann", { text: "done" })]);
  const { id } = await stage.run(crewGraph(team, named("ann")), { roles });
  const turns = stage.store.journal(id).turns;
  const work = {
    workflow_id: "wf_test",
    simulated: false,
    done: [
      { node_id: "crew", crew_id: "", agent_id: "ann", role_name: "ann", done: 1, failed: 0, sent_back: 0 },
    ],
  };
  stage.store.write(turns.slice(-1).map((turn) => ({ ...turn, runId: id, timers: [], work })));
  const past = stage.store.pastWork({ workflow_id: "wf_test", simulated: false }, crewGraph(team));
  expect(past).toMatchObject([{ agent_id: "ann", own: { done: 1 } }]);
});

test("a result sent back by a person counts against its agent", async () => {
  const stage = newScriptedStage([as("ann", { text: "poor" }), as("ann", { text: "good" })]);
  const plan = {
    tasks: [{ task_id: "t", description: "do it", assigned_agent: "ann", human_review: true }],
  };
  const id = stage.start(crewGraph(team, plan), { roles });
  for (const [at, answer] of (["reject", "approve"] as const).entries()) {
    const questions = () => Object.values(stage.store.state(id)?.interactions ?? {});
    await expect.poll(() => questions()).toHaveLength(at + 1);
    const { id: question, requested } = must(questions(), at);
    stage.host.steering.answer(id, question, requested.fingerprint, { answer, by: "user" });
  }
  await stage.host.settled(id);
  expect(stage.store.pastWork({ workflow_id: "wf_test", simulated: false }, crewGraph(team))).toMatchObject([
    { agent_id: "ann", own: { done: 2, failed: 0, sent_back: 1 } },
  ]);
});

test("an agent that can hand off sees the others' past work", async () => {
  const stage = await stageWithPast(
    as("ann", calls(call("handoff", { destination_agent: "bob", reason: "better at it" }))),
    as("bob", { text: "done" }),
  );
  await stage.run(crewGraph({ ...team, process: "swarm", entry_agent: "ann" }), { roles });
  const [content] = stage.models.calls.slice(-2).map(({ messages }) => messages.at(-1)?.content);
  expect(content).toMatch(
    /<crew_status>[^]*Work in earlier runs:\n- bob: 5 done, 0 failed, 0 sent back[^]*<\/crew_status>/,
  );
});

test("planners and managers see the others' past work", async () => {
  const stage = await stageWithPast();
  for (const crew of [
    { ...team, planning: true, manager: { agent_id: "ann" } },
    { ...team, process: "hierarchical" as const, manager: { agent_id: "ann" } },
  ]) {
    const before = stage.models.calls.length;
    await stage.run(crewGraph(crew), { roles });
    const asked = stage.models.calls.slice(before).map(({ messages }) => messages.at(-1)?.content);
    expect(asked).toContainEqual(
      expect.stringContaining("Work in earlier runs:\n- bob: 5 done, 0 failed, 0 sent back"),
    );
  }
});

test("a recovered run assigns its tasks as before, even if past work has changed", async () => {
  const answer = as("bob", { text: "done" });
  const stage = await stageWithPast(answer);
  const { id, events } = await stage.run(crewGraph(team, open), { roles });
  const choices = of(events, "task_status_changed");
  expect(choices).toHaveLength(2);
  for (let turns = 1; turns < stage.store.journal(id).turns.length; turns++) {
    // The copy has no sums at all.
    const again = newStage({ models: newScriptedModels([answer]), db: cutAt(stage, id, turns) });
    again.host.recover();
    await again.host.settled(id);
    expect(of(again.store.events(id, 0, 1e6), "task_status_changed")).toEqual(choices);
  }
});
