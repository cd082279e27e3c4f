import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { crewDiagnostics } from "@/server/domain/crew/crew-diagnostics";
import { customPatterns, parallelGroups } from "@/server/domain/crew/pattern";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import { freshPlan } from "@/server/domain/crew/starting-plan";
import { compilePattern } from "@/server/domain/graph/compile-pattern";
import { foldRun, type RunState } from "@/server/domain/run";
import { agentStateOf } from "@/server/domain/run/hub-state";
import { draw } from "@/server/domain/testing/drawing";
import referencePlan from "@/server/domain/testing/reference-plan.frozen.json";
import { readTeams } from "@/server/interop/team-files";
import { ModelError } from "@/server/llm/model";
import { newModels } from "@/server/llm/models";
import { newScriptedModels, type ScriptedStep } from "@/server/llm/scripted";
import { memoryProviders, remoteProvider } from "@/server/llm/testing";
import { readTextCalls } from "@/server/llm/tool-calls/text-calls";
import { toolBlock } from "@/server/llm/tool-calls/text-protocol";
import { CREW_TOOLS } from "@/server/runner/crew/tools";
import { cutAt, fakeTools, newStage } from "@/server/runner/testing";
import { ToolFailure } from "@/server/tools/define";
import { agent, as, call, calls, crewGraph, newScriptedStage, of, role, runCrew, tool } from "./stage";

// The promises of the reference "roboco-collaboration-and-planning" (README.md of this folder), in its order.

/** What the tools answered one agent, with the status first. */
const toolOutputs = (state: RunState, agent_id: string) =>
  Object.values(state.agents)
    .filter((view) => view.agent_id === agent_id)
    .flatMap(({ messages }) => messages.filter(({ role: from }) => from === "tool"))
    .map(({ content }) => content);
const statuses = (state: RunState, agent_id: string) =>
  toolOutputs(state, agent_id).map((content) => Number(/\((\d+)\)/.exec(content)?.[1]));
const planOf = (state: RunState) => Object.values(state.plans)[0]!;
const PLAN_TOOLS = CREW_TOOLS.filter((name) => name.startsWith("plan_"));

describe("1. plan.json", () => {
  const team = [agent("analyst"), agent("coder"), agent("tester")];

  test("the example plan parses and serializes without changes", () => {
    const plan = ExecutionPlan.parse(referencePlan);
    expect(plan).toMatchObject(referencePlan);
    expect(ExecutionPlan.parse(JSON.parse(JSON.stringify(plan)))).toEqual(plan);
    expect(plan.tasks.map(({ status }) => status)).toEqual(["completed", "in_progress", "pending"]);
  });

  test("the example plan resumes where it left off, in order, with its agents", async () => {
    const { events, state } = await runCrew(
      [
        as("coder", { text: "coded" }),
        as("tester", { text: "tested" }),
        { json: { verdicts: [] } },
        { text: "corrected" },
        {
          json: {
            verdicts: referencePlan.success_criteria.map((criterion) => ({
              criterion,
              met: true,
              evidence: "seen",
            })),
          },
        },
      ],
      { agents: team },
      { plan: referencePlan as never },
    );
    expect(
      of(events, "task_status_changed").flatMap(({ to, assigned_agent }) =>
        to === "in_progress" ? [assigned_agent] : [],
      ),
    ).toEqual(["coder", "tester"]);
    expect(planOf(state).tasks[0]).toMatchObject(referencePlan.tasks[0]!);
    expect(planOf(state)).toMatchObject({
      execution_mode: "autonomous",
      human_intervention_points: referencePlan.human_intervention_points,
      success_criteria: referencePlan.success_criteria,
    });
    // Progress against the criteria: unmet at first, one correction, met.
    expect(of(events, "criterion_checked").map(({ met }) => met)).toEqual([false, false, true, true]);
    expect(state.run.final_status).toBe("COMPLETED");
  });

  test("a run records when tasks started and ended, their files and the plan's progress", async () => {
    const write = tool("file_write", {
      input: z.object({ path: z.string() }),
      read_only: false,
      execute: () => ({ artifact_id: "art_1", path: "project_structure.md", version: 1, size: 3 }),
    });
    const { state } = await runCrew(
      [
        as("analyst", calls(call("file_write", { path: "project_structure.md" }))),
        as("analyst", { text: "analysed" }),
        as("coder", { text: "coded" }),
        as("tester", { text: "tested" }),
        { json: { verdicts: [] } },
        { text: "corrected" },
        { json: { verdicts: [] } },
      ],
      { agents: team },
      {
        plan: freshPlan(ExecutionPlan.parse(referencePlan)),
        roles: [role("analyst", ["file_write"])],
        tools: [write],
      },
    );
    const plan = planOf(state);
    const [first, second] = plan.tasks;
    expect(plan.overall_status).toBe("completed");
    expect(first!.metadata.artifacts_created).toEqual(["project_structure.md"]);
    // From this run, not from the document's.
    expect(Date.parse(first!.metadata.started_at!)).toBeGreaterThan(Date.parse("2026-01-01"));
    expect(Date.parse(first!.metadata.completed_at!)).toBeLessThanOrEqual(
      Date.parse(second!.metadata.started_at!),
    );
    expect(second!.metadata.progress_percentage).toBeUndefined();
    expect(ExecutionPlan.safeParse(JSON.parse(JSON.stringify(plan))).success).toBe(true);
  });

  test("execution_mode decides if a person is asked never, before tasks, about results or on failure", async () => {
    const tasks = [{ task_id: "t", description: "do it", required_role: "analyst" }];
    const asked = async (
      execution_mode: "autonomous" | "step" | "hitl" | "breakpoint",
      step: ScriptedStep,
    ) => {
      const stage = newScriptedStage([step]);
      const id = stage.start(crewGraph({ agents: team }, { execution_mode, tasks }), {
        roles: team.map(({ agent_id }) => role(agent_id)),
      });
      await expect.poll(() => stage.store.find(id)?.status).toMatch(/waiting|finished/);
      const state = stage.store.state(id)!;
      const [question] = Object.values(state.interactions);
      if (question) {
        stage.host.steering.answer(id, question.id, question.requested.fingerprint, {
          answer: "approve",
          by: "ann",
        });
        await stage.host.settled(id);
      }
      const { run } = stage.store.state(id)!;
      return [question?.requested.title, run.final_status];
    };
    expect(await asked("autonomous", { text: "done" })).toEqual([undefined, "COMPLETED"]);
    expect(await asked("step", { text: "done" })).toEqual(['Start "do it"?', "COMPLETED"]);
    expect(await asked("hitl", { text: "done" })).toEqual(['Review the result of "do it"', "COMPLETED"]);
    expect(await asked("breakpoint", { text: "done" })).toEqual([undefined, "COMPLETED"]);
    const [title] = await asked("breakpoint", { refusal: "no" });
    expect(title).toBe('"t" failed. Continue without it?');
  });

  test("plan tools change the plan version by version, and added tasks run", async () => {
    const { events, state } = await runCrew(
      [
        as(
          "analyst",
          calls(
            call("plan_read"),
            call("plan_add_task", {
              description: "deploy it",
              priority: "low",
              dependencies: ["build"],
              assigned_agent: "tester",
            }),
            call("plan_assign_task", { task_id: "build", agent_name: "coder" }),
            call("plan_estimate_duration", { task_id: "build", duration: "30m" }),
            call("plan_update_task", {
              task_id: "begin",
              status: "in_progress",
              metadata: { progress_percentage: 60 },
            }),
            call("plan_update_task", { task_id: "build", metadata: { progress_percentage: 60 } }),
            call("plan_set_dependencies", { task_id: "build", dependencies: ["begin"] }),
          ),
        ),
        as("analyst", { text: "planned" }),
        as("coder", { text: "built" }),
        as("tester", { text: "deployed" }),
      ],
      { agents: team },
      {
        roles: [role("analyst", [...PLAN_TOOLS])],
        plan: {
          tasks: [
            { task_id: "begin", description: "begin", assigned_agent: "analyst", priority: "high" },
            { task_id: "build", description: "build it", assigned_agent: "tester" },
          ],
        },
      },
    );
    expect(statuses(state, "analyst")).toEqual([200, 200, 200, 200, 200, 200, 200]);
    expect(of(events, "plan_changed").map(({ version }) => version)).toEqual([2, 3, 4, 5, 6, 7]);
    expect(planOf(state).tasks).toMatchObject([
      { task_id: "begin", status: "completed" },
      {
        task_id: "build",
        status: "completed",
        assigned_agent: "coder",
        estimated_duration: "30m",
        dependencies: ["begin"],
        metadata: { progress_percentage: 60 },
        output: "built",
      },
      {
        task_id: "task_003",
        status: "completed",
        assigned_agent: "tester",
        priority: "low",
        output: "deployed",
      },
    ]);
    expect(ExecutionPlan.safeParse(planOf(state)).success).toBe(true);
  });

  test("plan edits with cycles, unknown tasks, unknown agents or invalid values are refused", async () => {
    const { events, state } = await runCrew(
      [
        as(
          "analyst",
          calls(
            call("plan_set_dependencies", { task_id: "build", dependencies: ["test"] }),
            call("plan_add_task", { description: "x", dependencies: ["nothing"] }),
            call("plan_assign_task", { task_id: "build", agent_name: "ghost" }),
            call("plan_estimate_duration", { task_id: "build", duration: "soon" }),
            call("plan_update_task", { task_id: "ghost" }),
          ),
        ),
        as("analyst", { text: "tried" }),
        as("coder", { text: "built" }),
        as("tester", { text: "tested" }),
      ],
      { agents: team },
      {
        roles: [role("analyst", [...PLAN_TOOLS])],
        plan: {
          tasks: [
            { task_id: "begin", description: "begin", assigned_agent: "analyst" },
            { task_id: "build", description: "build", assigned_agent: "coder" },
            { task_id: "test", description: "test", assigned_agent: "tester", dependencies: ["build"] },
          ],
        },
      },
    );
    expect(statuses(state, "analyst")).toEqual([400, 400, 404, 400, 400]);
    expect(of(events, "plan_changed")).toEqual([]);
  });
});

