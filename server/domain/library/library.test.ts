import { expect, test } from "vitest";
import { AgentConfig, llmOver } from "@/server/domain/agent/role";
import { CrewConfig } from "@/server/domain/crew/crew";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { findProblems } from "@/server/domain/problems/problems";
import { agentUses } from "./agent-use";
import { crewUses } from "./crew-use";
import { type Library, withLibrary } from "./library";

const crewOf = (...roles: string[]) =>
  CrewConfig.parse({ agents: roles.map((role_name, at) => ({ agent_id: `a${at}`, role_name })) });
const graphOf = (type: string, config: object) =>
  WorkflowGraph.parse({
    graph_id: "g",
    start_node_id: "s",
    nodes: {
      s: { id: "s", node_type: "start", output_keys: ["ask"] },
      c: { id: "c", node_type: type, output_keys: ["done"], config },
      e: { id: "e", node_type: "end" },
    },
    edges: [
      { id: "e1", source_node_id: "s", target_node_id: "c" },
      { id: "e2", source_node_id: "c", target_node_id: "e" },
    ],
  });
const graphWith = (config: object) => graphOf("crew_task", { plan_description_template: "Go", ...config });
const taskFor = (config: object) => graphOf("agent_task", { task_description_template: "Go", ...config });
const careful = AgentConfig.parse({ agent_id: "careful", role_name: "Writer", backstory: "Once burnt" });
/** A member who is that agent, with settings that are out of date. */
const member = { agent_id: "pen", agent_ref: "careful", role_name: "Old", handoffs: ["a1"] };
const mixed = CrewConfig.parse({ agents: [member, { agent_id: "a1", role_name: "Editor" }] });
const crews = new Map([
  ["writers", crewOf("Writer", "Editor")],
  ["mixed", mixed],
]);
const library: Library = {
  crew: (id) => crews.get(id),
  agent: (id) => (id === "careful" ? careful : undefined),
};
const roles = [
  { name: "Writer", tools: ["look", "mcp:desk/*"] },
  { name: "Editor", tools: [] },
];
const codes = (graph: WorkflowGraph) =>
  findProblems(graph, roles, undefined, { library }).map(({ code }) => code);

test("a library crew replaces the copy in the workflow", () => {
  const graph = graphWith({ crew_id_or_config_ref: "writers", crew: crewOf("Old") });
  const ready = withLibrary(graph, library);
  expect(ready.nodes.c?.config).toMatchObject({ crew: { agents: [{ role_name: "Writer" }, {}] } });
  expect(graph.nodes.c?.config).toMatchObject({ crew: { agents: [{ role_name: "Old" }] } });
  expect(crewUses(graph)).toEqual(new Map([["writers", ["c"]]]));
});

test("an unknown library reference keeps the file's copy, and a graph without any is unchanged", () => {
  const strange = graphWith({ crew_id_or_config_ref: "gone", crew: crewOf("Writer") });
  expect(withLibrary(strange, library)).toBe(strange);
  const own = graphWith({ crew: crewOf("Writer") });
  expect(withLibrary(own, library)).toBe(own);
  const task = taskFor({ required_role: "Writer", agent_ref: "gone", agent: careful });
  expect(withLibrary(task, library)).toBe(task);
});

test("a missing crew and an unknown crew are separate problems", () => {
  expect(codes(graphWith({}))).toEqual(["E_CREW_EMPTY"]);
  expect(codes(graphWith({ crew_id_or_config_ref: "gone" }))).toEqual(["E_CREW_UNKNOWN"]);
  expect(codes(graphWith({ crew_id_or_config_ref: "gone", crew: crewOf("Writer") }))).toEqual([]);
  expect(codes(graphWith({ crew_id_or_config_ref: "writers" }))).toEqual([]);
});

test("a crew member uses its library agent's settings with its own ID and handoffs", () => {
  const expected = { ...careful, agent_id: "pen", agent_ref: "careful", handoffs: ["a1"] };
  for (const config of [{ crew: mixed }, { crew_id_or_config_ref: "mixed" }]) {
    const { c } = withLibrary(graphWith(config), library).nodes;
    expect(c?.node_type === "crew_task" && c.config.crew?.agents).toEqual([expected, mixed.agents[1]]);
  }
  const strict = { ...careful, handoffs: ["Editor"] };
  const bound = withLibrary(graphWith({ crew: mixed }), { ...library, agent: () => strict }).nodes.c;
  expect(bound?.config).toMatchObject({ crew: { agents: [{ agent_id: "pen", handoffs: ["Editor"] }, {}] } });
  expect(agentUses(graphWith({ crew: mixed }))).toEqual(new Map([["careful", ["c"]]]));
});

test("an agent task uses its library agent's role and settings, and a missing agent is an error", () => {
  const graph = taskFor({ agent_ref: "careful" });
  expect(withLibrary(graph, library).nodes.c?.config).toMatchObject({
    required_role: "Writer",
    agent: careful,
  });
  expect(codes(graph)).toEqual([]);
  expect(codes(taskFor({ agent_ref: "gone" }))).toEqual(["E_AGENT_UNKNOWN"]);
  expect(codes(taskFor({ agent_ref: "gone", agent: careful }))).toEqual([]);
  expect(codes(taskFor({ agent_ref: "gone", agent: { ...careful, role_name: "Wizard" } }))).toEqual([
    "E_UNKNOWN_ROLE",
  ]);
});

test("model settings are overridden key by key, but a model stays with its provider", () => {
  const base = { provider_id: "a", model: "slow-1", temperature: 0.1 };
  expect(llmOver(base, { temperature: 1 })).toEqual({ ...base, temperature: 1 });
  expect(llmOver(base, { provider_id: "b" })).toEqual({ provider_id: "b", temperature: 0.1 });
  expect(llmOver(base, { provider_id: "b", model: "m" })).toEqual({ ...base, provider_id: "b", model: "m" });
  expect(llmOver(undefined, undefined)).toBeUndefined();
});
