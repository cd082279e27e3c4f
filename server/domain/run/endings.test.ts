import { describe, expect, test } from "vitest";
import { NO_USAGE } from "@/server/domain/agent/outcome";
import { draw } from "@/server/domain/testing/drawing";
import type { NewEvent } from "./events";
import {
  agentFinished,
  agentStarted,
  completed,
  created,
  crewRun,
  fold,
  of,
  over,
  paused,
  ready,
  started,
} from "./testing";

const line = draw("start > a > end");
const members = { ann: "Writer", bob: "Reader" };
const { running } = crewRun({ members });
const by = (agent_id: string, task_id?: string) => ({ agent_id, ...(task_id ? { task_id } : {}) });

describe("unfinished work of an agent or node that ended", () => {
  const asked = (agent: string, call_id: string, task_id?: string) =>
    of(
      "crew",
      "llm_call_started",
      { purpose: "task", attempt: 1, message_count: 1 },
      { ...by(agent, task_id), call_id },
    );
  const tool = (agent: string, call_id: string, task_id?: string) =>
    of(
      "crew",
      "tool_call_started",
      { tool_name: "look", args: {}, protocol: "native", risk: "LOW" },
      { ...by(agent, task_id), call_id },
    );
  const question = (interaction_id: string, agent: string, more: object = {}) =>
    of(
      "crew",
      "interaction_requested",
      { interaction_id, kind: "question", title: "?", why: "", fingerprint: "f", expires_at: 900, ...more },
      by(agent),
    );
  const events = [
    ...running,
    agentStarted("ann", "Writer"),
    agentStarted("bob", "Reader"),
    asked("ann", "m1"),
    asked("bob", "m2"),
    asked("ann", "m3", "other"),
    tool("ann", "t1"),
    tool("bob", "t2"),
    tool("ann", "t3", "other"),
    question("q1", "ann"),
    question("q2", "bob"),
    question("q3", "ann", { mode: "advisory" }),
  ];
  const snapshot = (state: ReturnType<typeof fold>) => [
    Object.values(state.calls).map(({ status }) => status),
    Object.values(state.tool_calls).map(({ status }) => status),
    Object.values(state.interactions).map(({ status }) => status),
    [[...state.at_work], [...state.calling], [...state.asking]],
    [state.activations["crew#1"]?.status, state.activations["crew#1"]?.waiting],
  ];
  const waiting = { for: "human", until: 900 };
  const [ann, bob] = ["crew#1/ann", "crew#1/bob"];

  test("a failed agent stops its own calls and withdraws its questions, but not those of others", () => {
    const failed = of(
      "crew",
      "agent_finished",
      { status: "failed", usage: NO_USAGE, cost_usd: 0 },
      by("ann"),
    );
    expect(snapshot(fold(...events, failed))).toEqual([
      ["stopped", "running", "running"],
      ["stopped", "running", "running"],
      ["withdrawn", "open", "open"],
      [[bob], ["t2", "t3"], ["q2", "q3"]],
      ["waiting", waiting],
    ]);
    const last = of("crew", "agent_finished", { status: "stopped", usage: NO_USAGE, cost_usd: 0 }, by("bob"));
    // With the last question that holds it up withdrawn, the node goes on.
    expect(snapshot(fold(...events, failed, last)).at(-1)).toEqual(["running", undefined]);
  });

  test("a completed agent leaves its calls and questions open", () => {
    expect(snapshot(fold(...events, agentFinished("ann"))).slice(0, 3)).toEqual([
      ["running", "running", "running"],
      ["running", "running", "running"],
      ["open", "open", "open"],
    ]);
  });

  test("a node that ended stops all its calls and questions except advisory ones", () => {
    const all = [
      ["stopped", "stopped", "stopped"],
      ["stopped", "stopped", "stopped"],
      ["withdrawn", "withdrawn", "open"],
      [[], [], ["q3"]],
    ];
    const ended = fold(...events, completed("crew"));
    expect(snapshot(ended)).toEqual([...all, ["completed", undefined]]);
    expect(ended.agents[ann]?.status).toBe("stopped");
    expect(ended.agents[bob]?.status).toBe("stopped");
    expect(ended.crews["crew#1"]?.status).toBe("completed");
    const cancelled = fold(...events, of("crew", "node_cancelled", { reason: "x" }));
    expect([...snapshot(cancelled), cancelled.crews["crew#1"]?.status]).toEqual([
      ...all,
      ["cancelled", undefined],
      "stopped",
    ]);
    expect(snapshot(fold(...events, over({ final_status: "CANCELLED" })))).toEqual([
      ...all,
      ["cancelled", undefined],
    ]);
  });

  test("a node that ended leaves the work of another activation", () => {
    const other = { ...tool("ann", "t9"), activation_id: "crew#2" } as NewEvent;
    const asking = { ...question("q9", "ann"), activation_id: "crew#2" } as NewEvent;
    const state = fold(...events, other, asking, completed("crew"));
    expect([state.tool_calls.t9?.status, state.interactions.q9?.status]).toEqual(["running", "open"]);
  });

  test("a node waits until each blocking question is answered, and extends its deadline", () => {
    const answer = (interaction_id: string) =>
      of("crew", "interaction_answered", { interaction_id, answer: "approve", by: "eve" });
    const extended = of("crew", "interaction_extended", { interaction_id: "q1", expires_at: 950 });
    const escalated = (level: number, more: object = {}) =>
      of("crew", "interaction_escalated", { interaction_id: "q1", level, to: "lead", ...more });
    const reminded = of("crew", "interaction_reminded", { interaction_id: "q1" });
    const state = fold(
      ...events,
      reminded,
      extended,
      escalated(1),
      escalated(2, { expires_at: 990 }),
      answer("q2"),
    );
    expect(snapshot(state).at(-1)).toEqual(["waiting", { for: "human", until: 990 }]);
    expect(state.interactions.q1).toEqual({
      id: "q1",
      node_id: "crew",
      activation_id: "crew#1",
      agent_id: "ann",
      status: "open",
      requested: expect.objectContaining({ title: "?", assigned_to: "lead", expires_at: 990 }),
      requested_at: 120,
      reminded_at: 150,
      escalated: [
        { level: 1, to: "lead", at: 170 },
        { level: 2, to: "lead", at: 180 },
      ],
    });
    const done = fold(...events, answer("q1"), answer("q2"));
    expect(snapshot(done).at(-1)).toEqual(["running", undefined]);
    expect(done.interactions.q2).toMatchObject({
      status: "answered",
      answered_at: 160,
      answered: { answer: "approve", by: "eve" },
    });
    // What is not known, or waits for something else, is left as it is.
    const strange = fold(
      created(line),
      ready("a"),
      started("a"),
      of("a", "node_waiting", { for: "signal", name: "go" }),
      of("a", "interaction_extended", { interaction_id: "x", expires_at: 1 }),
      of("a", "interaction_escalated", { interaction_id: "x", level: 1, to: "y", expires_at: 1 }),
      of("a", "interaction_reminded", { interaction_id: "x" }),
      of("a", "interaction_answered", { interaction_id: "x", answer: "approve", by: "eve" }),
    );
    expect(strange.interactions).toEqual({});
    expect(strange.activations["a#1"]?.waiting).toEqual({ for: "signal", name: "go" });
    expect(fold(created(line), paused).run.paused_at).toEqual({
      point: "anywhere",
      reason: "person",
      by: "ann",
      since: 10,
    });
  });
});
