import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { agent, as, call, calls, crewGraph, role } from "@/server/conformance/stage";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import { newScriptedModels, type ScriptedStep } from "@/server/llm/scripted";
import { fakeTools, newStage } from "@/server/runner/testing";
import { WorkspaceStore } from "@/server/store/runs/workspace";
import { fileTools } from "@/server/tools/builtin/files";

const team = [agent("analyst"), agent("coder")];
const tools = ["file_read", "file_write", "plan_add_task"];

async function run(...steps: ScriptedStep[]) {
  const db = emptyDb();
  const workspace = new WorkspaceStore(db);
  const stage = newStage({
    db,
    models: newScriptedModels(steps),
    tools: fakeTools(fileTools(workspace)),
  });
  const plan = {
    tasks: [
      { task_id: "a", description: "do a", assigned_agent: "analyst" },
      { task_id: "b", description: "do b", assigned_agent: "coder", dependencies: ["a"] },
    ],
  };
  const run = await stage.run(crewGraph({ agents: team }, plan), {
    roles: team.map(({ agent_id }) => role(agent_id, tools)),
  });
  const versions = workspace.versions(run.id, "plan.json").length;
  const read = (version?: number) =>
    ExecutionPlan.parse(
      JSON.parse(
        workspace.read(
          run.id,
          { path: "plan.json", ...(version ? { version } : {}) },
          { offset: 0, limit: 100_000 },
        )!.content,
      ),
    );
  const toolResults = Object.values(run.state.agents).flatMap(({ messages }) =>
    messages.flatMap(({ role: from, content }) => (from === "tool" ? [content] : [])),
  );
  return { ...run, versions, read, toolResults };
}

test("plan.json is rewritten in the run's workspace at each change of the plan", async () => {
  const { state, versions, read } = await run(as("analyst", { text: "A" }), as("coder", { text: "B" }));
  expect(versions).toBeGreaterThan(2);
  expect(read(1).tasks.map(({ status }) => status)).toEqual(["in_progress", "pending"]);
  expect(read()).toEqual(Object.values(state.plans)[0]);
  expect(read().overall_status).toBe("completed");
  expect(Object.keys(state.files)).toEqual(["plan.json"]);
});

test("an agent can read its own plan changes in plan.json", async () => {
  const { toolResults } = await run(
    as(
      "analyst",
      calls(call("plan_add_task", { description: "do c", task_id: "c", assigned_agent: "coder" })),
    ),
    as("analyst", calls(call("file_read", { path: "plan.json" }))),
    as("analyst", { text: "A" }),
    as("coder", { text: "C" }),
    as("coder", { text: "B" }),
  );
  expect(toolResults[1]).toContain("do c");
});

test("no agent can write plan.json, however its path is spelled", async () => {
  const forged = { content: '{"tasks":[]}' };
  const {
    toolResults: toolResults,
    read,
    state,
  } = await run(
    as(
      "analyst",
      calls(
        call("file_write", { path: "plan.json", ...forged }),
        call("file_write", { path: ".//plan.json", ...forged }),
        call("file_write", { path: "other.json", ...forged }),
      ),
    ),
    as("analyst", { text: "A" }),
    as("coder", { text: "B" }),
  );
  expect(toolResults.map((text) => /\((\d+)\)|status="?(\d+)/.exec(text)?.slice(1).find(Boolean))).toEqual([
    "403",
    "403",
    "200",
  ]);
  expect(read().tasks).toHaveLength(2);
  expect(state.run.final_status).toBe("COMPLETED");
});
