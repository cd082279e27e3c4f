import { describe, expect, test } from "vitest";
import { agent, as, crewGraph, newScriptedStage, of, role, runCrew } from "@/server/conformance/stage";
import { inOrder } from "@/server/domain/crew/starting-plan";

const team = ["analyst", "coder", "tester"].map((name) => agent(name));
const task = (task_id: string, who: string, more: object = {}) => ({
  task_id,
  description: `do ${task_id}`,
  assigned_agent: who,
  ...more,
});
const begun = (events: Parameters<typeof of>[0]) =>
  of(events, "task_status_changed").flatMap(({ to, assigned_agent }) =>
    to === "in_progress" ? [assigned_agent] : [],
  );

describe("resumed plans", () => {
  test("a resumed plan keeps completed results and restarts tasks that were in progress", async () => {
    const { state, models } = await runCrew(
      [as("coder", { text: "coded" }), as("tester", { text: "tested" })],
      { agents: team },
      {
        plan: {
          tasks: [
            task("a", "analyst", { status: "completed", output: "analysed", tokens_used: 7 }),
            task("b", "coder", { status: "in_progress", dependencies: ["a"] }),
            task("c", "tester", { dependencies: ["b"] }),
          ],
        },
      },
    );
    expect(models.calls[0]!.messages.at(-1)!.content).toContain('<result task="a">analysed</result>');
    expect(Object.values(state.plans)[0]!.tasks).toMatchObject([
      { status: "completed", output: "analysed", tokens_used: 7 },
      { status: "completed", output: "coded" },
      { status: "completed", output: "tested" },
    ]);
    expect(state.state.result).toBe("tested");
  });

  test("a resumed plan retries failed tasks unless the crew continues after failures", async () => {
    const plan = {
      tasks: [task("a", "analyst", { status: "failed", error_message: "no net" }), task("b", "coder")],
    };
    const again = await runCrew([{ text: "A" }, { text: "B" }], { agents: team }, { plan });
    expect(begun(again.events)).toEqual(["analyst", "coder"]);
    const rest = await runCrew(
      [{ text: "B" }],
      { agents: team, on_task_failure: "continue_independent" },
      { plan },
    );
    expect(begun(rest.events)).toEqual(["coder"]);
    expect(rest.state.run.warnings).toEqual(["Some of crew's tasks failed: no net"]);
  });

  test("a resumed plan asks a person about failed tasks if failures are escalated", async () => {
    const stage = newScriptedStage([as("coder", { text: "B" })]);
    const id = stage.start(
      crewGraph(
        { agents: team, on_task_failure: "escalate" },
        { tasks: [task("a", "analyst", { status: "failed", error_message: "no net" }), task("b", "coder")] },
      ),
      { roles: team.map(({ agent_id }) => role(agent_id)) },
    );
    await expect.poll(() => stage.store.find(id)?.status).toBe("waiting");
    const [question] = Object.values(stage.store.state(id)!.interactions);
    expect(question!.requested).toMatchObject({ title: '"a" failed. Continue without it?', why: "no net" });
    stage.host.steering.answer(id, question!.id, question!.requested.fingerprint, {
      answer: "approve",
      by: "ann",
    });
    await stage.host.settled(id);
    expect(stage.store.state(id)!.state.result).toBe("B");
  });
});

describe("crew output", () => {
  test("a crew returns its last task's output even if an earlier task has the output's name", async () => {
    const { state } = await runCrew(
      [{ text: "known" }, { text: "RAW" }, { text: "CORRECTED" }],
      { agents: team },
      {
        plan: {
          tasks: [
            task("research", "analyst"),
            task("result", "coder", { dependencies: ["research"] }),
            task("review", "tester", { dependencies: ["result"] }),
          ],
        },
      },
    );
    expect(state.state.result).toBe("CORRECTED");
  });

  test("a crew with several last tasks returns the output of the task with its name", async () => {
    const { state } = await runCrew(
      [{ text: "one" }, { text: "two" }],
      { agents: team },
      { plan: { tasks: [task("result", "analyst"), task("other", "coder")] } },
    );
    expect(state.state.result).toBe("one");
  });

  test("work on criteria never overwrites a task of the same name", async () => {
    const { state } = await runCrew(
      [
        { text: "first" },
        { text: "short" },
        { json: { verdicts: [{ criterion: "it is long", met: false, evidence: "short" }] } },
        { text: "very long" },
        { json: { verdicts: [{ criterion: "it is long", met: true, evidence: "long" }] } },
      ],
      { agents: [agent("analyst")] },
      {
        plan: {
          success_criteria: ["it is long"],
          tasks: [task("correction", "analyst"), task("criteria-1", "analyst")],
        },
      },
    );
    expect(state.state.result).toBe("very long");
    expect(Object.keys(state.agents).map((key) => key.split("/").at(-1))).toEqual(
      expect.arrayContaining(["correction", "criteria-1", "correction_2", "criteria-1_2"]),
    );
  });
});