describe("2. handoffs", () => {
  const team = {
    process: "swarm" as const,
    entry_agent: "coder",
    agents: [agent("coder"), agent("tester"), agent("deployer")],
  };
  // The arguments of the document's TaskStep.
  const args = {
    destination_agent: "tester",
    reason: "Code implementation is complete, ready for testing.",
    context: {
      files_modified: ["app.py"],
      test_requirements: ["unit_tests", "integration_tests"],
      priority: "high",
    },
  };

  test("a handoff is intercepted, validated, remembered and executed, and the loop continues", async () => {
    const { events, state, tools, models } = await runCrew(
      [
        as("coder", { text: "I have finished writing the code.", tool_calls: [call("handoff", args)] }),
        as("tester", { text: "All tests pass." }),
      ],
      team,
      { tools: [tool("look")] },
    );
    // It never reaches what executes tools; only the memory is told of it.
    expect(tools.calls.map((called) => called.split(" ")[1])).toEqual(["store_memory"]);
    expect(of(events, "handed_off")).toEqual([
      { from: "coder", to: "tester", reason: args.reason, context: args.context, count: 1 },
    ]);
    expect(of(events, "board_written")).toMatchObject([
      {
        alias: "coder",
        bulletin: `Handed over to tester: ${args.reason}\nContext: ${JSON.stringify(args.context)}`,
      },
    ]);
    const seen = models.calls[1]!.messages;
    expect(seen[0]!.content).toMatch(/^You are tester/);
    expect(seen.some(({ content }) => content === "I have finished writing the code.")).toBe(true);
    expect(seen.at(-1)!.content).toContain(args.reason);
    expect(seen.at(-1)!.content).toContain('"test_requirements":["unit_tests","integration_tests"]');
    expect(state.state.result).toBe("All tests pass.");
  });

  test("a tester can hand back to the coder and then on to a deployer", async () => {
    const to = (name: string) => calls(call("handoff", { destination_agent: name, reason: "next" }));
    const { events, state } = await runCrew(
      [
        as("coder", to("tester")),
        as("tester", to("coder")),
        as("coder", to("tester")),
        as("tester", to("deployer")),
        as("deployer", { text: "deployed" }),
      ],
      team,
    );
    expect(of(events, "handed_off").map(({ to: next }) => next)).toEqual([
      "tester",
      "coder",
      "tester",
      "deployer",
    ]);
    expect(state.state.result).toBe("deployed");
  });

  test("an agent can hand off only to another team member, and only up to the limit", async () => {
    const { events, state } = await runCrew(
      [
        as("coder", calls(call("handoff", { ...args, destination_agent: "ghost" }))),
        as("coder", calls(call("handoff", { ...args, destination_agent: "coder" }))),
        as("coder", calls(call("handoff", args))),
        as("tester", calls(call("handoff", { ...args, destination_agent: "deployer" }))),
        as("tester", { text: "then I answer" }),
      ],
      { ...team, max_handoffs: 1 },
    );
    expect(statuses(state, "coder").slice(0, 2)).toEqual([404, 400]);
    expect(of(events, "handed_off")).toHaveLength(1);
    expect(state.state.result).toBe("then I answer");
  });
});

