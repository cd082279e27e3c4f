import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  agent,
  as,
  call,
  calls,
  newScriptedStage,
  of,
  role,
  runCrew,
  tool,
} from "@/server/conformance/stage";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import type { ScriptedStep } from "@/server/llm/scripted";
import { answersTo } from "./tools/testing";

// Any agent can hand off, whatever its crew's process, if its role or its crew allows it.

const agents = [
  agent("lead", { allow_delegation: true }),
  agent("junior", { handoffs: ["senior"] }),
  agent("senior"),
];
const over = (destination_agent: string, more: JsonObject = {}) =>
  call("handoff", { destination_agent, reason: "too hard for me", ...more });
const handsOver = as(
  "junior",
  calls(over("ghost"), over("junior"), over("lead"), over("senior", { context: { file: "a.py" } })),
);
const solved = as("senior", { text: "solved" });
const tasks = (...more: object[]) => ({
  tasks: [{ task_id: "hard", description: "solve it", assigned_agent: "junior" }],
  ...Object.assign({}, ...more),
});
const verdict = (answer: boolean) => ({ answer, reason: "so" });
const decision = (send_to: string, message: string, stop: string | null) =>
  as("lead", {
    json: {
      plan: [],
      current_plan_step: "go",
      send_to,
      message,
      ledger: {
        is_request_satisfied: verdict(stop !== null),
        is_in_loop: verdict(false),
        is_progress_being_made: verdict(true),
      },
      stop,
    },
  });
const vote = (who: string) => as(who, { json: { vote: "approve", reasoning: "so", confidence: 1 } });
const judged = (met: boolean) => ({ json: { verdicts: [{ criterion: "good", met, evidence: "seen" }] } });

interface Case {
  crew?: Omit<Parameters<typeof runCrew>[1], "agents">;
  plan?: NonNullable<Parameters<typeof runCrew>[2]>["plan"];
  before?: ScriptedStep[];
  /** What the agent that takes over answers. */
  solved?: ScriptedStep;
  after?: ScriptedStep[];
  /** What the crew's output says. */
  result?: unknown;
}

const PROCESSES: Record<string, Case> = {
  "a task in sequence": { plan: tasks() },
  "a parallel task": { crew: { process: "parallel" }, plan: tasks() },
  "a correction": {
    plan: {
      tasks: [{ task_id: "hard", description: "solve it", assigned_agent: "junior" }],
      success_criteria: ["good"],
    },
    before: [as("junior", { text: "poor" }), judged(false)],
    after: [judged(true)],
  },
  "a manager's request": {
    crew: { process: "hierarchical", manager: { agent_id: "lead" } },
    before: [decision("junior", "solve it", null)],
    after: [decision("User", "solved", "Completed")],
  },
  "a turn of a swarm": { crew: { process: "swarm", entry_agent: "junior" } },
  "a step": {
    crew: {
      process: "custom",
      collaboration_patterns: [
        { type: "custom", workflow: [{ step: "solve", agent: "junior", next_on_good: "end" }] },
      ],
    },
    solved: as("senior", { json: { outcome: "good", summary: "solved" } }),
  },
  "a proposal": {
    crew: { process: "consensus", manager: { agent_id: "junior" } },
    solved: as("senior", { json: { decision: "solved", rationale: "so" } }),
    after: ["lead", "junior", "senior"].map(vote),
    result: expect.objectContaining({ decision: "solved", approved: true }),
  },
  "a sample": {
    crew: { process: "sample", samples: 2, manager: { agent_id: "junior" } },
    after: [as("junior", { text: "solved" })],
  },
  "a delegated task": {
    plan: { tasks: [{ task_id: "t", description: "get it done", assigned_agent: "lead" }] },
    before: [as("lead", calls(call("delegate_task", { coworker: "junior", task: "solve it" })))],
    after: [as("lead", { text: "solved" })],
  },
};

const storeMemory = tool("store_memory", {
  input: z.object({ key: z.string(), value: z.json(), scope: z.string() }),
  read_only: false,
  execute: (input) => input as Json,
});

