import { describe, expect, test } from "vitest";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import { draw } from "@/server/domain/testing/drawing";
import type { NewEvent } from "../events";
import { forkErrors } from "../fork/fork-check";
import { agentStarted, completed, created, crewRun, fold, of, ready, started } from "../testing";

const { running, graph } = crewRun({ members: { ann: "Writer", bob: "Reader" } });
const plan = of("crew", "plan_created", {
  by: "ann",
  plan: ExecutionPlan.parse({ tasks: [{ task_id: "t", description: "Do it", assigned_agent: "ann" }] }),
});
const held = fold(
  ...running,
  { type: "state_initialized", payload: { state: { n: 1 }, defaults_applied: [] } },
  agentStarted("ann", "Writer"),
  of(
    "crew",
    "message_added",
    { message: { role: "user", content: "Hi" }, origin: "template" },
    { agent_id: "ann" },
  ),
  plan,
);

describe("what stands in the way of a fork", () => {
  const edit = (activation_id: string, task_id = "t") => ({
    plan: [{ activation_id, edit: { kind: "cancel" as const, task_id } }],
  });
  const message = (agent: string, at: number) => ({ messages: [{ agent, at, content: "x" }] });
  test.each<[string, () => string[], string[]]>([
    ["nothing, where nothing is changed", () => forkErrors(held, {}), []],
    ["no key that is there", () => forkErrors(held, { state: { set: { m: 1 }, remove: ["n"] } }), []],
    [
      "a key that is not there",
      () => forkErrors(held, { state: { set: {}, remove: ["n", "m"] } }),
      ["The state has no “m” at that point, so it can't be removed."],
    ],
    ["no message that an agent had", () => forkErrors(held, message("crew#1/ann", 0)), []],
    [
      "a message that it had not",
      () => forkErrors(held, message("crew#1/ann", 1)),
      ["crew#1/ann had 1 messages at that point, and no message 1."],
    ],
    [
      "an agent that was not at work",
      () => forkErrors(held, message("crew#1/bob", 0)),
      ["Agent crew#1/bob was not active at that point."],
    ],
    ["no change of a plan that fits", () => forkErrors(held, edit("crew#1")), []],
    [
      "a change of a plan that does not fit",
      () => forkErrors(held, edit("crew#1", "x")),
      ['There is no task "x". The plan has: t.'],
    ],
    [
      "a crew that was not at work",
      () => forkErrors(held, edit("crew#2")),
      ["No crew was active in crew#2 at that point."],
    ],
    [
      "a crew without a plan",
      () => forkErrors(fold(...running), edit("crew#1")),
      ["No crew was active in crew#1 at that point."],
    ],
    [
      "a crew that had ended",
      () =>
        forkErrors(
          fold(...running, plan, of("crew", "crew_finished", { status: "completed" })),
          edit("crew#1"),
        ),
      ["No crew was active in crew#1 at that point."],
    ],
    [
      "a place to stop that is not there",
      () => forkErrors(held, {}, undefined, { stop_at: "x" }),
      ['This workflow has no node "x".'],
    ],
    [
      "a condition that cannot be read",
      () => forkErrors(held, {}, undefined, { breakpoints: [{ on: "error", condition: "1 +" }] }),
      [expect.any(String)],
    ],
    ["no place to stop that is there", () => forkErrors(held, {}, undefined, { stop_at: "crew" }), []],
    [
      "a place to stop that the present drawing lacks",
      () =>
        forkErrors(held, {}, draw("start > crew", { crew: { node_type: "crew_task" } }), { stop_at: "end" }),
      ['This workflow has no node "end".'],
    ],
  ])("is %s", (_what, actual, wanted) => {
    expect(actual()).toEqual(wanted);
  });

  test("is the present drawing, where what is at work has no place in it", () => {
    const drawn = draw("start > a > b > end; start > c > b", { a: { name: "First" }, c: { name: "" } });
    const took = (from: string, to: string, edge_id: string) =>
      ({ ...of(to, "edge_taken", { edge_id }), activation_id: `${from}#1` }) as NewEvent;
    const s = fold(created(drawn), ready("a"), started("a"), ready("c"), ready("a#2"), took("a", "b", "e1"));
    const gone = (name: string, id: string) =>
      `${name} is active or queued at that point, but the current workflow has no ${id}.`;
    expect(forkErrors(s, {}, drawn)).toEqual([]);
    expect(forkErrors(s, {}, { ...draw("start > b"), edges: [] })).toEqual([
      gone("c", "c"),
      gone("First", "a"),
      "The connection e1 is waiting for others at that point, but the current workflow has no e1.",
    ]);
    const other = draw("start > a > b > end; start > c > b", { a: { node_type: "note", config: {} } });
    expect(forkErrors(s, {}, other)).toEqual([
      "First is active or queued at that point, but has a different node type in the current workflow.",
    ]);
  });

  test("is the present drawing without an end that was reached, and not without a step that is over", () => {
    const s = fold(
      created(graph),
      ready("start"),
      started("start"),
      completed("start"),
      ready("end"),
      started("end"),
      completed("end"),
    );
    expect(forkErrors(s, {}, draw("crew > x"))).toEqual([
      "end is active or queued at that point, but the current workflow has no end.",
    ]);
    const waiting = fold(created(graph), ready("end"), started("end"));
    expect(forkErrors(waiting, {}, draw("start > crew > end", { crew: { node_type: "crew_task" } }))).toEqual(
      [],
    );
  });
});
