import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rolePrompt } from "@/server/domain/agent/prompt";
import { AgentConfig, RoleDefinition } from "@/server/domain/agent/role";
import { CrewConfig } from "@/server/domain/crew/crew";
import { customPatterns } from "@/server/domain/crew/pattern";
import { compilePattern } from "@/server/domain/graph/compile-pattern";
import { readTeams, writeTeams } from "./team-files";

const summaryOf = (text: string) =>
  readTeams(text).findings.map(({ level, at, message }) => `${level} ${at}: ${message}`);

describe("Roboco team configurations", () => {
  test("a Roboco team with parallel groups and all tool types is read", () => {
    const { crews, roles, findings } = readTeams(`
name: "Web team"
agents:
  - {name: frontend_dev, description: Builds pages, tools: [web_search, custom_analyzer]}
  - {name: backend_dev, tools: [external_api, approval_gateway]}
  - {name: "database dev"}
  - name: tech_lead
    role: Developer
    system_message: "Answer with {{braces}}."
collaboration_patterns:
  parallel_groups:
    - name: "development_team"
      agents: ["frontend_dev", "backend_dev", "database dev", "nobody"]
      coordination_agent: "tech_lead"
      sync_points: ["design_review", "integration_testing"]
tools:
  - {name: "web_search", type: "builtin", config: {}}
  - {name: "custom_analyzer", type: "custom", path: "./tools/analyzer.py", function: "analyze_code"}
  - {name: "external_api", type: "mcp", server_url: "http://localhost:8080/mcp"}
  - {name: "approval_gateway", type: "hitl", config: {timeout: 3600, escalation_policy: "manager"}}
`);
    expect(crews).toEqual([
      CrewConfig.parse({
        crew_id: "Web_team",
        process: "parallel",
        agents: [
          { agent_id: "frontend_dev", role_name: "frontend_dev" },
          { agent_id: "backend_dev", role_name: "backend_dev" },
          { agent_id: "database_dev", role_name: "database dev" },
          { agent_id: "tech_lead", role_name: "Developer" },
        ],
        collaboration_patterns: [
          {
            parallel_groups: [
              {
                name: "development_team",
                agents: ["frontend_dev", "backend_dev", "database_dev", "nobody"],
                coordination_agent: "tech_lead",
                sync_points: ["design_review", "integration_testing"],
              },
            ],
          },
        ],
      }),
    ]);
    expect(roles.map(({ name, tools }) => ({ name, tools }))).toEqual([
      { name: "frontend_dev", tools: ["web_search", "custom_analyzer"] },
      { name: "backend_dev", tools: ["mcp:external_api/*", "approval_gateway"] },
      { name: "Developer", tools: [] },
    ]);
    expect(rolePrompt(roles[2]!)).toBe("Answer with {{braces}}.");
    expect(findings.map(({ level, at }) => `${level} ${at}`)).toEqual([
      "info tools.0",
      "dropped tools.1",
      "dropped tools.2",
      "info tools.3",
      "dropped tools.3.config.timeout",
      "dropped tools.3.config.escalation_policy",
      "changed crew_id",
      "info agents.0",
      "info agents.1",
      "changed agents.2.agent_id",
      "info agents.3",
      "changed collaboration_patterns.parallel_groups.0.agents.3",
      "info process",
    ]);
    expect(findings[1]).toMatchObject({
      message:
        '"custom_analyzer" is a program, and files can\'t add programs. The admin can review it and declare it with this entry under "tools" in the file that TROUPE_TOOLS_FILE names.',
      snippet: expect.stringContaining("function: analyze_code") as string,
    });
  });

  test("a Roboco team with a custom pattern is read and compiles", () => {
    const { crews, findings } = readTeams(`
agents: {coder: {role: Developer}, reviewer: {role: QualityReviewer}, tester: {role: Analyst}}
collaboration_patterns:
  - name: "code_review_cycle"
    type: "custom"
    workflow:
      - {step: "code_generation", agent: "coder", next_on_success: "code_review", next_on_failure: "error_handler"}
      - {step: "code_review", agent: "reviewer", next_on_approve: "testing", next_on_reject: "coder"}
      - {step: "testing", agent: "tester", next_on_pass: "deployment", next_on_fail: "coder"}
  - {name: auction, type: market}
`);
    expect(findings).toEqual([
      {
        level: "info",
        at: "collaboration_patterns.1",
        message: 'Unknown pattern "market"; it was kept but has no effect.',
      },
      {
        level: "info",
        at: "process",
        message: `The file doesn't name a process; "custom" was chosen as the best fit.`,
      },
    ]);
    const [pattern] = customPatterns(crews[0]!.collaboration_patterns);
    const { graph, warnings } = compilePattern(pattern!, crews[0]!.agents);
    expect(warnings).toHaveLength(2);
    expect(graph.nodes.testing?.config).toMatchObject({ required_role: "Analyst", agent_id: "tester" });
  });

  test("a Roboco team without patterns becomes a swarm", () => {
    const team = readTeams("agents: [{name: a, role: Writer}, {name: b, role: Editor}]\ntools: [handoff]");
    expect(team.crews[0]?.process).toBe("swarm");
  });
});

