import { expect, test } from "vitest";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { writeWorkflow } from "@/server/domain/graph/document/document";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { templates } from "@/server/templates";
import { writeRoles } from "../../role-files";
import { writeTeams } from "../../team-files";
import { readImport } from "../pipeline";
import { files } from "../testing";

const formatOf = (text: string) => readImport(files({ "": text })).found.map(({ format }) => format);

test("Troupe and OpenHands workflows are imported unchanged", () => {
  for (const { graph, title } of templates) {
    const own = readImport(
      files({ "w.json": writeWorkflow(graph, { flavour: "troupe", name: title, roles: [] }) }),
    );
    expect(own.findings).toEqual([]);
    expect(own.imported).toMatchObject({ name: title, graph: WorkflowGraph.parse(graph) });
    expect(formatOf(writeWorkflow(graph, { flavour: "openhands" }))).toEqual(["troupe-workflow"]);
  }
});

test("apparent secrets in a Troupe workflow are kept", () => {
  const graph = {
    graph_id: "g",
    nodes: {
      a: {
        node_type: "http_request",
        config: { url: "https://a.example", headers: { "X-Api-Key": "0123456789abcdef" } },
      },
    },
    edges: [],
  };
  const { imported } = readImport(files({ "": JSON.stringify({ troupe: 1, workflow: graph }) }));
  expect(JSON.stringify(imported?.graph)).toContain("0123456789abcdef");
});

test("roles, crews, agents and plans are recognized by their content", () => {
  expect(formatOf(writeRoles(builtinRoles, "yaml"))).toEqual(["troupe-roles"]);
  expect(formatOf(writeRoles(builtinRoles.slice(0, 1), "json"))).toEqual(["troupe-roles"]);
  expect(formatOf(writeTeams({ agents: [], crews: [] }, "yaml"))).toEqual(["troupe-teams"]);
  expect(formatOf("crew_id: writers\nagents:\n  - role: Writer\n  - role: Editor")).toEqual(["troupe-teams"]);
  expect(formatOf('{"tasks": [{"task_id": "a", "description": "b"}]}')).toEqual(["troupe-workflow"]);
  expect(formatOf("name: Clerk\ngoals: [Be kind]")).toEqual(["troupe-roles"]);
  expect(formatOf("name: Clerk\ndescription: Answers letters\ntools: [file_read]")).toEqual(["troupe-roles"]);
  expect(formatOf('{"name": "pkg", "description": "A package", "dependencies": {}}')).toEqual([]);
});

test("Markdown agents of a folder are imported together as roles", () => {
  const read = readImport(
    files({
      "a.md": "---\nname: one\ndescription: First\n---\nBe one.",
      "b.md": "---\nname: two\n---\nBe two.",
      "c.md": "# Words",
    }),
  );
  expect(
    read.imported?.roles.map(({ name, system_prompt_template }) => [name, system_prompt_template]),
  ).toEqual([
    ["one", "Be one."],
    ["two", "Be two."],
  ]);
  expect(read.findings).toEqual([{ level: "dropped", at: "", message: "Skipped: c.md." }]);
});
