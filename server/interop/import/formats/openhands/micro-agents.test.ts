import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { rolePrompt } from "@/server/domain/agent/prompt";
import { present } from "@/server/domain/base/must";
import { readImport } from "../../pipeline";
import { FIXTURES, files, fixtureFiles } from "../../testing";

const read = (texts: Record<string, string>) => readImport(files(texts));
const roleOf = ({ imported, findings }: ReturnType<typeof read>) =>
  present(imported?.roles[0], JSON.stringify(findings));
const messagesOf = ({ findings }: ReturnType<typeof read>) =>
  findings.flatMap(({ level, file, line, message }) =>
    level === "kept" ? [] : [`${level} ${file}:${line}: ${message}`],
  );

const AGENT = `name: CheckerAgent
description: Checks whether a task is done
generates: Action
inputs:
  task: string
outputs:
  completed: boolean
  score: Fraction
`;
const PROMPT = `You check this task:
{{ state.inputs.task }}

## Actions
{{ instructions.actions.run }}
{{ instructions.actions.read }}
{{ instructions.actions.finish }}
{% for event in state.history[-20:] %}
{% if event.source == "agent" %}Agent: {{ event.action }}{% else %}User{% endif %}
{% endfor %}

Braces {stay}.
`;

describe("micro agents of OpenHands", () => {
  test("agent.yaml with prompt.md becomes a role with inputs, outputs and the tools of its actions", () => {
    const result = read({ "checker/agent.yaml": AGENT, "checker/prompt.md": PROMPT });
    expect(result.found).toMatchObject([{ files: ["checker/agent.yaml", "checker/prompt.md"] }]);
    const role = roleOf(result);
    expect(role).toMatchObject({
      name: "CheckerAgent",
      description: "Checks whether a task is done",
      input_schema: { type: "object", properties: { task: { type: "string" } }, required: ["task"] },
      output_schema: {
        properties: { completed: { type: "boolean" }, score: {} },
        required: ["completed", "score"],
      },
      tools: ["run_command", "file_read"],
    });
    expect(rolePrompt(role)).toBe("You check this task:\n[task]\n\n## Actions\n\nBraces {stay}.");
    expect(messagesOf(result)).toEqual([
      `changed checker/agent.yaml:8: The type of "score" isn't known; any value fits.`,
      "changed checker/agent.yaml:3: The answer was an action; here the role calls the tools that you select for it.",
      expect.stringMatching(/^changed checker\/prompt\.md:5: "bash" is named "run_command"/),
      expect.stringMatching(/^changed checker\/prompt\.md:5: "read" is named "file_read"/),
      expect.stringMatching(
        /^dropped checker\/prompt\.md:7: Template code was left out .*actions\.finish.*for event/,
      ),
    ]);
  });

  test("a missing prompt.md is named", () => {
    const result = read({ "agent.yaml": AGENT });
    expect(roleOf(result).system_prompt_template).toBeUndefined();
    expect(messagesOf(result)[0]).toContain("no prompt.md next to this file");
  });

  test("Markdown with triggers or inputs becomes a role, apart from agents of other systems", () => {
    const result = read({
      ".openhands/microagents/docker.md":
        "---\ntype: knowledge\ntriggers:\n- docker\n- container\nmood: 5\n---\nUse `docker`.\n",
      "update.md":
        "---\nname: update\ntriggers: [/update]\ninputs:\n- {name: PR, description: The address, type: string, validation: {pattern: x}}\n---\nRead {{ PR }}.\n",
      ".openhands/microagents/repo.md": "Run the tests with make.\n",
      ".claude/agents/other.md": "---\nname: other\ndescription: Not of OpenHands\n---\nText.\n",
    });
    expect(result.found.map(({ format }) => format)).toEqual(["openhands-micro-agents", "agent-markdown"]);
    const roles = result.imported?.roles ?? [];
    expect(roles.map((role) => [role.name, role.description, rolePrompt(role)])).toEqual([
      ["docker", "Knows about: docker, container.", "Use `docker`."],
      ["update", "Knows about: /update.", "Read [PR]."],
      ["repo", "", "Run the tests with make."],
    ]);
    expect(roles[1]?.input_schema).toMatchObject({ properties: { PR: { description: "The address" } } });
    expect(messagesOf(result)).toEqual([
      expect.stringMatching(/^changed \.openhands\/microagents\/docker\.md:3: Words in a message/),
      'dropped .openhands/microagents/docker.md:6: "mood" has no equivalent and was left out.',
      'dropped update.md:4: The validation of "PR" was left out.',
      expect.stringMatching(/^changed update\.md:3: /),
    ]);
  });

  test.each([
    ["a broken head", { "microagents/a.md": "---\nname: [\n---\nText" }],
    [
      "wrong types",
      { "agent.yaml": "name: a\ndescription: b\ninputs: {a: [b], __proto__: string}\noutputs: {b: 5}\n" },
    ],
    ["unclosed blocks", { "agent.yaml": AGENT, "prompt.md": "{% for x in y %}".repeat(50_000) }],
    ["unclosed braces", { "agent.yaml": AGENT, "prompt.md": "{{ ".repeat(300_000) }],
  ])("hostile micro agents end in findings: %s", (_what, texts) => {
    const started = performance.now();
    expect(read(texts).findings.length).toBeGreaterThan(0);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

interface Facts {
  name: string;
  inputs: Record<string, string>;
  outputs: Record<string, string>;
}
const isThere = existsSync(path.join(FIXTURES, "facts.json"));
const agents = isThere
  ? Object.entries(
      JSON.parse(readFileSync(path.join(FIXTURES, "facts.json"), "utf8")) as Record<string, Facts>,
    ).filter(([name]) => name.startsWith("openhands-micro/"))
  : [];

describe.runIf(isThere)("real micro agents of OpenHands", () => {
  test.each(agents)("%s comes in with its inputs and outputs", (file, { name, inputs, outputs }) => {
    const result = readImport(fixtureFiles(file));
    const role = roleOf(result);
    const typesOf = (schema: unknown) =>
      Object.fromEntries(
        Object.entries(
          (schema as { properties: Record<string, { type: string }> } | undefined)?.properties ?? {},
        ).map(([key, { type }]) => [key, type]),
      );
    expect([role.name, typesOf(role.input_schema), typesOf(role.output_schema)]).toEqual([
      name,
      inputs,
      outputs,
    ]);
  });

  test("a folder of them comes in together", () => {
    expect(readImport(fixtureFiles("openhands-micro")).imported?.roles).toHaveLength(agents.length);
  });
});