describe("3. collaboration patterns", () => {
  test("3.1 a parallel group meets with its coordinator at every sync point", async () => {
    const { crews } = readTeams(`
name: team
agents:
  - {name: frontend_dev}
  - {name: backend_dev}
  - {name: database_dev}
  - {name: tech_lead}
collaboration_patterns:
  parallel_groups:
    - name: "development_team"
      agents: ["frontend_dev", "backend_dev", "database_dev"]
      coordination_agent: "tech_lead"
      sync_points: ["design_review", "integration_testing"]
`);
    expect(parallelGroups(crews[0]!.collaboration_patterns)[0]).toMatchObject({
      coordination_agent: "tech_lead",
    });
    const group = ["frontend_dev", "backend_dev", "database_dev"];
    const { events, models } = await runCrew(
      [
        ...group.map((name) => as(name, { text: `${name} designed` })),
        as("tech_lead", { text: "it fits" }),
        ...group.map((name) => as(name, { text: `${name} built` })),
        as("tech_lead", { text: "it works" }),
      ],
      crews[0]!,
      {
        plan: {
          tasks: group.flatMap((name) => [
            {
              task_id: `design_${name}`,
              description: "design",
              assigned_agent: name,
              metadata: { tags: ["design_review"] },
            },
            {
              task_id: `build_${name}`,
              description: "build",
              assigned_agent: name,
              dependencies: [`design_${name}`],
              metadata: { tags: ["integration_testing"] },
            },
          ]),
        },
      },
    );
    const order = of(events, "task_status_changed").flatMap(({ to, assigned_agent }) =>
      to === "in_progress" ? [assigned_agent!] : [],
    );
    expect(order.slice(0, 3).sort()).toEqual([...group].sort());
    expect(order[3]).toBe("tech_lead");
    expect(order.slice(4, 7).sort()).toEqual([...group].sort());
    expect(order[7]).toBe("tech_lead");
    models.assertComplete();
  });

  describe("3.1 parallel_handoff", () => {
    const team = {
      process: "swarm" as const,
      agents: [agent("lead"), agent("one"), agent("two"), agent("three")],
    };
    const ask = (coordination_strategy: string) =>
      as(
        "lead",
        calls(
          call("parallel_handoff", {
            agents: ["one", "two", "three"],
            tasks: ["a", "b", "c"],
            coordination_strategy,
          }),
        ),
      );
    const run = (strategy: string, ...others: Parameters<typeof runCrew>[0]) =>
      runCrew([ask(strategy), ...others, as("lead", { text: "joined" })], team, {
        roles: [role("lead", ["parallel_handoff"])],
      });
    const resultsOf = (state: RunState) =>
      JSON.parse(toolOutputs(state, "lead")[0]!.replace(/^parallel_handoff \(200\): /, "")) as {
        agent: string;
        output?: string;
        error?: string;
      }[];

    test("wait_all waits for all agents and reports failures", async () => {
      const { state } = await run(
        "wait_all",
        as("one", { text: "A" }),
        as("two", { refusal: "no" }),
        as("three", { text: "C" }),
      );
      expect(
        resultsOf(state)
          .map(({ agent: name, output, error }) => [name, output ?? (error ? "failed" : null)])
          .sort(),
      ).toEqual([
        ["one", "A"],
        ["three", "C"],
        ["two", "failed"],
      ]);
      expect(state.state.result).toBe("joined");
    });

    /** What became of the three, and of the work given to them. */
    const endsOf = ({ agents, calls: asked, crews }: RunState) => ({
      agents: Object.fromEntries(
        Object.values(agents)
          .filter(({ parent }) => parent)
          .map(({ agent_id, status }) => [agent_id, status]),
      ),
      calls: Object.fromEntries(
        Object.values(asked)
          .filter(({ agent_id }) => agent_id !== "lead")
          .map(({ agent_id, status }) => [agent_id, status]),
      ),
      delegations: Object.fromEntries(
        crews["crew#1"]!.exchanges.flatMap((one) =>
          one.kind === "delegation" ? [[one.delegation.to, one.done ?? "open"]] : [],
        ),
      ),
    });

    test("first_success takes the first success and stops the remaining agents", async () => {
      const { state, events } = await run(
        "first_success",
        as("one", { refusal: "no" }),
        as("two", { text: "B" }),
        as("three", { hang: true }),
      );
      expect(endsOf(state)).toEqual({
        agents: { one: "failed", two: "completed", three: "stopped" },
        calls: { one: "completed", two: "completed", three: "stopped" },
        delegations: { one: "failed", two: "completed", three: "stopped" },
      });
      // At that very moment, not only once the run is over.
      const joined = events.findLastIndex(({ type }) => type === "tool_call_completed");
      const then = foldRun("then", events.slice(0, joined + 1));
      expect(endsOf(then)).toEqual(endsOf(state));
      const three = Object.values(then.agents).find(({ agent_id }) => agent_id === "three")!;
      expect(agentStateOf(then, three)).toBe("STOPPED");
      const results = resultsOf(state);
      expect(results.filter(({ output }) => output !== undefined)).toEqual([{ agent: "two", output: "B" }]);
      expect(results.map(({ agent: name }) => name)).not.toContain("three");
    });

    test("majority waits for more than half of the agents", async () => {
      const { state } = await run(
        "majority",
        as("one", { text: "A" }),
        as("two", { text: "B" }),
        as("three", { hang: true }),
      );
      expect(
        resultsOf(state)
          .map(({ agent: name }) => name)
          .sort(),
      ).toEqual(["one", "two"]);
      expect(endsOf(state).agents).toEqual({ one: "completed", two: "completed", three: "stopped" });
    });
  });

  test("3.2 teams can be created, changed and dissolved during a run", async () => {
    const { events, state } = await runCrew(
      [
        calls(
          call("create_team", { team_name: "red", agents: ["a", "b"], purpose: "attack" }),
          call("modify_team", { team_name: "red", add_agents: ["c"], remove_agents: ["a"] }),
          call("create_team", { team_name: "blue", agents: ["a"], purpose: "defend" }),
          call("create_team", { team_name: "blue", agents: ["b"], purpose: "again" }),
          call("modify_team", { team_name: "red", add_agents: ["ghost"] }),
          call("dissolve_team", { team_name: "blue", reason: "not needed" }),
        ),
        { text: "done" },
      ],
      { agents: [agent("a"), agent("b"), agent("c")] },
      {
        roles: [role("a", ["create_team", "modify_team", "dissolve_team"])],
        plan: { tasks: [{ task_id: "t", description: "t", required_role: "a" }] },
      },
    );
    expect(statuses(state, "a")).toEqual([200, 200, 200, 409, 404, 200]);
    expect(of(events, "team_changed").map(({ action }) => action)).toEqual([
      "created",
      "modified",
      "created",
      "dissolved",
    ]);
    expect(Object.values(state.crews)[0]!.teams).toEqual({ red: { agents: ["b", "c"], purpose: "attack" } });
  });

  test("3.2 a parallel handoff to a team reaches all members, and a task the least busy", async () => {
    const team = calls(
      call("create_team", { team_name: "red", agents: ["lead", "one", "two"], purpose: "attack" }),
    );
    const { state } = await runCrew(
      [
        as("lead", team),
        as("lead", calls(call("parallel_handoff", { agents: ["Red"], tasks: ["try it"] }))),
        as("one", { text: "A" }),
        as("two", { text: "B" }),
        as("lead", { text: "joined" }),
      ],
      { process: "swarm", agents: [agent("lead"), agent("one"), agent("two"), agent("three")] },
      { roles: [role("lead", ["create_team", "parallel_handoff"])] },
    );
    expect(toolOutputs(state, "lead")[1]).toMatch(/^parallel_handoff \(200\): .*"one".*"two"/);
    expect(toolOutputs(state, "lead")[1]).not.toMatch(/lead|three/);

    const { events } = await runCrew(
      [
        as("lead", team),
        as("lead", calls(call("plan_assign_task", { task_id: "next", agent_name: "red" }))),
        as("lead", { text: "formed" }),
        as("one", { text: "done" }),
      ],
      { agents: [agent("lead"), agent("one"), agent("two")] },
      {
        roles: [role("lead", ["create_team", "plan_assign_task"])],
        plan: {
          tasks: [
            { task_id: "form", description: "form", required_role: "lead" },
            { task_id: "next", description: "next", required_role: "two" },
          ],
        },
      },
    );
    const begun = of(events, "task_status_changed").filter(({ to }) => to === "in_progress");
    expect(begun.map(({ assigned_agent }) => assigned_agent)).toEqual(["lead", "one"]);
  });

  test("3.3 consensus tools record proposals and votes, and the run counts them", async () => {
    const tools = ["propose_decision", "vote_on_proposal", "finalize_consensus"];
    const vote = (choice: string) =>
      call("vote_on_proposal", { proposal_id: "proposal_1", vote: choice, reasoning: "so" });
    const plan = {
      tasks: ["a", "b", "c", "a"].map((who, at) => ({
        task_id: `t${at}`,
        description: "next",
        required_role: who,
        dependencies: at > 0 ? [`t${at - 1}`] : [],
      })),
    };
    const { events, state } = await runCrew(
      [
        as(
          "a",
          calls(
            call("propose_decision", {
              decision: "ship it",
              rationale: "ready",
              stakeholders: ["a", "b", "c"],
            }),
            vote("approve"),
          ),
        ),
        as("a", { text: "proposed" }),
        as(
          "b",
          calls(vote("approve"), vote("reject"), call("finalize_consensus", { proposal_id: "proposal_1" })),
        ),
        as("b", { text: "voted" }),
        as("c", calls(vote("reject"))),
        as("c", { text: "voted" }),
        as("a", calls(call("finalize_consensus", { proposal_id: "proposal_1" }))),
        as("a", { text: "shipped" }),
      ],
      { agents: [agent("a"), agent("b"), agent("c")] },
      { roles: ["a", "b", "c"].map((name) => role(name, tools)), plan },
    );
    expect(of(events, "vote_cast").map(({ agent_id, vote }) => [agent_id, vote])).toEqual([
      ["a", "approve"],
      ["b", "approve"],
      ["c", "reject"],
    ]);
    // One vote each, and only the proposer closes the vote.
    expect(statuses(state, "b")).toEqual([200, 409, 403]);
    expect(of(events, "consensus_finalized")).toMatchObject([
      {
        proposal_id: "proposal_1",
        outcome: "approved",
        approve: 2,
        reject: 1,
        abstain: 0,
        decided_by: "votes",
      },
    ]);
  });

  describe("3.4 custom patterns", () => {
    const { crews, findings } = readTeams(`
name: reviewers
agents:
  - {name: coder}
  - {name: reviewer}
  - {name: tester}
collaboration_patterns:
  - name: "code_review_cycle"
    type: "custom"
    workflow:
      - step: "code_generation"
        agent: "coder"
        next_on_success: "code_review"
        next_on_failure: "error_handler"
      - step: "code_review"
        agent: "reviewer"
        next_on_approve: "testing"
        next_on_reject: "coder"
      - step: "testing"
        agent: "tester"
        next_on_pass: "deployment"
        next_on_fail: "coder"
`);
    const out = (outcome: string) => ({ json: { outcome, summary: `${outcome} it is` } });
    /** The crew once each target that is nobody was mended by its one click. */
    const mended = crewDiagnostics(crews[0]!).reduce((crew, { repair }) => {
      const [, , pattern, , step, key] = repair!.path as [string, string, number, string, number, string];
      const changed = structuredClone(crew);
      const { workflow } = changed.collaboration_patterns[pattern] as unknown as {
        workflow: Record<string, unknown>[];
      };
      workflow[step]![key] = repair!.value;
      return changed;
    }, crews[0]!);

    test("unknown targets in the example are reported and keep the crew from running", async () => {
      expect(crewDiagnostics(crews[0]!).map(({ code, repair }) => [code, repair?.value])).toEqual([
        ["E_PATTERN_TARGET", "fail:error_handler"],
        ["E_PATTERN_TARGET", "end:deployment"],
      ]);
      const { state } = await runCrew([], crews[0]!);
      expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "CONFIG" });
    });

    test("the example runs through its loops to the end", async () => {
      expect(findings.filter(({ level }) => level === "error")).toEqual([]);
      const { events, state } = await runCrew(
        [
          as("coder", out("success")),
          as("reviewer", out("reject")),
          as("coder", out("success")),
          as("reviewer", out("approve")),
          as("tester", out("fail")),
          as("coder", out("success")),
          as("reviewer", out("approve")),
          as("tester", out("pass")),
        ],
        mended,
      );
      expect(of(events, "post_sent").map(({ from, to }) => `${from} > ${to}`)).toEqual([
        "coder > reviewer",
        "reviewer > coder",
        "coder > reviewer",
        "reviewer > tester",
        "tester > coder",
        "coder > reviewer",
        "reviewer > tester",
        "tester > User",
      ]);
      expect(of(events, "post_sent").at(-1)!.message).toMatch(/^deployment: /);
      expect(state.run.final_status).toBe("COMPLETED");
    });

    test("a failure follows the route of the pattern", async () => {
      const { events, state } = await runCrew([as("coder", out("failure"))], mended);
      expect(of(events, "post_sent").map(({ message }) => message)).toEqual(["error_handler: failure it is"]);
      expect(state.run.final_status).toBe("ERROR");
    });

    test("a step passes on its full result, not only its summary", async () => {
      const { models, state } = await runCrew(
        [
          as("coder", { json: { outcome: "success", summary: "I implemented it", result: "print(1)" } }),
          as("reviewer", { json: { outcome: "approve", summary: "good", result: null } }),
          as("tester", { json: { outcome: "pass", summary: "it runs", result: "all green" } }),
        ],
        mended,
      );
      expect(JSON.stringify(models.calls[0]!.response)).toContain("The complete work itself");
      expect(models.calls[1]!.messages.at(-1)!.content).toContain('<result task="code_generation">print(1)');
      expect(state.state.result).toBe("all green");
    });

    test("a pattern can be compiled to a workflow, with a warning for each named end", () => {
      const { graph, warnings } = compilePattern(customPatterns(crews[0]!.collaboration_patterns)[0]!);
      expect(Object.values(graph.nodes).filter(({ node_type }) => node_type === "agent_task")).toHaveLength(
        3,
      );
      expect(warnings.map(({ message }) => message).join("\n")).toMatch(
        /error_handler[\s\S]*deployment|deployment[\s\S]*error_handler/,
      );
    });
  });
});

