import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { AgentConfig } from "@/server/domain/agent/role";
import { newAgentStore } from "./agents";

const agentOf = (agent_id: string, more: object = {}) =>
  AgentConfig.parse({ agent_id, role_name: "Writer", ...more });

test("agents keep every setting, count their revisions, and have a name and an id", () => {
  const store = newAgentStore(emptyDb(), () => 1000);
  const full = agentOf("careful", {
    backstory: "Once burnt",
    llm_config: { model: "slow-1", temperature: 0.1 },
    allow_delegation: true,
    max_iterations: 3,
    tool_protocol: "text",
    handoffs: ["Editor"],
    max_delegation_depth: 1,
    max_execution_time_s: 60,
    max_rpm: 6,
    tool_concurrency: 2,
    context: { condense_at: 0.5, keep_first: 2, target: 0.3, max_messages: 20 },
    memory_scopes: ["task", "project"],
  });
  expect(store.create("Careful writer", full)).toBe(true);
  expect(store.create("Another", agentOf("careful"))).toBe(false);
  expect(store.list()).toEqual([
    { id: "careful", name: "Careful writer", agent: full, revision: 1, updated_at: 1000 },
  ]);
  expect(store.save({ id: "careful", revision: 1, name: "Bold", agent: agentOf("other") })).toEqual({
    saved: true,
    revision: 2,
  });
  expect(store.find("careful")).toMatchObject({ name: "Bold", agent: { agent_id: "careful" } });
  expect(store.save({ id: "careful", revision: 1, name: "Late", agent: full })).toMatchObject({
    saved: false,
    current: { name: "Bold", revision: 2 },
  });
});

test("a rewrite saves only the agents that it changes", () => {
  const store = newAgentStore(emptyDb(), () => 1000);
  store.create("A", agentOf("a"));
  store.create("B", agentOf("b", { role_name: "Editor" }));
  const toAuthor = (agent: AgentConfig) =>
    agent.role_name === "Writer" ? { ...agent, role_name: "Author" } : agent;
  expect(store.rewrite(toAuthor)).toBe(1);
  expect(store.list().map(({ agent, revision }) => `${agent.role_name} ${revision}`)).toEqual([
    "Author 2",
    "Editor 1",
  ]);
});
