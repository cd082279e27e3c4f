import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { rolePrompt } from "@/server/domain/agent/prompt";
import { present } from "@/server/domain/base/must";
import { crewDiagnostics } from "@/server/domain/crew/crew-diagnostics";
import { readImport } from "../pipeline";
import { FIXTURES, files, fixtureFiles } from "../testing";

const TEAM = `name: Desk
description: Writes and reviews
agents:
  - name: writer
    description: Writes articles
    class: agentx.core.agents.Agent
    prompt_template: prompts/writer.md
    tools: [handoff, web_search]
    llm_config: {model: deepseek/deepseek-chat, temperature: 0.4, max_tokens: 4096, timeout: 10}
    guardrail_policies: [safety]
  - name: chief editor
    description: Reviews articles
    prompt_template: editor.md
handoffs:
  - {from_agent: user, to_agent: writer, condition: A topic is given}
  - {from_agent: writer, to_agent: chief editor, condition: the draft is complete}
  - {from_agent: chief editor, to_agent: writer, condition: changes are needed}
  - {from_agent: chief editor, to_agent: user, condition: the text is approved}
  - {from_agent: chief editor, to_agent: printer, condition: never}
memory: {enabled: true, max_context_tokens: 8000}
execution: {mode: autonomous, max_rounds: 8, timeout_seconds: 600, step_through_enabled: false}
orchestrator:
  max_rounds: 20
  brain_config: {model: deepseek-chat}
guardrail_policies:
  - {name: safety, type: content_filter}
tools:
  - {name: handoff, type: builtin}
  - {name: web_search, type: python_function, source: tools.search}
`;

const folder = (more: Record<string, string> = {}) => ({
  "desk/team.yaml": TEAM,
  "desk/prompts/writer.md": "You write for {{ paper }}.\n",
  "desk/prompts/editor.md": "You edit.",
  ...more,
});
const read = (texts: Record<string, string>) => readImport(files(texts));
const crewOf = ({ imported, findings }: ReturnType<typeof read>) => ({
  crew: present(imported?.crews[0], JSON.stringify(findings)),
  roles: imported?.roles ?? [],
  findings: findings.map(({ level, at, message }) => `${level} ${at}: ${message}`),
});