describe("4. autonomous execution", () => {
  test("4.1 a planner writes a plan without a person and replans after a failed task", async () => {
    const task = (task_id: string) => ({
      json: {
        tasks: [
          {
            task_id,
            description: task_id,
            required_role: "worker",
            dependencies: [],
            expected_output: "text",
          },
        ],
      },
    });
    const { events, state } = await runCrew(
      [
        as("planner", task("first")),
        as("worker", { refusal: "cannot" }),
        as("planner", task("second")),
        as("worker", { text: "done" }),
      ],
      { planning: true, on_task_failure: "replan", agents: [agent("planner"), agent("worker")] },
    );
    expect(of(events, "plan_created")).toMatchObject([{ by: "planner" }]);
    expect(of(events, "plan_changed")).toHaveLength(1);
    expect(planOf(state).tasks.map(({ task_id, status }) => [task_id, status])).toEqual([
      ["first", "failed"],
      ["second", "completed"],
    ]);
    expect(state.state.result).toBe("done");
  });

  test("4.1 the allowed number of tasks depends on the complexity of the goal", async () => {
    const plan = (complexity: string, count: number) =>
      as("planner", {
        json: {
          parsed_intent: { goal: "the goal", complexity },
          tasks: Array.from({ length: count }, (_, at) => ({
            task_id: `t${at}`,
            description: `part ${at}`,
            required_role: "worker",
            dependencies: [],
            expected_output: "text",
          })),
        },
      });
    const { models, state } = await runCrew(
      [plan("simple", 3), plan("moderate", 3), { text: "1" }, { text: "2" }, { text: "3" }],
      { planning: true, agents: [agent("planner"), agent("worker")] },
    );
    expect(models.calls[1]!.messages.at(-1)!.content).toContain("A simple goal allows at most 2 tasks");
    expect(planOf(state)).toMatchObject({
      parsed_intent: { complexity: "moderate" },
      overall_status: "completed",
    });
    expect(planOf(state).tasks).toHaveLength(3);
  });

  test("4.2 exact criteria are recorded once met, and all criteria are checked at the end", async () => {
    const { events } = await runCrew(
      [{ text: "many facts" }, { text: "a report" }, { text: "checked" }],
      { agents: [agent("a")] },
      {
        plan: {
          success_criteria: ['cel: state.facts == "many facts"', "cel: has(state.check)"],
          tasks: ["facts", "report", "check"].map((task_id) => ({
            task_id,
            description: task_id,
            required_role: "a",
          })),
        },
      },
    );
    const seen = events.flatMap((event): unknown[] =>
      event.type === "criterion_checked"
        ? [event.payload.met]
        : event.type === "task_status_changed" && event.payload.to === "completed"
          ? [event.task_id]
          : [],
    );
    expect(seen).toEqual(["facts", true, "report", "check", true, true]);
  });

  test("4.3 tasks are distributed among the agents of a role, even in sequence", async () => {
    const { events } = await runCrew(
      [{ text: "1" }, { text: "2" }, { text: "3" }],
      { agents: ["one", "two"].map((agent_id) => ({ agent_id, role_name: "worker" })) },
      {
        plan: {
          tasks: ["a", "b", "c"].map((task_id) => ({
            task_id,
            description: task_id,
            required_role: "worker",
          })),
        },
      },
    );
    const begun = of(events, "task_status_changed").filter(({ to }) => to === "in_progress");
    expect(begun.map(({ assigned_agent }) => assigned_agent)).toEqual(["one", "two", "one"]);
  });

  test("4.3 priorities and deadlines decide which task starts first", async () => {
    const { events } = await runCrew(
      [{ text: "1" }, { text: "2" }, { text: "3" }],
      { agents: [agent("a")] },
      {
        plan: {
          tasks: [
            {
              task_id: "late",
              description: "x",
              required_role: "a",
              metadata: { deadline: "2030-02-01T00:00:00Z" },
            },
            {
              task_id: "soon",
              description: "x",
              required_role: "a",
              metadata: { deadline: "2030-01-01T00:00:00Z" },
            },
            { task_id: "urgent", description: "x", required_role: "a", priority: "critical" },
          ],
        },
      },
    );
    expect(
      events.flatMap((event) =>
        event.type === "task_status_changed" && event.payload.to === "in_progress" ? [event.task_id] : [],
      ),
    ).toEqual(["urgent", "soon", "late"]);
  });

  test("4.3 a task is as urgent as the most urgent task that waits for it", async () => {
    const task = (task_id: string, more: object = {}) => ({
      task_id,
      description: "x",
      required_role: "a",
      ...more,
    });
    const due = (deadline: string) => ({ metadata: { deadline } });
    const { events } = await runCrew(
      Array.from({ length: 5 }, () => ({ text: "done" })),
      { agents: [agent("a")] },
      {
        plan: {
          tasks: [
            task("usual"),
            task("late", due("2030-02-01T00:00:00Z")),
            task("prepare"),
            task("soon", { dependencies: ["prepare"], ...due("2030-01-01T00:00:00Z") }),
            task("urgent", { dependencies: ["soon"], priority: "high" }),
          ],
        },
      },
    );
    expect(
      events.flatMap((event) =>
        event.type === "task_status_changed" && event.payload.to === "in_progress" ? [event.task_id] : [],
      ),
    ).toEqual(["prepare", "soon", "urgent", "late", "usual"]);
  });

  test("4.2 among equals, the agent that used fewer tokens per task gets the next one", async () => {
    const tasks = ["first", "second", "third", "fourth"].map((task_id) => ({
      task_id,
      description: "write a text",
    }));
    const short = { text: "short" };
    const { events } = await runCrew(
      [
        as("one", calls(call("look", { text: "x" }))),
        as("one", calls(call("look", { text: "y" }))),
        as("one", short),
        as("two", short),
        as("two", short),
        as("two", short),
      ],
      { agents: [agent("one"), agent("two")] },
      {
        plan: { tasks },
        roles: ["one", "two"].map((name) => role(name, ["look"], { description: "writes text" })),
        tools: [tool("look")],
      },
    );
    const begun = of(events, "task_status_changed").filter(({ to }) => to === "in_progress");
    expect(begun.map(({ assigned_agent }) => assigned_agent)).toEqual(["one", "two", "two", "two"]);
    expect(begun.at(-1)?.chosen_because).toBe(
      "it matches as well as one, and used fewer tokens per task in this run",
    );
  });
});

