import { describe, expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { RoleDefinition } from "@/server/domain/agent/role";
import { draw } from "@/server/domain/testing/drawing";
import type { ModelAnswer, ModelRequest, Models } from "@/server/llm/model";
import { newScriptedModels, type ScriptedStep } from "@/server/llm/scripted";
import { MemoryStore } from "@/server/store/library/memories/memories";
import { memoryTools } from "@/server/tools/builtin/memory";
import { cutAt, fakeTools, newStage } from "../testing";

const worker = RoleDefinition.parse({ name: "Worker", tools: ["store_memory", "retrieve_memory"] });
const graph = draw("start > ask > end", {
  ask: {
    node_type: "agent_task",
    output_keys: ["answer"],
    config: { required_role: "Worker", task_description_template: "find it" },
  },
});
const store = (scope: string) => ({
  tool_name: "store_memory",
  args: { key: `of ${scope}`, value: "42", scope },
});
const recall: ScriptedStep = {
  tool_calls: [{ tool_name: "retrieve_memory", args: { key: "of task", scope: "task" } }],
};

/** A model that answers from how far the conversation is, so that it says the same after a crash. */
function modelsOf(...steps: ScriptedStep[]): Models {
  return {
    ...newScriptedModels(),
    complete(request: ModelRequest, io): Promise<ModelAnswer> {
      const turn = request.messages.filter(({ role }) => role === "assistant").length;
      return newScriptedModels([steps[turn]!]).complete(request, io);
    },
  };
}

function bench(...steps: ScriptedStep[]) {
  const memories = new MemoryStore(emptyDb());
  const tools = fakeTools(memoryTools(memories), (place) => memories.forget(place));
  return { memories, tools, models: modelsOf(...steps) };
}

describe("task memory", () => {
  test("task memory lasts until the task ends, and wider scopes remain", async () => {
    const { memories, ...effects } = bench({ tool_calls: [store("task"), store("run")] }, recall, {
      text: "done",
    });
    const { state } = await newStage(effects).run(graph, { roles: [worker] });
    expect(state.run.final_status).toBe("COMPLETED");
    expect(Object.values(state.tool_calls).map(({ status }) => status)).toEqual([
      "completed",
      "completed",
      "completed",
    ]);
    expect(memories.list().map(({ key }) => key)).toEqual(["of run"]);
  });

  test("task memory is deleted even if the task fails", async () => {
    const { memories, ...effects } = bench({ tool_calls: [store("task")] }, { refusal: "no" });
    const { state } = await newStage(effects).run(graph, { roles: [worker] });
    expect(state.run.final_status).toBe("ERROR");
    expect(memories.list()).toEqual([]);
  });

  test("a task that stored no task memory records no deletion step", async () => {
    const { memories: _none, ...effects } = bench({ tool_calls: [store("run")] }, { text: "done" });
    const stage = newStage(effects);
    const { id } = await stage.run(graph, { roles: [worker] });
    expect(JSON.stringify(stage.store.journal(id).turns)).not.toContain("/forget");
  });

  test("task memory is deleted after recovery, whatever turn the server stopped at", async () => {
    const whole = bench({ tool_calls: [store("task")] }, recall, { text: "done" });
    const stage = newStage(whole);
    const first = await stage.run(graph, { roles: [worker] });
    const forgotten = stage.store
      .journal(first.id)
      .turns.findIndex((turn) => JSON.stringify(turn).includes("/forget"));
    expect(forgotten).toBeGreaterThan(5);
    for (let cut = 1; cut <= forgotten; cut++) {
      // What was stored before the crash is still stored after it.
      const after = bench({ tool_calls: [store("task")] }, recall, { text: "done" });
      const place = { scope: "task" as const, scope_id: `${first.id}/ask/Worker` };
      after.memories.store({ ...place, key: "of task", value: "42", tainted: true, source: {} });
      const again = newStage({ ...after, db: cutAt(stage, first.id, cut) });
      again.host.recover();
      await again.host.settled(first.id);
      const state = again.store.state(first.id)!;
      expect({ cut, status: state.run.final_status, left: after.memories.list() }).toEqual({
        cut,
        status: "COMPLETED",
        left: [],
      });
    }
  });
});