function handOver(
  { crew = {}, plan, before = [], after = [], ...one }: Case,
  allowed: { allow_handoffs?: boolean; tools?: string[] },
) {
  const { allow_handoffs, tools = [] } = allowed;
  return runCrew(
    [...before, handsOver, one.solved ?? solved, ...after],
    { ...crew, agents, ...(allow_handoffs === undefined ? {} : { allow_handoffs }) },
    { roles: [role("junior", tools)], tools: [storeMemory], ...(plan ? { plan } : {}) },
  );
}

describe.each([
  ["by its crew", { allow_handoffs: true }],
  ["by its role", { tools: ["handoff"] }],
])("an agent allowed %s", (_by, allowed) => {
  test.each(Object.entries(PROCESSES))("hands off %s with its context", async (_what, one) => {
    const { state, events, models, tools } = await handOver(one, allowed);
    expect(answersTo(state, "junior").map(([status]) => status)).toEqual([404, 400, 403, 200]);
    expect(of(events, "handed_off")).toEqual([
      { from: "junior", to: "senior", reason: "too hard for me", context: { file: "a.py" }, count: 1 },
    ]);
    expect(of(events, "board_written")).toContainEqual({
      alias: "junior",
      bulletin: 'Handed over to senior: too hard for me\nContext: {"file":"a.py"}',
    });
    expect(tools.calls).toEqual([expect.stringMatching(/^junior store_memory .*"handoff_1"/)]);
    const taken = models.calls.find(({ messages }) => /^You are senior/.test(messages[0]!.content))!;
    const text = taken.messages.map(({ content }) => content).join("\n");
    expect(text).toContain("You take over from junior.");
    expect(text).toContain('"file":"a.py"');
    expect(state.run.final_status).toBe("COMPLETED");
    expect(state.state.result).toEqual(one.result ?? "solved");
  });
});

test.each(Object.entries(PROCESSES).filter(([, { crew }]) => crew?.process !== "swarm"))(
  "an agent allowed neither by its crew nor by its role can't hand off %s",
  async (_what, one) => {
    const { events } = await handOver(one, {});
    expect(of(events, "handed_off")).toEqual([]);
    expect(new Set(of(events, "tool_call_refused").map(({ status_code }) => status_code))).toEqual(
      new Set([403]),
    );
  },
);

test("a delegate's work goes back to its delegator from whoever took it over", async () => {
  const free = [agent("lead", { allow_delegation: true }), agent("junior"), agent("senior")];
  const { state, events } = await runCrew(
    [
      as("lead", calls(call("delegate_task", { coworker: "junior", task: "solve it" }))),
      as("junior", calls(over("lead"), over("senior"))),
      solved,
      as("lead", { text: "joined" }),
    ],
    { process: "swarm", agents: free },
  );
  expect(answersTo(state, "junior")).toEqual([
    [409, "lead is waiting for this result. Answer it instead."],
    [200, "senior takes over."],
  ]);
  expect(answersTo(state, "lead")).toEqual([[200, "solved"]]);
  expect(of(events, "delegation_finished")).toMatchObject([{ to: "junior", status: "completed" }]);
  expect(Object.values(state.agents).map(({ agent_id, parent }) => [agent_id, parent !== undefined])).toEqual(
    [
      ["lead", false],
      ["junior", true],
      ["senior", true],
    ],
  );
  expect(state.state.result).toBe("joined");
});

test("an agent without a crew is told why it can't hand off, and so is the log", async () => {
  const stage = newScriptedStage([calls(over("senior")), { text: "done alone" }], [tool("look")]);
  const { state, events } = await stage.run(
    draw("start > solo > end", {
      solo: {
        node_type: "agent_task",
        output_keys: ["result"],
        config: { required_role: "Solo", task_description_template: "solve it" },
      },
    }),
    { roles: [role("Solo", ["look", "handoff"])] },
  );
  expect(of(events, "agent_started")[0]?.withheld).toEqual([
    { tool_name: "handoff", reason: "It needs a crew with other agents." },
  ]);
  expect(stage.models.calls[0]!.messages[0]!.content).toContain(
    "These tools are unavailable here: handoff (It needs a crew with other agents).",
  );
  expect(of(events, "tool_call_refused")).toMatchObject([
    {
      tool_name: "handoff",
      status_code: 403,
      reason: expect.stringContaining("handoff is unavailable here. It needs a crew with other agents."),
    },
  ]);
  expect(state.state.result).toBe("done alone");
});
