import { describe, expect, test } from "vitest";
import type { RunError } from "@/server/domain/agent/outcome";
import { foldRun, type RunState } from "@/server/domain/run";
import type { NewEvent, RunEvent } from "@/server/domain/run/events";
import { newStage } from "../testing";
import { cases, graphOf, modelsOf, roles } from "./testing";

/** Everything of a run that has not ended, by what it is. */
function leftOf(state: RunState): string[] {
  const under = (kind: string, all: Record<string, { status: string }>, ...open: string[]) =>
    Object.entries(all)
      .filter(([, { status }]) => open.includes(status))
      .map(([id, { status }]) => `${kind} ${id} is ${status}`);
  const delegations = Object.values(state.crews).flatMap(({ exchanges }) =>
    exchanges.flatMap((one) => (one.kind === "delegation" && !one.done ? [one.delegation.child] : [])),
  );
  return [
    ...under("node", state.nodes, "ready", "running", "waiting"),
    ...under("activation", state.activations, "ready", "running", "waiting"),
    ...under("crew", state.crews, "running"),
    ...under("agent", state.agents, "running"),
    ...under("call", state.calls, "running"),
    ...under("tool call", state.tool_calls, "running"),
    ...under("question", state.interactions, "open"),
    ...delegations.map((child) => `delegation ${child} is running`),
    ...Object.values(state.crews).flatMap(({ status, proposals, active_agent }) => [
      ...(active_agent ? [`${active_agent} is to act`] : []),
      ...(status === "running"
        ? Object.values(proposals).flatMap(({ id, outcome }) => (outcome ? [] : [`vote ${id} is open`]))
        : []),
    ]),
    ...Object.values(state.plans).flatMap(({ tasks }) =>
      tasks
        .filter(({ status }) => ["pending", "in_progress", "awaiting_human"].includes(status))
        .map(({ task_id, status }) => `task ${task_id} is ${status}`),
    ),
  ];
}

const error: RunError = { code: "INTERNAL", message: "so", retryable: true, user_action: "retry" };
const CREW = { node_id: "crew", activation_id: "crew#1" } as const;
const over = (final_status: "CANCELLED" | "ERROR", reason_code: "CANCELLED" | "INTERNAL"): NewEvent => ({
  type: "run_finished",
  payload: { final_status, reason_code, output: {}, warnings: [] },
});

/** Each way in which a crew's work can be broken off, as its events tell it. */
const ends: Record<string, NewEvent[]> = {
  "a person cancels the run": [
    { type: "run_cancel_requested", payload: { by: "user", reason: "" } },
    { type: "node_cancelled", ...CREW, payload: { reason: "" } },
    over("CANCELLED", "CANCELLED"),
  ],
  "its node fails, and so does the run": [
    { type: "node_failed", ...CREW, payload: { attempt: 1, error, next: "fail_run" } },
    over("ERROR", "INTERNAL"),
  ],
  "the run ends without a word about its node": [over("ERROR", "INTERNAL")],
};

describe("no active work after a run has ended", () => {
  for (const [name, one] of Object.entries(cases))
    test(name, async () => {
      const { events, state } = await newStage({ models: modelsOf(one.answer) }).run(graphOf(one), { roles });
      expect({ status: state.run.final_status, left: leftOf(state) }).toEqual({
        status: "COMPLETED",
        left: [],
      });
      const begun = events.findIndex(({ type, node_id }) => type === "node_started" && node_id === "crew");
      const ended = events.findIndex(({ type, node_id }) => type === "node_completed" && node_id === "crew");
      let mostLeft = 0;
      for (let cut = begun + 1; cut <= ended; cut++) {
        const before = events.slice(0, cut);
        mostLeft = Math.max(mostLeft, leftOf(foldRun("cut", before)).length);
        for (const [how, last] of Object.entries(ends)) {
          const log = [
            ...before,
            ...last.map((event, at): RunEvent => ({ ...event, seq: cut + at + 1, ts: before.at(-1)!.ts })),
          ];
          expect({ cut, how, left: leftOf(foldRun("cut", log)) }).toEqual({ cut, how, left: [] });
        }
        const again = [
          ...before,
          {
            type: "node_failed",
            ...CREW,
            payload: { attempt: 1, error, next: "retry" },
            seq: cut + 1,
            ts: before.at(-1)!.ts,
          } as const satisfies RunEvent,
        ];
        // Only the node itself waits for its next attempt.
        expect({ cut, left: leftOf(foldRun("cut", again)) }).toEqual({
          cut,
          left: ["node crew is waiting", "activation crew#1 is waiting"],
        });
      }
      expect(mostLeft).toBeGreaterThan(4);
    });
});

describe("a crew whose node ends early", () => {
  const swarm = cases.swarm!;
  const silent = (stopAt: string) =>
    modelsOf((request) =>
      request.messages[0]!.content.includes(`You are ${stopAt}`) ? { hang: true } : swarm.answer(request),
    );

  test("a crew fails with its agents when its node times out", async () => {
    const { state } = await newStage({ models: silent("Worker") }).run(
      graphOf(swarm, { run_timeout_ms: 60 }),
      { roles },
    );
    expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "TIMEOUT" });
    expect(leftOf(state)).toEqual([]);
    expect(state.crews["crew#1"]?.status).toBe("failed");
    expect(Object.values(state.agents).map(({ agent_id, status }) => [agent_id, status])).toEqual([
      ["lead", "handed_off"],
      ["worker", "stopped"],
    ]);
  });

  test("a crew is stopped when a person cancels the run", async () => {
    const stage = newStage({ models: silent("Worker") });
    const id = stage.start(graphOf(swarm), { roles });
    await expect
      .poll(() => Object.values(stage.store.state(id)?.agents ?? {}).map(({ agent_id }) => agent_id))
      .toContain("worker");
    stage.host.cancel(id, { by: "user", reason: "enough" });
    await stage.host.settled(id);
    const state = stage.store.state(id)!;
    expect(state.run.final_status).toBe("CANCELLED");
    expect(leftOf(state)).toEqual([]);
    expect(state.crews["crew#1"]?.status).toBe("stopped");
  });
});