test("duplicate agent ids are renamed, and empty agents are skipped", () => {
  expect(
    summaryOf(
      "crew: {agents: [{agent_id: a, role_name: Writer}, {agent_id: a, role: Editor}, {x: 1}, {mood: 1, role: X}]}",
    ),
  ).toEqual([
    'changed crew.agents.1.agent_id: Two agents are named "a"; this one is now "a_2".',
    "dropped crew.agents.2: Skipped: an agent needs an id or a role.",
    'dropped crew.agents.3.mood: Unknown field "mood" was left out.',
  ]);
});

test("a file without a crew is rejected with a message", () => {
  expect(summaryOf("[]")).toEqual([
    `error : This isn't a crew. A crew file is an object with "agents" or "crews".`,
  ]);
  expect(summaryOf("")).toEqual(["error : The file is empty."]);
  expect(summaryOf("nodes: {}")).toEqual([
    "error : This file has a workflow, not crews. Import it on the Workflows page.",
  ]);
  expect(summaryOf("x: 1")).toEqual(["error : This file has no crews or agents."]);
  expect(summaryOf("crews: []")).toEqual(["error : This file has no crews or agents."]);
});

test("secrets are not written to team files", () => {
  const agent = AgentConfig.parse({
    agent_id: "a",
    role_name: "Writer",
    llm_config: { extra_body: { api_key: "sk-1234", top_k: 3 } },
  });
  const { agents } = readTeams(writeTeams({ agents: [agent] }, "yaml"));
  expect(agents[0]?.llm_config).toEqual({ extra_body: { top_k: 3 } });
});

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const text = fc.string({
  maxLength: 30,
  unit: fc.constantFrom("a", "é", "\n", " ", ":", "#", "'", "{", "-", "0", "~"),
});
const agentOf = (agent_id: string) =>
  fc.record({
    agent_id: fc.constant(agent_id),
    role_name: fc.constantFrom("Writer", "no", "007"),
    backstory: maybe(text),
    handoffs: maybe(fc.constant(["b"])),
    allow_delegation: fc.boolean(),
    llm_config: maybe(fc.record({ model: text, temperature: fc.constantFrom(0, 1) })),
    max_rpm: maybe(fc.integer({ min: 1, max: 9 })),
    context: maybe(fc.record({ keep_first: fc.nat(9) })),
  });
const pattern = fc.oneof(
  fc.constant({
    parallel_groups: [{ name: "g", agents: ["a", "b"], coordination_agent: "a", sync_points: ["x"] }],
  }),
  fc.constant({ name: "p", type: "custom", workflow: [{ step: "s", agent: "a", next_on_done: "b" }] }),
);
const crew = fc.record({
  crew_id: fc.constantFrom("crew", "team", "yes"),
  agents: fc.tuple(agentOf("a"), agentOf("b")),
  process: fc.constantFrom("sequential", "swarm", "consensus", "custom"),
  entry_agent: maybe(fc.constant("b")),
  manager: maybe(fc.constant({ agent_id: "a" })),
  consensus: maybe(fc.record({ quorum: fc.constantFrom(0.5, 0.7), weights: fc.constant({ a: 2 }) })),
  collaboration_patterns: fc.array(pattern, { maxLength: 2 }),
});

test("agents outside crews are read, whether or not crew members refer to them", () => {
  const { crews, agents, findings } = readTeams(`
agents:
  - {agent_id: careful, role_name: Writer, backstory: Once burnt, agent_ref: other}
crews:
  - crew_id: desk
    process: swarm
    agents:
      - {agent_id: pen, agent_ref: careful, role_name: Writer}
`);
  expect(agents).toEqual([
    AgentConfig.parse({ agent_id: "careful", role_name: "Writer", backstory: "Once burnt" }),
  ]);
  expect(crews[0]?.agents[0]).toMatchObject({ agent_id: "pen", agent_ref: "careful" });
  expect(findings).toEqual([]);
  const alone = readTeams("name: Ann\nrole: Drummer\ngoals: [Keep time]\nmax_iterations: 4\n");
  expect(alone.crews).toEqual([]);
  expect(alone.agents).toEqual([
    AgentConfig.parse({ agent_id: "Ann", role_name: "Drummer", max_iterations: 4 }),
  ]);
  expect(alone.roles.map(({ name, goals }) => ({ name, goals }))).toEqual([
    { name: "Drummer", goals: ["Keep time"] },
  ]);
});

test("crews, agents and roles survive a round trip", () => {
  const file = fc.record({
    crews: fc.uniqueArray(crew, { maxLength: 2, selector: ({ crew_id }) => crew_id }),
    agents: fc.tuple(agentOf("lone")),
    roles: fc.array(fc.record({ name: fc.constant("Writer"), description: text }), { maxLength: 1 }),
    format: fc.constantFrom("yaml" as const, "json" as const),
  });
  fc.assert(
    fc.property(file, ({ format, ...raw }) => {
      const teams = {
        crews: raw.crews.map((one) => CrewConfig.parse(one)),
        agents: raw.agents.map((one) => AgentConfig.parse(one)),
        roles: raw.roles.map((one) => RoleDefinition.parse(one)),
      };
      const { findings, ...read } = readTeams(writeTeams(teams, format));
      expect(read).toEqual(teams);
      expect(findings.filter(({ level }) => level !== "info")).toEqual([]);
    }),
    { numRuns: 150 },
  );
});
