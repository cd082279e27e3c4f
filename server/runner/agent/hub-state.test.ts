import { expect, test } from "vitest";
import { z } from "zod";
import { RoleDefinition } from "@/server/domain/agent/role";
import { hubHistory, hubState } from "@/server/domain/run/hub-state";
import { draw } from "@/server/domain/testing/drawing";
import { newScriptedModels } from "@/server/llm/scripted";
import { defineTool } from "@/server/tools/define";
import { fakeTools, newStage } from "../testing";

const read = defineTool({
  name: "file_read",
  description: "Reads a file",
  input: z.object({ path: z.string() }),
  source: "builtin",
  risk: "HIGH",
  execute: () => "forty-two",
});
const graph = draw("start > ask > end", {
  ask: {
    node_type: "agent_task",
    output_keys: ["answer"],
    config: { required_role: "Reader", task_description_template: "what does it say?" },
  },
});

test("the agent hub view of a run shows states, counters, cost, actions and observations", async () => {
  const models = newScriptedModels([
    { tool_calls: [{ tool_name: "file_read", args: { path: "a.txt" } }], text: "I will read it." },
    { text: "It says forty-two." },
  ]);
  const stage = newStage({ models, tools: fakeTools([read]) });
  const id = stage.start(graph, {
    input: { question: "What does the file say?" },
    roles: [RoleDefinition.parse({ name: "Reader", tools: ["file_read"] })],
  });
  await expect.poll(() => stage.store.find(id)?.status).toBe("waiting");
  const asked = stage.store.state(id)!;
  expect(hubState(asked)).toMatchObject({
    root_task: { goal: "What does the file say?", agent_state: "RUNNING" },
    subtasks: [{ agent: "Reader", agent_state: "AWAITING_USER_CONFIRMATION", local_iteration: 0 }],
    iteration: 1,
    confirmation_mode: true,
    last_error: null,
  });

  const [open] = Object.values(asked.interactions);
  stage.host.steering.answer(id, open!.id, open!.requested.fingerprint, { answer: "approve", by: "ann" });
  await stage.host.settled(id);
  const done = stage.store.state(id)!;
  const hub = hubState(done);
  expect(hub).toMatchObject({
    root_task: { agent_state: "FINISHED" },
    subtasks: [{ agent_state: "FINISHED", delegate_level: 0, parent: null, local_iteration: 1 }],
    iteration: 2,
    traffic_control_state: "normal",
  });
  expect(hub.subtasks[0]!.metrics.usage.requests).toBe(hub.metrics.usage.requests);
  expect(hubHistory(Object.values(done.agents)[0]!)).toMatchObject([
    { action: "message" },
    { action: "read", args: { path: "a.txt", thought: "I will read it." } },
    { observation: "read", content: "forty-two", extras: { path: "a.txt" } },
    { action: "message", args: { content: "It says forty-two." } },
  ]);
});
