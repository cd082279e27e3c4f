import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { isAgentNode, isCrewNode, isRouterNode } from "@/server/domain/nodes";
import { readImport } from "../pipeline";
import { FIXTURES, fixtureFiles } from "../testing";
import { blockingProblems, runOffline } from "./testing/offline-run";

// Real files of others, with facts about them that were counted without this program. Skipped where they are not there.

interface Edge {
  source: string;
  target: string;
  data?: string;
  conditional?: boolean;
}
interface Facts {
  nodes?: string[];
  edges?: (Edge & { from?: string; to?: string; condition?: string; paths?: string[] })[];
  importable?: boolean;
  solid_edges?: number;
  dashed_edges?: number;
  _type?: string;
  input_variables?: string[];
  partial_variables?: Record<string, string>;
  output_key?: string;
  must_not_render?: boolean;
  team_type?: string;
  label?: string;
  participants?: { name: string; type: string }[];
  agents?: string[];
}
const isThere = existsSync(path.join(FIXTURES, "facts.json"));
const facts = isThere
  ? (JSON.parse(readFileSync(path.join(FIXTURES, "facts.json"), "utf8")) as Record<string, Facts>)
  : {};
const of = (family: string) =>
  Object.entries(facts).flatMap(([name, about]) => (name.startsWith(`${family}/`) ? [{ name, about }] : []));
const read = (name: string) => readImport(fixtureFiles(name));
function graphOf({ imported, findings }: ReturnType<typeof readImport>) {
  return imported?.graph ?? expect.fail(JSON.stringify(findings));
}
const ENDS = ["__start__", "__end__"];

describe.runIf(isThere)("LangGraph", () => {
  test.each(of("langgraph"))("a real LangGraph file is read as expected: $name", ({ name, about }) => {
    const result = read(name);
    if (about.importable === false) {
      expect(result.imported).toBeNull();
      expect(result.findings[0]?.message).toMatch(/langgraph\.json[\s\S]*to_json\(\)[\s\S]*draw_mermaid\(\)/);
      return;
    }
    const graph = graphOf(result);
    const steps = Object.values(graph.nodes).filter(isAgentNode);
    if (about.nodes)
      expect(steps.map((node) => node.name)).toEqual(about.nodes.filter((id) => !ENDS.includes(id)));
    // Whatever a file leads to, the drawing leads to, with the file's label where it has one.
    const byName = new Map(Object.values(graph.nodes).map((node) => [node.name, node.id]));
    const idOf = (end: string) => byName.get(end === "__start__" ? "Start" : end === "__end__" ? "End" : end);
    const leads = (from: string, to: string, label?: string) => {
      const next = (id: string | undefined) => graph.edges.filter((edge) => edge.source_node_id === id);
      const all = next(idOf(from)).flatMap((edge) =>
        isRouterNode(graph.nodes[edge.target_node_id]) ? next(edge.target_node_id) : [edge],
      );
      return all.some(
        (edge) => edge.target_node_id === idOf(to) && (label === undefined || edge.edge_label === label),
      );
    };
    for (const { source, target, data, from, to, paths } of about.edges ?? [])
      for (const end of paths ?? [target ?? to ?? ""])
        expect([source ?? from, end, leads(source ?? from ?? "", end, data)]).toEqual([
          source ?? from,
          end,
          true,
        ]);
    // Nobody knows what a step does: each waits for somebody to say it.
    const open = result.findings.flatMap(({ level, node_id }) => (level === "placeholder" ? [node_id] : []));
    expect(open).toEqual(expect.arrayContaining(steps.map(({ id }) => id)));
    for (const { at, file, line } of result.findings)
      if (at !== "") expect([at, typeof file]).toEqual([at, "string"]);
      else expect(line === undefined || line > 0).toBe(true);
  });

  test.each(["graph_conditional_entry", "graph_loop"])(
    "%s imports the same from JSON and Mermaid",
    (name) => {
      if (!isThere) return;
      const [json, mermaid] = [read(`langgraph/${name}.json`), read(`langgraph/${name}.mmd`)].map(graphOf);
      expect(mermaid?.edges).toEqual(json?.edges);
      expect(mermaid?.nodes).toEqual(json?.nodes);
    },
  );
});

describe.runIf(isThere)("LangChain", () => {
  test.each(of("langchain"))("a real LangChain file is read as expected: $name", async ({ name, about }) => {
    const { imported, findings } = read(name);
    const graph = imported?.graph ?? expect.fail(JSON.stringify(findings));
    if (about.must_not_render) {
      const note = Object.values(graph.nodes).find(({ node_type }) => node_type === "note");
      expect(JSON.stringify(note)).toContain("__subclasses__");
      expect(JSON.stringify(Object.values(graph.nodes).filter(isAgentNode))).not.toContain("__subclasses__");
      expect(imported && blockingProblems(imported)).not.toEqual([]);
      return;
    }
    const start = Object.values(graph.nodes).find(({ node_type }) => node_type === "start");
    const known = Object.keys(about.partial_variables ?? {});
    expect([...(start?.output_keys ?? [])].sort()).toEqual(
      [...(about.input_variables ?? []), ...known].sort(),
    );
    expect(start?.config).toMatchObject(about.partial_variables ?? {});
    const [step] = Object.values(graph.nodes).filter(isAgentNode);
    expect(step?.output_keys).toEqual([about.output_key ?? "answer"]);
    const whole = imported ?? expect.fail(name);
    expect(blockingProblems(whole)).toEqual([]);
    expect((await runOffline(whole, { adjective: "funny", content: "dogs" })).state.run).toMatchObject({
      final_status: "COMPLETED",
    });
  });
});

describe.runIf(isThere)("AutoGen", () => {
  test.each(of("autogen"))("a real AutoGen file is read as expected: $name", async ({ name, about }) => {
    const { imported } = read(name);
    const whole = imported ?? expect.fail(name);
    const people = (about.participants ?? [])
      .filter(({ type }) => type !== "UserProxyAgent")
      .map((one) => one.name);
    if (about.agents) {
      expect(whole.graph).toBeNull();
      expect(whole.roles.map((role) => role.name)).toEqual(
        about.agents.filter((agent) => agent !== "user_proxy"),
      );
      return;
    }
    expect(whole.name).toBe(about.label);
    expect(whole.roles.map((role) => role.name)).toEqual(expect.arrayContaining(people));
    const nodes = Object.values((whole.graph ?? expect.fail(name)).nodes);
    if (about.team_type === "RoundRobinGroupChat")
      expect(nodes.filter(isAgentNode).map((node) => node.name)).toEqual(people);
    else expect(nodes.filter(isCrewNode)).toHaveLength(1);
    expect(blockingProblems(whole)).toEqual([]);
    expect((await runOffline(whole)).state.run).toMatchObject({ final_status: "COMPLETED" });
  });
});
