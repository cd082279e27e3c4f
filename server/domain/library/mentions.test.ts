import { describe, expect, test } from "vitest";
import { AgentConfig } from "@/server/domain/agent/role";
import { CrewConfig } from "@/server/domain/crew/crew";
import { draw } from "@/server/domain/testing/drawing";
import { agentUses, asMember } from "./agent-use";
import { type Capability, capabilitiesOf, describeCapability } from "./capabilities";
import { crewUses } from "./crew-use";
import { modelUses } from "./model-uses";
import { roleUses, withRoleRenamed } from "./role-use";
import { countUses, usesOfAgents, usesOfCrews, usesOfRoles } from "./uses";

const agent = (agent_id: string, role_name: string, more: object = {}) =>
  AgentConfig.parse({ agent_id, role_name, ...more });
const crewNode = (config: object) => ({ node_type: "crew_task", config: config as never });
const taskNode = (config: object) => ({ node_type: "agent_task", config: config as never });
const plan = (...roles: (string | undefined)[]) => ({
  tasks: roles.map((required_role, at) => ({
    task_id: `t${at}`,
    description: "do it",
    required_role: required_role as never,
  })),
});

const GRAPH = draw("start > a > b > c > d > e > end", {
  a: taskNode({ required_role: "Writer" }),
  b: taskNode({
    required_role: "Old",
    agent_ref: "ref",
    agent: agent("ref", "Reader", { handoffs: ["Writer"] }),
  }),
  c: crewNode({
    crew: CrewConfig.parse({
      agents: [
        agent("x", "Writer", { agent_ref: "ref" }),
        agent("y", "Other", { handoffs: ["Writer", "x"] }),
      ],
    }),
    plan: plan("Planned", "Writer", undefined),
  }),
  d: crewNode({ crew_id_or_config_ref: "team", plan: plan("Planned") }),
  e: crewNode({ crew_id_or_config_ref: "team" }),
});

test("roles, agents and crews are listed with the nodes that use them, in order", () => {
  expect(roleUses(GRAPH)).toEqual(
    new Map([
      ["Writer", ["a", "c"]],
      ["Reader", ["b"]],
      ["Other", ["c"]],
      ["Planned", ["c", "d"]],
    ]),
  );
  expect(agentUses(GRAPH)).toEqual(new Map([["ref", ["b", "c"]]]));
  expect(crewUses(GRAPH)).toEqual(new Map([["team", ["d", "e"]]]));
});

describe("renaming a role", () => {
  const changedIn = (from: string) => {
    const renamed = withRoleRenamed(GRAPH, from, "New");
    return Object.keys(GRAPH.nodes).filter((id) => renamed.nodes[id] !== GRAPH.nodes[id]);
  };
  test("renaming a role updates every reference and no other node", () => {
    const { nodes } = withRoleRenamed(GRAPH, "Writer", "New");
    const { a, b, c } = GRAPH.nodes;
    const crew = (GRAPH.nodes.c?.config as { crew: CrewConfig }).crew;
    expect(changedIn("Writer")).toEqual(["a", "b", "c"]);
    expect(nodes.a).toEqual({ ...a, config: { ...a?.config, required_role: "New" } });
    expect(nodes.b).toEqual({
      ...b,
      config: { ...b?.config, agent: agent("ref", "Reader", { handoffs: ["New"] }) },
    });
    expect(nodes.c).toEqual({
      ...c,
      config: {
        ...c?.config,
        crew: {
          ...crew,
          agents: [agent("x", "New", { agent_ref: "ref" }), agent("y", "Other", { handoffs: ["New", "x"] })],
        },
        plan: expect.objectContaining({
          tasks: [
            expect.objectContaining({ required_role: "Planned" }),
            expect.objectContaining({ required_role: "New" }),
            expect.not.objectContaining({ required_role: "New" }),
          ],
        }),
      },
    });
  });
  test.each([
    ["Old", ["b"]],
    ["Reader", ["b"]],
    ["Other", ["c"]],
    ["Planned", ["c", "d"]],
  ])("renaming the role %s changes the nodes %j", (from, ids) => {
    expect(changedIn(from)).toEqual(ids);
  });
  test("renaming a role used only in a plan leaves the crew unchanged", () => {
    const config = withRoleRenamed(GRAPH, "Planned", "New").nodes.d?.config;
    expect(config).toEqual({
      ...GRAPH.nodes.d?.config,
      plan: expect.objectContaining({ tasks: [expect.objectContaining({ required_role: "New" })] }),
    });
    expect(config).not.toHaveProperty("crew");
  });
  test("renaming a role used only in a crew adds no plan", () => {
    const graph = draw("start > c > end", {
      c: crewNode({ crew: CrewConfig.parse({ agents: [agent("x", "Writer")] }) }),
    });
    const config = withRoleRenamed(graph, "Writer", "New").nodes.c?.config;
    expect(config).toMatchObject({ crew: { agents: [{ role_name: "New" }] } });
    expect(config).not.toHaveProperty("plan");
  });
  test("renaming an unused role returns the same graph", () => {
    expect(withRoleRenamed(GRAPH, "Nobody", "New")).toBe(GRAPH);
  });
});

