import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { present } from "@/server/domain/base/must";
import { isAgentNode, isCrewNode, isRouterNode } from "@/server/domain/nodes";
import { readImport } from "../../pipeline";
import { FIXTURES, fixtureFiles } from "../../testing";

// Real files of others, with facts about them that were counted without this program. Skipped where they are not there.

interface Facts {
  agents: string[];
  tasks_in_file_order: string[];
  task_agent: Record<string, string | null>;
  variables: string[];
  agent_files_missing: string[];
  tasks: { name: string; agent: string; context: string[] | null }[];
  inputs: Record<string, unknown>;
  methods: Record<string, { emit: string[] | null; listen: string | null; call: string }>;
  conversational: boolean;
}
const isThere = existsSync(path.join(FIXTURES, "facts.json"));
const facts = isThere
  ? (JSON.parse(readFileSync(path.join(FIXTURES, "facts.json"), "utf8")) as Record<string, Facts>)
  : {};
const of = (family: string) =>
  Object.entries(facts).flatMap(([name, about]) => (name.startsWith(`${family}/`) ? [{ name, about }] : []));
const read = (name: string) => readImport(fixtureFiles(name));
/** What is there; the test fails where it is not. */
function there<T>(value: T | null | undefined): T {
  expect(value ?? null).not.toBeNull();
  return present(value, "what was asked for") as T;
}

describe.runIf(isThere)("CrewAI's YAML crews", () => {
  test.each(of("crewai-yaml"))("a real YAML crew is read as expected: $name", ({ name, about }) => {
    const { imported, found, findings } = read(name);
    expect(found.map(({ format }) => format)).toEqual(["crewai-yaml"]);
    const { graph, roles, choices } = there(imported);
    expect(roles).toHaveLength(about.agents.length);
    const steps = Object.values(graph?.nodes ?? {}).filter(isAgentNode);
    expect(steps.map(({ id }) => id)).toEqual(about.tasks_in_file_order);
    const start = there(graph?.nodes.start);
    expect([...start.output_keys].sort()).toEqual([...about.variables].sort());
    // A task that names nobody is asked about and has no role; one that does has that agent's.
    const open = Object.entries(about.task_agent).flatMap(([task, agent]) => (agent === null ? [task] : []));
    expect(steps.filter(({ config }) => config.required_role === "").map(({ id }) => id)).toEqual(open);
    expect(choices.some(({ id }) => id === "unassigned")).toBe(open.length > 0);
    expect(findings.flatMap(({ level, node_id }) => (level === "placeholder" ? [node_id] : []))).toEqual(
      open,
    );
    // Every finding says where it is.
    for (const { at, file, line } of findings)
      if (at !== "") expect([typeof file, typeof line]).toEqual(["string", "number"]);
  });
});

describe.runIf(isThere)("CrewAI's JSON crews", () => {
  test.each(of("crewai-jsonc"))("a real JSON crew is read as expected: $name", ({ name, about }) => {
    const { imported, found, findings } = read(name);
    expect(found.map(({ format }) => format)).toEqual(["crewai-json"]);
    if (about.agent_files_missing.length > 0) {
      expect(imported).toBeNull();
      for (const agent of about.agent_files_missing)
        expect(findings.find(({ level }) => level === "error")?.message).toContain(`agents/${agent}.jsonc`);
      return;
    }
    const { graph, roles } = there(imported);
    expect(roles).toHaveLength(about.agents.length);
    const steps = Object.values(graph?.nodes ?? {}).filter(isAgentNode);
    expect(steps.map(({ id }) => id)).toEqual(about.tasks.map((task) => task.name));
    for (const { name, context } of about.tasks)
      if (context) expect(there(graph?.nodes[name]).input_keys).toEqual(expect.arrayContaining(context));
    expect(there(graph?.nodes.start).config).toMatchObject(about.inputs);
  });
});

describe.runIf(isThere)("CrewAI's flows", () => {
  test.each(of("crewai-flow"))("a real flow is read as expected: $name", ({ name, about }) => {
    const { imported, found } = read(name);
    expect(found.map(({ format }) => format)).toEqual(["crewai-flow"]);
    const { graph } = there(imported);
    const nodes = there(graph).nodes;
    for (const [method, { call }] of Object.entries(about.methods)) {
      const node = there(nodes[method]);
      expect(call === "crew" ? isCrewNode(node) : isAgentNode(node)).toBe(true);
    }
    const labels = new Set((graph?.edges ?? []).flatMap(({ edge_label }) => edge_label ?? []));
    const emitted = Object.values(about.methods).flatMap(({ emit }) => emit ?? []);
    expect([...labels].sort()).toEqual((about.conversational ? ["order"] : emitted).sort());
    expect(Object.values(nodes).some(isRouterNode)).toBe(true);
  });
});