describe("6. and 8. tools", () => {
  test("6.1 built-in crew tools have the names in the document", () => {
    expect(CREW_TOOLS).toEqual(
      expect.arrayContaining([
        "handoff",
        "parallel_handoff",
        "plan_add_task",
        "plan_update_task",
        "plan_read",
        "plan_assign_task",
        "plan_estimate_duration",
        "plan_set_dependencies",
        "create_team",
        "modify_team",
        "dissolve_team",
        "propose_decision",
        "vote_on_proposal",
        "finalize_consensus",
      ]),
    );
  });

  test("6.2 to 6.4 every tool type of a team file is explained, but none is installed", () => {
    const { roles, findings } = readTeams(`
name: team
agents:
  - name: analyst
    description: Looks at things.
    tools: ["web_search", "custom_analyzer", "external_api", "approval_gateway", "teleport"]
tools:
  - name: "web_search"
    type: "builtin"
    config: {}
  - name: "custom_analyzer"
    type: "custom"
    path: "./tools/analyzer.py"
    function: "analyze_code"
  - name: "external_api"
    type: "mcp"
    server_url: "http://localhost:8080/mcp"
  - name: "approval_gateway"
    type: "hitl"
    config:
      timeout: 3600
      escalation_policy: "manager"
  - name: "teleport"
    type: "quantum"
`);
    expect(roles[0]!.tools).toEqual([
      "web_search",
      "custom_analyzer",
      "mcp:external_api/*",
      "approval_gateway",
    ]);
    const messagesFor = (name: string) =>
      findings.flatMap(({ message }) => (message.startsWith(`"${name}"`) ? [message] : [])).join("\n");
    expect(messagesFor("web_search")).toContain("is built in; roles that list it can use it");
    expect(messagesFor("custom_analyzer")).toMatch(/can't add programs.*TROUPE_TOOLS_FILE/);
    expect(messagesFor("external_api")).toMatch(/no connection was made.*Tools page/);
    expect(findings.flatMap(({ snippet }) => snippet ?? [])).toEqual([
      expect.stringContaining("function: analyze_code"),
      expect.stringContaining("http://localhost:8080/mcp"),
    ]);
    expect(messagesFor("approval_gateway")).toContain("roles that list it use it to ask a person");
    expect(messagesFor("timeout")).toContain("agents set it with each request");
    expect(messagesFor("teleport")).toContain("unknown type");
  });

  test("8.1 the prompt lists tools with signatures and the TOOL_CALL format", () => {
    const block = toolBlock([
      {
        name: "web_search",
        description: "Search the web for information",
        parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
      },
    ]);
    expect(block).toContain("Available Tools:\n- web_search(query: str): Search the web for information");
    expect(block).toContain('TOOL_CALL: {"tool_name": "tool_name", "args": {"param": "value"}}');
  });

  test("8.2 DeepSeek gets its reasoning back, append-only prompts and a JSON response format", async () => {
    const bodies: { messages: { role: string; content: string; reasoning_content?: string }[] }[] = [];
    const answers: object[] = [
      {
        reasoning_content: "I must look first.",
        tool_calls: [{ index: 0, id: "c1", function: { name: "look", arguments: '{"text":"x"}' } }],
      },
      { reasoning_content: "That is it.", content: "It is approved, I would say." },
      { content: '{"status": "approved"}' },
    ];
    const usage = { prompt_tokens: 100, completion_tokens: 10, prompt_cache_hit_tokens: 64 };
    const deepseek: typeof fetch = (_input, init) => {
      const body = JSON.parse(init?.body as string) as (typeof bodies)[number];
      const own = body.messages.filter(({ role: from }) => from === "assistant");
      if (own.some(({ reasoning_content }) => reasoning_content === undefined)) {
        const message = "The `reasoning_content` in the thinking mode must be passed back to the API.";
        return Promise.resolve(Response.json({ error: { message } }, { status: 400 }));
      }
      bodies.push(body);
      const delta = answers[bodies.length - 1];
      const chunk = { choices: [{ index: 0, delta, finish_reason: "stop" }], usage };
      return Promise.resolve(
        new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
          headers: { "content-type": "text/event-stream" },
        }),
      );
    };
    const provider = remoteProvider("https://api.deepseek.com/v1", { default_model: "deepseek-chat" });
    const stage = newStage({
      models: newModels({ providers: memoryProviders([provider]), fetch: deepseek }),
      tools: fakeTools([tool("look")]),
    });
    const graph = draw("start > ask > end", {
      ask: {
        node_type: "agent_task",
        output_keys: ["status"],
        config: {
          required_role: "Judge",
          task_description_template: "judge",
          output_schema: { type: "object", properties: { status: { enum: ["approved", "rejected"] } } },
        },
      },
    });
    const { state, events } = await stage.run(graph, { roles: [role("Judge", ["look"])] });
    expect(state.state.status).toBe("approved");
    const sent = bodies.map(({ messages }) => messages.filter(({ role: from }) => from !== "system"));
    expect(sent[1]!.find(({ role: from }) => from === "assistant")?.reasoning_content).toBe(
      "I must look first.",
    );
    // What was sent before is the beginning of what is sent next, so that its cache answers for it.
    expect(bodies[1]!.messages.slice(0, bodies[0]!.messages.length)).toEqual(bodies[0]!.messages);
    expect(bodies[2]).toMatchObject({ response_format: { type: "json_object" } });
    expect(JSON.stringify(bodies[2]!.messages)).toMatch(/JSON/);
    const [first] = of(events, "llm_call_completed");
    expect(first).toMatchObject({ reasoning: "I must look first.", usage: { cached_input_tokens: 64 } });
    expect(first!.cost_usd).toBeGreaterThan(0);
  });

  test("8.3 a TOOL_CALL line is parsed as a tool call", () => {
    const { calls: read } = readTextCalls(
      'I will look.\nTOOL_CALL: {"tool_name": "web_search", "args": {"query": "bees"}}',
    );
    expect(read).toMatchObject([{ tool_name: "web_search", args: { query: "bees" } }]);
  });

  test("8.4 an agent gets the error of an invalid call and can retry", async () => {
    const { state, models } = await runCrew(
      [
        {
          tool_calls: [
            { tool_name: "look", fault: "Your tool call could not be parsed: it ends too early." },
            call("lok", { text: "x" }),
            call("look", { txt: "x" }),
          ],
        },
        calls(call("look", { text: "x" })),
        { text: "seen" },
      ],
      { agents: [agent("a")] },
      {
        roles: [role("a", ["look"])],
        tools: [tool("look")],
        plan: { tasks: [{ task_id: "t", description: "t", required_role: "a" }] },
      },
    );
    const answers = models.calls[1]!.messages.filter(({ role: from }) => from === "tool").map(
      ({ content }) => content,
    );
    expect(answers[0]).toContain("could not be parsed");
    expect(answers[1]).toMatch(/\(404\): .*Available: look/);
    expect(answers[2]).toMatch(/\(400\): .*text/);
    expect(state.state.result).toBe("seen");
  });

  describe("8.4 retries with backoff", () => {
    beforeEach(
      () =>
        void vi.useFakeTimers({
          toFake: ["Date", "performance", "setTimeout", "clearTimeout", "setInterval", "clearInterval"],
        }),
    );
    afterEach(() => void vi.useRealTimers());
    const failing = (code: "RATE_LIMIT" | "TRANSIENT"): ScriptedStep => ({
      error: new ModelError({ code, message: "not now", retryable: true, user_action: "retry" }),
    });
    const steps: ScriptedStep[] = [
      failing("RATE_LIMIT"),
      failing("TRANSIENT"),
      calls(call("look", { text: "x" })),
      failing("TRANSIENT"),
      { text: "seen" },
    ];
    /** A tool that is not there the first times; `keys` are the idempotency keys that it saw. */
    const asleep = (times: number, keys: string[], more = {}) =>
      tool("look", {
        execute: (_input, { idempotencyKey }) => {
          keys.push(idempotencyKey);
          if (keys.length <= times) throw new ToolFailure(503, "asleep");
          return "awake";
        },
        ...more,
      });
    const graph = crewGraph(
      { agents: [agent("a")] },
      { tasks: [{ task_id: "t", description: "t", required_role: "a" }] },
    );
    const roles = [role("a", ["look"])];
    async function settle(stage: ReturnType<typeof newStage>, id: string) {
      let isDone = false;
      void stage.host.settled(id).then(() => {
        isDone = true;
      });
      while (!isDone) {
        await new Promise((resolve) => setImmediate(resolve));
        await vi.advanceTimersByTimeAsync(500);
      }
      return { events: stage.store.events(id, 0, 1e6), state: stage.store.state(id)! };
    }
    /** Whether each wait is about twice as long as the one before, from one second on. */
    const doubles = (delays: readonly number[]) =>
      delays.every((ms, at) => ms >= 0.75 * 1000 * 2 ** at && ms <= 1.25 * 1000 * 2 ** at);

    test("model and tool calls are retried with backoff, even across a server stop", async () => {
      const keys: string[] = [];
      const stage = newScriptedStage(steps, [asleep(2, keys)]);
      const id = stage.start(graph, { roles });
      const { events, state } = await settle(stage, id);
      expect(state.state.result).toBe("seen");
      const failed = of(events, "llm_call_failed").map(
        ({ attempt, delay_ms }) => [attempt, delay_ms!] as const,
      );
      expect(failed.map(([attempt]) => attempt)).toEqual([1, 2, 1]);
      expect(doubles(failed.slice(0, 2).map(([, ms]) => ms))).toBe(true);
      const retried = of(events, "tool_call_retried");
      expect(retried).toMatchObject([
        { attempt: 1, status_code: 503 },
        { attempt: 2, status_code: 503 },
      ]);
      expect(doubles(retried.map(({ delay_ms }) => delay_ms))).toBe(true);
      expect(new Set(keys).size).toBe(1);
      // The model hears only how it ended.
      expect(toolOutputs(state, "a")).toEqual(["look (200): awake"]);

      const turns = stage.store.journal(id).turns.length;
      for (let cut = 1; cut < turns; cut++) {
        const db = cutAt(stage, id, cut);
        const known = newStage({ db }).store.events(id, 0, 1e6);
        const asked = known.filter(({ type }) => type === "llm_call_completed" || type === "llm_call_failed");
        const slept = known.filter(({ type }) => type === "tool_call_retried").length;
        const again = newStage({
          db,
          models: newScriptedModels(steps.slice(asked.length)),
          tools: fakeTools([asleep(2 - slept, [])]),
        });
        again.host.recover();
        const after = await settle(again, id);
        expect({ cut, result: after.state.state.result }).toEqual({ cut, result: "seen" });
        expect({ cut, retried: of(after.events, "tool_call_retried") }).toEqual({ cut, retried });
      }
    });

    test("retries of a call are limited, and calls with side effects are not retried", async () => {
      const often: string[] = [];
      const stage = newScriptedStage(
        [calls(call("look", { text: "x" })), { text: "gone" }],
        [asleep(9, often)],
      );
      const { state } = await settle(stage, stage.start(graph, { roles }));
      expect(often).toHaveLength(3);
      expect(toolOutputs(state, "a")).toEqual(["look (503): asleep"]);

      const once: string[] = [];
      const changing = newScriptedStage(
        [calls(call("look", { text: "x" })), { text: "gone" }],
        [asleep(9, once, { read_only: false })],
      );
      await settle(changing, changing.start(graph, { roles }));
      expect(once).toHaveLength(1);
    });
  });
});