describe("a team folder of Roboco", () => {
  test("its prompt files, handoffs with conditions and limits come in whole", () => {
    const result = read(folder());
    expect(result.found).toMatchObject([
      {
        format: "roboco-team",
        files: ["desk/team.yaml", "desk/prompts/writer.md", "desk/prompts/editor.md"],
      },
    ]);
    const { crew, roles } = crewOf(result);
    expect(crew).toMatchObject({
      crew_id: "Desk",
      process: "swarm",
      entry_agent: "writer",
      max_handoffs: 7,
      memory: true,
      agents: [
        {
          agent_id: "writer",
          handoffs: ["chief_editor"],
          llm_config: { temperature: 0.4, max_tokens: 4096 },
        },
        { agent_id: "chief_editor", handoffs: ["writer"] },
      ],
    });
    expect(crew.agents[0]?.llm_config).not.toHaveProperty("model");
    expect(crewDiagnostics(crew)).toEqual([]);
    expect(roles.map((role) => rolePrompt(role))).toEqual([
      "You write for {{ paper }}.\n\nHandoffs:\n- Hand off to chief editor when: the draft is complete",
      "You edit.\n\nHandoffs:\n- Hand off to writer when: changes are needed\n- Give the final answer when: the text is approved",
    ]);
  });

  test("every part without an equivalent has a finding with its line", () => {
    const { findings, imported } = read(folder());
    expect(imported).not.toBeNull();
    const dropped = findings.filter(({ level }) => level === "dropped" || level === "changed");
    expect(dropped.map(({ at, line }) => [at, line])).toEqual(
      expect.arrayContaining([
        ["description", 2],
        ["agents.0.llm_config", 9],
        ["agents.0.llm_config.timeout", 9],
        ["agents.0.prompt_template", 7],
        ["handoffs.4", 19],
        ["memory.max_context_tokens", 20],
        ["execution.timeout_seconds", 21],
        ["orchestrator.brain_config", 24],
        ["guardrail_policies.0", 26],
        ["tools.1", 29],
      ]),
    );
    expect(dropped).toHaveLength(11);
    expect(dropped.every(({ file }) => file === "desk/team.yaml")).toBe(true);
  });

  test("a missing prompt file is named, and conditions become responsibilities", () => {
    const { crew, roles, findings } = crewOf(read({ "team.yaml": TEAM }));
    expect(crew.agents).toHaveLength(2);
    expect(roles[0]).toMatchObject({
      description: "Writes articles",
      responsibilities: ["Hand off to chief editor when: the draft is complete"],
    });
    expect(findings).toContain(
      "dropped agents.0.prompt_template: The prompt prompts/writer.md isn't in the imported files. Import the whole folder, or a zip of it.",
    );
  });

  test("the first form of the files has messages, variables and a list of models", () => {
    const { crew, roles, findings } = crewOf(
      read({
        "team.yaml": `name: Old
variables: {mission: Help}
agents:
  - name: planner
    class: roboco.core.agents.Agent
    system_message: "You plan. {{ mission }}! {% if x %}"
    llm_config: {config_list: [{model: deepseek-chat, temperature: 0.2, api_key: null}]}
  - {name: person, class: roboco.core.agents.UserAgent}
`,
      }),
    );
    expect(rolePrompt(present(roles[0], "planner"))).toBe("You plan. Help! {% if x %}");
    expect(crew.agents[0]?.llm_config).toEqual({ temperature: 0.2 });
    expect(crew.agents[0]?.handoffs).toBeUndefined();
    expect(findings.join("\n")).toMatch(/template code \(\{% if x %\}\)[\s\S]*a person in the original/);
  });

  test("patterns decide the process, and a rejected value is named by its field", () => {
    const { crew, findings } = crewOf(
      read({
        "team.yaml": `agents: [{name: a, prompt_template: a.md}, {name: b, prompt_template: b.md}]
collaboration_patterns: [{name: p, type: custom, workflow: [{step: s, agent: a, next_on_success: end}]}]
handoffs: [{from_agent: a, to_agent: b}, 5]
execution: {max_rounds: many, initial_agent: c}
memory: often
`,
      }),
    );
    expect(crew.process).toBe("custom");
    expect(findings).toEqual(
      expect.arrayContaining([
        expect.stringContaining("changed handoffs: The crew follows its patterns."),
        "dropped handoffs.1: Skipped: not a handoff.",
        'dropped execution.max_rounds: "max_rounds" isn\'t a number.',
        'dropped execution.initial_agent: "c" isn\'t an agent of this team.',
        'dropped memory: "memory" was left out: Must be true or false, not a text.',
      ]),
    );
  });

  test.each([
    [
      "wrong types",
      "agents: [5, {name: 1, prompt_template: [x]}, null]\nhandoffs: 7\nexecution: []\nmemory: []",
    ],
    ["a path outside of the folder", "agents: [{name: a, prompt_template: ../../etc/passwd}]"],
    [
      "reserved words",
      "agents: [{name: __proto__, prompt_template: constructor}]\nhandoffs: [{from_agent: __proto__, to_agent: user}]",
    ],
    [
      "many of everything",
      `agents:\n${"  - {name: a, prompt_template: a.md, guardrail_policies: [x]}\n".repeat(600)}`,
    ],
  ])("hostile teams end in findings: %s", (_what, text) => {
    const { findings } = read({ "team.yaml": text, "a.md": "{{ x".repeat(20_000) });
    expect(findings.length).toBeGreaterThan(0);
    expect(Object.prototype).not.toHaveProperty("to");
  });
});

interface Facts {
  name: string;
  agents: string[];
  handoffs: [from: string, to: string, condition: string][];
}
const isThere = existsSync(path.join(FIXTURES, "facts.json"));
const teams = isThere
  ? Object.entries(
      JSON.parse(readFileSync(path.join(FIXTURES, "facts.json"), "utf8")) as Record<string, Facts>,
    ).filter(([name]) => name.startsWith("roboco/"))
  : [];

describe.runIf(isThere)("real teams of Roboco", () => {
  test.each(teams)("%s comes in with its agents and handoffs", (name, { agents, handoffs }) => {
    const { imported, found, findings } = readImport(fixtureFiles(name));
    expect(found.map(({ format }) => format)).toEqual(["roboco-team"]);
    const crew = present(imported?.crews[0], JSON.stringify(findings));
    expect(crew.agents.map(({ agent_id }) => agent_id)).toEqual(agents);
    const given = new Set(
      handoffs.flatMap(([from, to]) => (from === "user" || to === "user" ? [] : [`${from} ${to}`])),
    );
    expect(
      new Set(
        crew.agents.flatMap(({ agent_id, handoffs: to = [] }) => to.map((one) => `${agent_id} ${one}`)),
      ),
    ).toEqual(given);
    const texts = JSON.stringify(imported?.roles);
    for (const [from, , condition] of handoffs) if (from !== "user") expect(texts).toContain(condition);
    for (const { at, file, line } of findings)
      if (at) expect([typeof file, typeof line]).toEqual(["string", "number"]);
  });
});