test("a crew member keeps its own ID, and its own handoffs only if its library agent has none", () => {
  const library = agent("ref", "Reader");
  const strict = { ...library, handoffs: ["z"] };
  expect(asMember(agent("x", "Old", { agent_ref: "ref", handoffs: ["y"] }), library)).toEqual({
    ...library,
    agent_id: "x",
    agent_ref: "ref",
    handoffs: ["y"],
  });
  expect(asMember(agent("x", "Old", { handoffs: ["y"] }), strict)).toEqual({ ...strict, agent_id: "x" });
  expect(asMember(agent("x", "Old"), library)).toEqual({ ...library, agent_id: "x" });
});

test("uses of roles, agents and crews list their users, and unnamed roles are ignored", () => {
  const crew = CrewConfig.parse({ agents: [agent("x", "Writer", { agent_ref: "ref" }), agent("y", "")] });
  const users = {
    workflows: [{ id: "w", name: "W", graph: GRAPH }],
    crews: [{ id: "k", name: "K", crew }],
    agents: [
      { id: "g", name: "G", agent: agent("g", "Writer") },
      { id: "n", name: "N", agent: agent("n", "") },
    ],
  };
  const workflow = (...node_ids: string[]) => ({ kind: "workflow", id: "w", name: "W", node_ids });
  const inCrew = { kind: "crew", id: "k", name: "K", node_ids: [] };
  expect(usesOfRoles(users)).toEqual(
    new Map([
      ["Writer", [workflow("a", "c"), inCrew, { kind: "agent", id: "g", name: "G", node_ids: [] }]],
      ["Reader", [workflow("b")]],
      ["Other", [workflow("c")]],
      ["Planned", [workflow("c", "d")]],
    ]),
  );
  expect(usesOfAgents(users)).toEqual(new Map([["ref", [workflow("b", "c"), inCrew]]]));
  expect(usesOfCrews(users)).toEqual(new Map([["team", [workflow("d", "e")]]]));
});

test.each([
  [[], ""],
  [["crew"], "1 crew"],
  [["agent", "workflow", "workflow"], "2 workflows and 1 agent"],
  [["agent", "agent", "crew", "crew", "workflow"], "1 workflow, 2 crews and 2 agents"],
] as const)("uses by %j are counted as %j", (kinds, label) => {
  expect(countUses(kinds.map((kind) => ({ kind })))).toBe(label);
});

test("model uses include fallbacks, crew members and managers", () => {
  const choices = (text: string, nodes: NonNullable<Parameters<typeof draw>[1]>) =>
    modelUses(draw(text, nodes)).map(({ node, field, choice }) => [node.id, field, choice]);
  expect(
    choices("start > a > b > c > d > r; r x> end", {
      a: taskNode({ llm_config: { model: "m", fallback_models: [{ provider_id: "p", model: "n" }] } }),
      b: taskNode({
        agent_ref: "ref",
        agent: agent("ref", "Reader", { llm_config: { provider_id: "", model: "o" } }),
      }),
      c: crewNode({
        crew: CrewConfig.parse({
          agents: [agent("x", "W"), agent("y", "W", { llm_config: { model: "q" } })],
          manager: { llm_config: { model: "boss" } },
        }),
      }),
      d: crewNode({ crew_id_or_config_ref: "team" }),
      r: { config: { kind: "value", value: "state.r", llm_config: { model: "unused" } } },
    }),
  ).toEqual([
    ["a", "llm_config", { model: "m" }],
    ["a", "llm_config", { provider_id: "p", model: "n" }],
    ["b", "llm_config", { model: "o" }],
    ["c", "crew", {}],
    ["c", "crew", { model: "q" }],
    ["c", "crew", { model: "boss" }],
    ["d", "crew", {}],
  ]);
});

