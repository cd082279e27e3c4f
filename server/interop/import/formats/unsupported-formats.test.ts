import { describe, expect, test } from "vitest";
import { readImport } from "../pipeline";
import { files } from "../testing";

// Small examples of each format, in the shape that its makers publish.
const EXAMPLES: Record<string, unknown> = {
  "an n8n workflow": { nodes: [{ name: "A", type: "n8n-nodes-base.if", parameters: {} }], connections: {} },
  "a Flowise agentflow": {
    nodes: [{ id: "a", data: { name: "agentAgentflow", inputParams: [] } }],
    edges: [],
  },
  "a Flowise chatflow": { nodes: [{ id: "a", data: { name: "chatOpenAI", inputParams: [] } }], edges: [] },
  "a Langflow flow": { name: "x", data: { nodes: [{ id: "a", type: "genericNode", data: {} }], edges: [] } },
  "a Dify app": {
    app: { mode: "workflow", name: "x" },
    kind: "app",
    workflow: { graph: { nodes: [], edges: [] } },
  },
  "a Microsoft Agent Framework workflow": {
    kind: "workflow",
    trigger: { kind: "OnStart", id: "x", actions: [] },
  },
  "a Google ADK agent": { agent_class: "LoopAgent", name: "x", sub_agents: [] },
  "a Prompt flow": { inputs: {}, outputs: {}, nodes: [{ name: "a", type: "llm", source: { type: "code" } }] },
  "an Open Agent Spec file": { component_type: "Flow", agentspec_version: "25.4.1" },
  "a PraisonAI file": {
    framework: "crewai",
    topic: "x",
    roles: { a: { role: "A", backstory: "b", tasks: {} } },
  },
  "a Docker cagent file": { agents: { root: { model: "openai/gpt-4o", instruction: "Help" } } },
  "a Taskmaster task list": { master: { tasks: [{ id: 1, title: "A", details: "b" }] } },
  "a Spec Kit workflow": { schema_version: "1.0", workflow: { id: "x" }, steps: [{ id: "a", command: "b" }] },
  "a TaskWeaver example of a conversation": { enabled: true, rounds: [{ post_list: [] }] },
};

describe("unsupported formats", () => {
  test.each(Object.entries(EXAMPLES))("an unsupported format is rejected by name: %s", (label, example) => {
    const { imported, found, findings } = readImport(files({ "x.json": JSON.stringify(example) }));
    expect(imported).toBeNull();
    expect(found.map((one) => one.label)).toEqual([label]);
    expect(findings).toEqual([
      { level: "error", at: "", message: expect.stringContaining(`This is ${label}.`) as string },
    ]);
  });
});

test.each([
  ["from crewai import Crew\n", /CrewAI.*whole folder/],
  ["import os\nfrom langgraph.graph import StateGraph\n", /LangGraph.*to_json/],
  ["from langchain_core.prompts import ChatPromptTemplate\nchain = prompt | model\n", /LangChain.*dumps/],
  ['import { ChatOpenAI } from "@langchain/openai";\n', /LangChain.*dumps/],
  ["from langchain_openai import ChatOpenAI\nfrom langgraph.graph import StateGraph\n", /LangGraph.*to_json/],
  ["from autogen_agentchat.teams import Swarm\n", /AutoGen.*dump_component/],
])("framework code is rejected with a supported alternative: %s", (text, message) => {
  const { imported, findings } = readImport(files({ "a.py": text }));
  expect(imported).toBeNull();
  expect(findings.map((one) => one.message)).toEqual([expect.stringMatching(message)]);
});

test("a langgraph.json is rejected with a supported alternative", () => {
  const { findings } = readImport(
    files({ "langgraph.json": '{"graphs": {"a": "./a.py:graph"}, "dependencies": []}' }),
  );
  expect(findings[0]?.message).toContain("draw_mermaid()");
});
