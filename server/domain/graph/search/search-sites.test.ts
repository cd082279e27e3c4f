import { expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import type { WorkflowGraph } from "../graph";
import { findText, replaceText, type SearchOptions, textSites } from "./search";

const full = (): WorkflowGraph => {
  const graph = draw("start > tool > task > ra; ra big> http; ra else> end; task ready> set > end", {
    set: { node_type: "transform", config: { set: { a: "state.owl + 1", b: "2" } } },
    tool: {
      node_type: "tool_call",
      name: "Call",
      description: "owl 1",
      when: "state.owl > 2",
      input_keys: ["owl"],
      optional_input_keys: ["owl_2"],
      output_keys: ["owl_3"],
      input_mapping: { owl: "state.owl" },
      output_mapping: { owl: "output.owl" },
      config: {
        tool_name: "web_search",
        args: {
          query: { $template: "{{owl}}" },
          deep: { $expr: "state.owl" },
          plain: "an owl",
          number: 5,
          list: ["owl"],
          two: { a: "owl", b: "owl" },
          none: null,
        },
      },
    },
    task: {
      node_type: "crew_task",
      config: {
        plan_description_template: "About {{owl}}",
        crew: {
          agents: [{ agent_id: "a", role_name: "Writer", backstory: "An owl." }],
          collaboration_patterns: [],
        },
        plan: {
          plan_id: "p",
          tasks: [
            { task_id: "t1", description: "Draw an owl", expected_output: "An owl", condition: "state.owl" },
            { task_id: "t2", description: "Rest" },
          ],
        },
      },
    },
    ra: {
      node_type: "conditional_router",
      config: {
        kind: "expression",
        conditions: [{ label: "big", when: "state.owl > 5" }],
        default_label: "else",
      },
    },
    http: {
      node_type: "http_request",
      config: { url: "https://example.org/{{owl}}", headers: { "X-Owl": "{{owl}}" } },
    },
  });
  graph.description = "A workflow for owls";
  graph.project_context = {
    project_name: "Owls",
    description: "All about owls",
    constraints: ["No owls at night", "Quiet"],
    conventions: ["Owls first"],
  };
  for (const edge of graph.edges)
    if (edge.edge_label === "ready") Object.assign(edge, { condition: "state.owl", condition_name: "owl" });
  return graph;
};

test("every user-written text is found with its title and sort", () => {
  const sites = textSites(full()).filter(({ text }) => /owl|ready|big/i.test(text));
  expect(sites.map(({ at, title, sort, text }) => [at.id ?? "", at.field, title, sort, text])).toEqual([
    ["", "description", "Workflow description", "plain", "A workflow for owls"],
    ["", "project_context", "Project name", "plain", "Owls"],
    ["", "project_context", "Project context", "plain", "All about owls"],
    ["", "project_context", "Constraint 1", "plain", "No owls at night"],
    ["", "project_context", "Convention 1", "plain", "Owls first"],
    ["tool", "args", "Arguments: query", "template", "{{owl}}"],
    ["tool", "args", "Arguments: deep", "expression", "state.owl"],
    ["tool", "args", "Arguments: plain", "template", "an owl"],
    ["tool", "description", "Description", "plain", "owl 1"],
    ["tool", "when", "Condition", "expression", "state.owl > 2"],
    ["tool", "input_keys", "Reads", "key", "owl"],
    ["tool", "optional_input_keys", "Optional inputs", "key", "owl_2"],
    ["tool", "output_keys", "Writes", "key", "owl_3"],
    ["tool", "input_mapping", "Mapping: owl", "expression", "state.owl"],
    ["tool", "output_mapping", "Mapping: owl", "expression", "output.owl"],
    ["task", "plan_description_template", "Goal", "template", "About {{owl}}"],
    ["task", "crew", "Backstory of a", "plain", "An owl."],
    ["task", "plan", "Plan task 1", "template", "Draw an owl"],
    ["task", "plan", "Expected output of task 1", "plain", "An owl"],
    ["task", "plan", "Condition of task 1", "expression", "state.owl"],
    ["ra", "conditions", "Route 1", "label", "big"],
    ["ra", "conditions", "Condition of route 1", "expression", "state.owl > 5"],
    ["http", "url", "URL", "template", "https://example.org/{{owl}}"],
    ["http", "headers", "Headers: X-Owl", "template", "{{owl}}"],
    ["set", "set", "Set: a", "expression", "state.owl + 1"],
    ["e5", "edge_label", "Label", "label", "ready"],
    ["e5", "condition", "Condition", "expression", "state.owl"],
    ["e5", "condition_name", "Guard key", "key", "owl"],
  ]);
});

test("writing a search site changes only its own text", () => {
  const graph = full();
  const before = textSites(graph);
  for (const [at, site] of before.entries()) {
    const isKey = site.sort === "key";
    const after = textSites(site.write(graph, isKey ? "bee" : "other words"));
    const written = after.map(({ text }, place) => (text === before[place]?.text ? null : [place, text]));
    expect(site.title).toEqual(site.title);
    expect(written.filter((one) => one !== null)).toEqual([[at, isKey ? "bee" : "other words"]]);
  }
});

test("an invalid or duplicate key is not written", () => {
  const graph = draw("start > a > end", {
    a: { node_type: "transform", output_keys: ["x", "y"], config: { set: { x: "1", y: "2" } } },
  });
  const [x] = textSites(graph).filter(({ at }) => at.field === "output_keys");
  const outputs = (text: string) => x?.write(graph, text).nodes.a?.output_keys;
  expect(outputs("z")).toEqual(["z", "y"]);
  expect(outputs("x")).toEqual(["x", "y"]);
  expect(outputs("y")).toEqual(["x", "y"]);
  expect(outputs("two words")).toEqual(["x", "y"]);
  expect(outputs("")).toEqual(["x", "y"]);
});

test("a text whose node or edge was removed is not written", () => {
  const graph = full();
  const bare: WorkflowGraph = { ...graph, nodes: {}, edges: [], project_context: undefined, description: "" };
  const kinds = new Set(
    textSites(graph).map(({ at, write }) => {
      const next = write(bare, "x");
      return `${at.kind} ${at.field === "description" || next.edges.length + Object.keys(next.nodes).length === 0}`;
    }),
  );
  expect([...kinds]).toEqual(["workflow true", "node true", "edge true"]);
  expect(
    replaceText(
      graph,
      [{ site: 9999, at: { kind: "node", field: "name" }, title: "", text: "", from: 0, to: 1 }],
      "x",
    ),
  ).toBe(graph);
});

test.each<[string, string, SearchOptions, number[]]>([
  ["Art, art, start", "art", {}, [0, 5, 12]],
  ["Art, art, start", "art", { isExact: true }, [5, 12]],
  ["Art, art, start", "art", { isWord: true }, [0, 5]],
  ["Art, art, start", "art", { isExact: true, isWord: true }, [5]],
  ["art_1 art1 art-1 part", "art", { isWord: true }, [11]],
  ["aaaa", "aa", {}, [0, 2]],
  // A letter that grows when it is made small keeps its place.
  ["İİ art", "ART", {}, [3]],
  ["none", "art", {}, []],
])("in %j, a search for %j with %j finds matches at %j", (description, query, options, places) => {
  const graph = { ...draw("start > end"), description };
  const hits = findText(graph, query, options).filter(({ at }) => at.kind === "workflow");
  expect(hits.map(({ from }) => from)).toEqual(places);
  expect(hits.map(({ from, to }) => to - from)).toEqual(places.map(() => query.length));
});