describe("generated plans", () => {
  const written = (tasks: object[], more: object = {}) => ({
    json: { parsed_intent: { goal: "g", complexity: "complex" }, tasks, ...more } as never,
  });
  const one = (task_id: string, required_role: string, more: object = {}) => ({
    task_id,
    description: `do ${task_id}`,
    required_role,
    dependencies: [],
    expected_output: "text",
    ...more,
  });

  test("a generated plan has priorities, durations, tags and criteria, and urgent tasks start first", async () => {
    const { state, events } = await runCrew(
      [
        written(
          [
            one("later", "coder", { priority: "low" }),
            one("now", "tester", { priority: "critical", estimated_duration: "2h", tags: ["urgent"] }),
          ],
          { success_criteria: ["it works"] },
        ),
        as("tester", { text: "N" }),
        as("coder", { text: "L" }),
        { json: { verdicts: [{ criterion: "it works", met: true, evidence: "seen" }] } },
      ],
      { agents: team, planning: true },
    );
    expect(begun(events)).toEqual(["tester", "coder"]);
    const plan = Object.values(state.plans)[0]!;
    expect(plan.success_criteria).toEqual(["it works"]);
    expect(plan.tasks[1]).toMatchObject({
      priority: "critical",
      estimated_duration: "2h",
      metadata: { tags: ["urgent"] },
    });
  });

  test("a generated plan runs with sync points, whose names the planner knows", async () => {
    const { state, models } = await runCrew(
      [
        written([
          one("d1", "coder", { tags: ["design_review"] }),
          one("d2", "tester", { tags: ["design_review"] }),
          one("c1", "coder", { dependencies: ["d1"] }),
        ]),
        ...["a", "b", "c", "d", "e"].map((text) => ({ text })),
      ],
      {
        agents: [agent("lead"), agent("coder"), agent("tester")],
        collaboration_patterns: [
          {
            parallel_groups: [
              {
                name: "devs",
                agents: ["coder", "tester"],
                coordination_agent: "lead",
                sync_points: ["design_review", "integration_testing"],
              },
            ],
          },
        ],
      },
    );
    expect(models.calls[0]!.messages.at(-1)!.content).toContain("design_review, integration_testing");
    expect(state.run.final_status).toBe("COMPLETED");
    expect(inOrder(Object.values(state.plans)[0]!.tasks).map(({ task_id }) => task_id)).toEqual([
      "d1",
      "d2",
      "sync_design_review",
      "c1",
      "sync_integration_testing",
    ]);
  });

  test("a generated plan that omits an intervention point asks a person before it runs", async () => {
    const stage = newScriptedStage([written([one("write", "coder")])]);
    const id = stage.start(
      crewGraph({ agents: team }, { human_intervention_points: ["before_deployment"], tasks: [] }),
      { roles: team.map(({ agent_id }) => role(agent_id)) },
    );
    await expect.poll(() => stage.store.find(id)?.status).toBe("waiting");
    const state = stage.store.state(id)!;
    const [question] = Object.values(state.interactions);
    expect(question!.requested.why).toContain("before_deployment");
    expect(question!.requested.why).toBe(state.run.warnings.join(" "));
    stage.host.steering.answer(id, question!.id, question!.requested.fingerprint, {
      answer: "reject",
      by: "ann",
    });
    await stage.host.settled(id);
    expect(stage.store.state(id)!.run).toMatchObject({
      final_status: "ERROR",
      reason_code: "HUMAN_REJECTED",
    });
  });

  test("a generated plan is sent back if a task has the name of an input", async () => {
    const stage = newScriptedStage([
      written([one("topic", "coder")]),
      written([one("draft", "coder")]),
      { text: "done" },
    ]);
    const graph = crewGraph({ agents: team, planning: true });
    graph.nodes.start!.output_keys = ["topic"];
    graph.nodes.crew!.input_keys = ["topic"];
    const { state } = await stage.run(graph, {
      input: { topic: "owls" },
      roles: team.map(({ agent_id }) => role(agent_id)),
    });
    expect(Object.values(state.plans)[0]!.tasks.map(({ task_id }) => task_id)).toEqual(["draft"]);
  });
});

test("a cycle caused by sync points fails the run with the cycle in the error", async () => {
  const tag = (...tags: string[]) => ({ metadata: { tags } });
  const { events, state } = await runCrew(
    [],
    {
      agents: team,
      collaboration_patterns: [
        {
          parallel_groups: [
            {
              name: "g",
              agents: ["analyst", "coder"],
              coordination_agent: "tester",
              sync_points: ["p", "q"],
            },
          ],
        },
      ],
    },
    {
      plan: {
        tasks: [
          task("a", "analyst", tag("p")),
          task("b", "coder", { dependencies: ["a"], ...tag("q") }),
          task("c", "coder", tag("q")),
          task("d", "analyst", { dependencies: ["c"], ...tag("p") }),
        ],
      },
    },
  );
  expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "CONFIG" });
  expect(of(events, "node_failed")[0]?.error.message).toContain(
    "b waits for sync_p, sync_p for d, d for sync_q, sync_q for b",
  );
});

test("an unassigned task goes to the agent with the best matching role", async () => {
  const { events } = await runCrew(
    [{ text: "found" }, { text: "written" }],
    { agents: [agent("scribe"), agent("scout")] },
    {
      roles: [
        role("scribe", [], { description: "Writes clear reports" }),
        role("scout", ["web_search"], { description: "Gathers facts" }),
      ],
      plan: {
        tasks: [
          { task_id: "a", description: "Search the web for prices" },
          { task_id: "b", description: "Write the report" },
        ],
      },
    },
  );
  expect(begun(events)).toEqual(["scout", "scribe"]);
});