describe("capabilities", () => {
  const keys = (
    nodes: NonNullable<Parameters<typeof draw>[1]>,
    roles: { name: string; tools: string[] }[] = [],
  ) =>
    capabilitiesOf(draw(`start > ${Object.keys(nodes).join(" > ")} > end`, nodes), roles).map(
      ({ key, where }) => [key, where.map(({ node_id }) => node_id).join()],
    );
  const call = (tool_name: string, args: object) => ({
    node_type: "tool_call",
    config: { tool_name, args } as never,
  });
  test("a capability is listed once with each node that needs it", () => {
    const web = { node_type: "http_request", config: { method: "HEAD", url: "HTTPS://b.example" } };
    expect(keys({ a: web, b: web, c: call("http_request", { url: "https://b.example/x" }) })).toEqual([
      ["tool:http_request", "a,b,c"],
      ["host:b.example", "a,b,c"],
    ]);
  });
  test("a tool call needs its memory scope, or any scope if computed, but never the run scope", () => {
    const of = (args: object, tool = "retrieve_memories") =>
      keys({ a: call(tool, args) })
        .slice(1)
        .map(([key]) => key);
    expect(of({ scope: "project" })).toEqual(["memory:project"]);
    expect(of({ scope: { $expr: "state.s" } })).toEqual(["memory:*"]);
    expect(of({ scope: "run" })).toEqual([]);
    expect(of({})).toEqual([]);
    expect(of({ scope: "project" }, "look")).toEqual([]);
  });
  test("an agent needs its configured memory scopes, or all lasting scopes by default", () => {
    const roles = [
      { name: "Keeper", tools: ["store_memory"] },
      { name: "Writer", tools: ["file_read"] },
    ];
    const keeper = (more: object = {}) => taskNode({ required_role: "Keeper", ...more });
    const memories = (config: ReturnType<typeof taskNode>) =>
      keys({ a: config }, roles)
        .map(([key]) => key)
        .filter((key) => key?.startsWith("memory"));
    expect(memories(keeper())).toEqual(["memory:global", "memory:project", "memory:workflow"]);
    expect(
      memories(keeper({ agent_ref: "k", agent: agent("k", "Keeper", { memory_scopes: ["run", "global"] }) })),
    ).toEqual(["memory:global"]);
    expect(memories(keeper({ tools: ["file_read"] }))).toEqual([]);
    expect(memories(taskNode({ required_role: "Writer" }))).toEqual([]);
  });
  test("a crew member needs only its own memory scopes", () => {
    const crew = CrewConfig.parse({
      agents: [
        agent("x", "Keeper", { memory_scopes: ["workflow"] }),
        agent("y", "Writer", { memory_scopes: ["global"] }),
      ],
    });
    const node = crewNode({ crew, plan: plan("Keeper", "Nobody") });
    expect(keys({ a: node }, [{ name: "Keeper", tools: ["store_memory"] }])).toEqual([
      ["tool:store_memory", "a"],
      ["memory:workflow", "a"],
    ]);
    expect(
      keys({ a: crewNode({ plan: plan("Keeper") }) }, [{ name: "Keeper", tools: ["store_memory"] }]),
    ).toEqual([["tool:store_memory", "a"]]);
  });
  test.each<[Capability["kind"], string, string]>([
    ["tool", "look", "use the tool look"],
    ["host", "*", "send requests to a URL known only at run time"],
    ["host", "a.example", "send requests to a.example"],
    ["model", "/big", "use the model big"],
    ["model", "p/big", "use the model p/big"],
    ["code", "sum", "run its code"],
    ["memory", "*", "use memory in any scope"],
    ["memory", "project", "use memory in the project scope"],
  ])("the capability %s %s is described as: %s", (kind, name, label) => {
    expect(describeCapability({ kind, name })).toBe(label);
  });
});
