import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agent, as, call, calls, of, role, runCrew, tool } from "@/server/conformance/stage";
import type { Json } from "@/server/domain/base/values";

const team = ["lead", "junior", "senior"].map((name) => agent(name));
const roles = [role("junior", ["handoff"])];
const handover = as(
  "junior",
  calls(
    call("handoff", { destination_agent: "senior", reason: "too hard for me", context: { file: "a.py" } }),
  ),
);
const storeMemory = tool("store_memory", {
  input: z.object({ key: z.string(), value: z.json(), scope: z.string() }),
  read_only: false,
  execute: (input) => input as Json,
});

describe("handoffs by role", () => {
  test("a handoff of a plan task records the new agent and its result", async () => {
    const { state, events, models } = await runCrew(
      [handover, as("senior", { text: "solved" }), as("lead", { text: "joined" })],
      { agents: team },
      {
        roles,
        plan: {
          tasks: [
            { task_id: "hard", description: "solve it", assigned_agent: "junior" },
            { task_id: "join", description: "join", assigned_agent: "lead", dependencies: ["hard"] },
          ],
        },
      },
    );
    expect(of(events, "handed_off")).toMatchObject([{ from: "junior", to: "senior", count: 1 }]);
    expect(models.calls[1]!.messages.at(-1)!.content).toContain(
      "Do the task that was assigned to it: solve it",
    );
    expect(Object.values(state.plans)[0]!.tasks[0]).toMatchObject({
      status: "completed",
      assigned_agent: "senior",
      output: "solved",
    });
    expect(state.state.result).toBe("joined");
  });

  test("a handoff of a pattern step lets the new agent give the outcome", async () => {
    const { state } = await runCrew(
      [handover, as("senior", { json: { outcome: "good", summary: "solved" } })],
      {
        agents: team,
        process: "custom",
        collaboration_patterns: [
          { type: "custom", workflow: [{ step: "solve", agent: "junior", next_on_good: "end" }] },
        ],
      },
      { roles },
    );
    expect(state.state.result).toBe("solved");
  });

  test("a handoff of a manager's request lets the new agent answer it", async () => {
    const verdict = (answer: boolean) => ({ answer, reason: "so" });
    const decision = (send_to: string, satisfied: boolean) =>
      as("lead", {
        json: {
          plan: [],
          current_plan_step: "go",
          send_to,
          message: "solve it",
          ledger: {
            is_request_satisfied: verdict(satisfied),
            is_in_loop: verdict(false),
            is_progress_being_made: verdict(true),
          },
          stop: satisfied ? "Completed" : null,
        },
      });
    const { events } = await runCrew(
      [decision("junior", false), handover, as("senior", { text: "solved" }), decision("User", true)],
      { agents: team, process: "hierarchical", manager: { agent_id: "lead" } },
      { roles },
    );
    expect(of(events, "post_sent").map(({ from, to, kind }) => `${from} > ${to}: ${kind}`)).toEqual([
      "lead > junior: post",
      "senior > lead: reply",
      "lead > User: reply",
    ]);
  });

  test("an agent whose role does not name handoff can't hand off", async () => {
    const { models } = await runCrew(
      [as("junior", { text: "done" })],
      { agents: team },
      {
        plan: { tasks: [{ task_id: "t", description: "solve it", assigned_agent: "junior" }] },
      },
    );
    expect((models.calls[0]!.tools ?? []).map(({ name }) => name)).not.toContain("handoff");
  });
});

test("a handoff is stored in the run's memory unless the crew disables memory", async () => {
  const run = (memory: boolean) =>
    runCrew(
      [handover, as("senior", { text: "solved" })],
      { agents: team, process: "swarm", entry_agent: "junior", memory },
      { roles, tools: [storeMemory] },
    );
  expect(of((await run(true)).events, "memory_stored")).toEqual([
    { scope: "run", key: "handoff_1", tainted: false },
  ]);
  expect((await run(true)).tools.calls).toEqual([
    `junior store_memory ${JSON.stringify({
      key: "handoff_1",
      value: { from: "junior", to: "senior", reason: "too hard for me", context: { file: "a.py" } },
      scope: "run",
    })}`,
  ]);
  expect(of((await run(false)).events, "memory_stored")).toEqual([]);
});

test("parallel_handoff works in a crew with a plan if a role names it", async () => {
  const { state } = await runCrew(
    [
      as("lead", calls(call("parallel_handoff", { agents: ["junior", "senior"], tasks: ["try it"] }))),
      as("junior", { text: "A" }),
      as("senior", { text: "B" }),
      as("lead", { text: "joined" }),
    ],
    { agents: team },
    {
      roles: [role("lead", ["parallel_handoff"])],
      plan: { tasks: [{ task_id: "t", description: "solve it", assigned_agent: "lead" }] },
    },
  );
  expect(state.state.result).toBe("joined");
});