describe("7. memory", () => {
  test("a crew without memory gets no memory tools, even if its roles name them", async () => {
    const remember = tool("store_memory", { read_only: false });
    const withMemory = async (memory: boolean) => {
      const { events, state } = await runCrew(
        [as("coder", { text: "done" })],
        { agents: [agent("coder")], memory },
        {
          roles: [role("coder", ["store_memory"])],
          tools: [remember],
          plan: { tasks: [{ task_id: "t", description: "do it", required_role: "coder" }] },
        },
      );
      expect(state.run.final_status).toBe("COMPLETED");
      const [started] = of(events, "agent_started");
      return { granted: started?.tools?.includes("store_memory") ?? false, withheld: started?.withheld };
    };
    expect(await withMemory(true)).toEqual({ granted: true, withheld: undefined });
    expect(await withMemory(false)).toEqual({
      granted: false,
      withheld: [{ tool_name: "store_memory", reason: "This crew works without memory." }],
    });
  });

  test("7.1 decisions and files form a history that all agents share", async () => {
    const write = tool("file_write", {
      input: z.object({ path: z.string() }),
      read_only: false,
      execute: () => ({ artifact_id: "art_1", path: "notes.md", version: 2, size: 3 }),
    });
    const { models } = await runCrew(
      [
        as(
          "a",
          calls(
            call("propose_decision", { decision: "ship it", rationale: "ready", stakeholders: ["a"] }),
            call("file_write", { path: "notes.md" }),
          ),
        ),
        as(
          "a",
          calls(call("vote_on_proposal", { proposal_id: "proposal_1", vote: "approve", reasoning: "so" })),
        ),
        as("a", calls(call("finalize_consensus", { proposal_id: "proposal_1" }))),
        as("a", { text: "decided" }),
        as("b", { text: "shipped" }),
      ],
      { agents: [agent("a"), agent("b")] },
      {
        tools: [write],
        roles: [role("a", ["propose_decision", "vote_on_proposal", "finalize_consensus", "file_write"])],
        plan: {
          tasks: [
            { task_id: "decide", description: "decide", required_role: "a" },
            { task_id: "ship", description: "ship", required_role: "b" },
          ],
        },
      },
    );
    const prompt = models.calls.at(-1)!.messages.at(-1)!.content;
    expect(prompt).toContain('Decided so far:\n- "ship it", proposed by a: approved, 1 for and 0 against');
    expect(prompt).toContain("Files of this run:\n- notes.md (version 2)");
    // The broader plan that its task is part of.
    expect(prompt).toContain("The plan:\n- decide (completed; a): decide\n- ship (in progress; b): ship");
  });

  test("7.2 an agent that can hand off sees earlier handoffs and each member's results", async () => {
    const to = (name: string, reason: string) => calls(call("handoff", { destination_agent: name, reason }));
    const { models } = await runCrew(
      [
        as("coder", to("tester", "try it")),
        as("tester", calls(call("parallel_handoff", { agents: ["deployer"], tasks: ["deploy"] }))),
        as("deployer", { refusal: "no" }),
        as("tester", to("coder", "deploying failed")),
        as("coder", { text: "mended" }),
      ],
      { process: "swarm", agents: [agent("coder"), agent("tester"), agent("deployer")] },
      { roles: [role("tester", ["parallel_handoff"])] },
    );
    const prompt = models.calls.at(-1)!.messages.at(-1)!.content;
    expect(prompt).toContain(
      "Handed over so far:\n- coder to tester: try it\n- tester to coder: deploying failed",
    );
    expect(prompt).toContain("- tester: 1 done, 0 failed\n- deployer: 0 done, 1 failed");
  });

  test("7.2 members' past work appears in the handoff prompt and decides unassigned tasks", async () => {
    const refusal = as("coder", { refusal: "no" });
    const earlier = ["tester", "tester", "tester", "tester", "tester"];
    const stage = newScriptedStage([
      ...Array.from({ length: 5 }, () => refusal),
      ...earlier.map((name) => as(name, { text: "done" })),
      as("coder", calls(call("handoff", { destination_agent: "tester", reason: "it does this better" }))),
      as("tester", { text: "done" }),
      as("tester", { text: "done" }),
    ]);
    const team = { agents: [agent("coder"), agent("tester")] };
    const roles = ["coder", "tester"].map((name) => role(name));
    const task = (more: { assigned_agent?: string }) =>
      crewGraph(team, { tasks: [{ task_id: "t", description: "part of the test", ...more }] });
    for (const assigned_agent of [...earlier.map(() => "coder"), ...earlier])
      await stage.run(task({ assigned_agent }), { roles });

    await stage.run(crewGraph({ ...team, process: "swarm", entry_agent: "coder" }), { roles });
    expect(stage.models.calls.at(-2)?.messages.at(-1)?.content).toContain(
      "Work in earlier runs:\n- tester: 5 done, 0 failed, 0 sent back",
    );
    const { events } = await stage.run(task({}), { roles });
    expect(of(events, "task_status_changed")[0]).toMatchObject({
      assigned_agent: "tester",
      chosen_because:
        "it matches as well as coder, and in earlier runs less of its work failed or was sent back: 0 of 6 compared to 5 of 6",
    });
  });
});
