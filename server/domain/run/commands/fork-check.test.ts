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

describe("errors of a fork", () => {
  const edit = (activation_id: string, task_id = "t") => ({
    plan: [{ activation_id, edit: { kind: "cancel" as const, task_id } }],
  });
  const message = (agent: string, at: number) => ({ messages: [{ agent, at, content: "x" }] });
  test.each<[string, () => string[], string[]]>([
    ["no error if nothing is changed", () => forkErrors(held, {}), []],
    [
      "no error for a key that exists",
      () => forkErrors(held, { state: { set: { m: 1 }, remove: ["n"] } }),
      [],
    ],
    [
      "an error for a missing key",
      () => forkErrors(held, { state: { set: {}, remove: ["n", "m"] } }),
      ["The state has no “m” at that point, so it can't be removed."],
    ],
    ["no error for a message that exists", () => forkErrors(held, message("crew#1/ann", 0)), []],
    [
      "an error for a missing message",
      () => forkErrors(held, message("crew#1/ann", 1)),
      ["crew#1/ann had 1 messages at that point, and no message 1."],
    ],
    [
      "an error for an agent that was not active",
      () => forkErrors(held, message("crew#1/bob", 0)),
      ["Agent crew#1/bob was not active at that point."],
    ],
    ["no error for a valid plan edit", () => forkErrors(held, edit("crew#1")), []],
    [
      "an error for an invalid plan edit",
      () => forkErrors(held, edit("crew#1", "x")),
      ['There is no task "x". The plan has: t.'],
    ],
    [
      "an error for a crew that was not active",
      () => forkErrors(held, edit("crew#2")),
      ["No crew was active in crew#2 at that point."],
    ],
    [
      "an error for a crew without a plan",
      () => forkErrors(fold(...running), edit("crew#1")),
      ["No crew was active in crew#1 at that point."],
    ],
    [
      "an error for a crew that had ended",
      () =>
        forkErrors(
          fold(...running, plan, of("crew", "crew_finished", { status: "completed" })),
          edit("crew#1"),
        ),
      ["No crew was active in crew#1 at that point."],
    ],
    [
      "an error for a missing stop point",
      () => forkErrors(held, {}, undefined, { stop_at: "x" }),
      ['This workflow has no node "x".'],
    ],
    [
      "an error for a condition that does not parse",
      () => forkErrors(held, {}, undefined, { breakpoints: [{ on: "error", condition: "1 +" }] }),
      [expect.any(String)],
    ],
    ["no error for a stop point that exists", () => forkErrors(held, {}, undefined, { stop_at: "crew" }), []],
    [
      "an error for a stop point that the current workflow lacks",
      () =>
        forkErrors(held, {}, draw("start > crew", { crew: { node_type: "crew_task" } }), { stop_at: "end" }),
      ['This workflow has no node "end".'],
    ],
  ])("the fork check reports %s", (_what, actual, wanted) => {
    expect(actual()).toEqual(wanted);
  });

  test("a fork to the current workflow needs every active or queued node and pending connection in it", () => {
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

  test("a fork to the current workflow needs end nodes that were reached, but not completed steps", () => {
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
