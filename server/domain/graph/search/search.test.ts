import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { arbitraryGraph } from "@/server/domain/testing/arbitrary-graph";
import { draw } from "@/server/domain/testing/drawing";
import { templateOf, templates } from "@/server/templates";
import { WorkflowGraph } from "../graph";
import { renameKey } from "../keys/rename-key";
import { allKeys, findText, replaceText, textSites } from "./search";

const codeAndReview = templateOf("code-and-review");

describe("text search", () => {
  test("a search finds matches in several fields with their positions", () => {
    const hits = findText(codeAndReview.graph, "review");
    expect(new Set(hits.map(({ at }) => at.field)).size).toBeGreaterThan(1);
    for (const { text, from, to } of hits) expect(text.slice(from, to).toLowerCase()).toBe("review");
    expect(findText(codeAndReview.graph, "")).toEqual([]);
  });

  test("a search can match case and whole words", () => {
    const graph = WorkflowGraph.parse({
      graph_id: "g",
      description: "Art, art, start",
      nodes: {},
      edges: [],
    });
    const count = (options: Parameters<typeof findText>[2]) => findText(graph, "art", options).length;
    expect([count({}), count({ isExact: true }), count({ isWord: true })]).toEqual([3, 2, 2]);
  });

  test("a search covers the project context, and renaming a key updates router rules", () => {
    const graph = draw("start > ra; ra big> end", {
      start: { node_type: "start", output_keys: ["amount"], config: {} },
      ra: {
        node_type: "conditional_router",
        config: {
          kind: "function",
          router_function_name: "by_amount",
          router_function: { language: "cel", source: 'state.amount > 5 ? "big" : "small"' },
        },
      },
    });
    graph.project_context = {
      project_name: "Owls",
      description: "",
      constraints: ["No owls at night"],
      conventions: [],
    };
    expect(findText(graph, "owls").map(({ title }) => title)).toEqual(["Project name", "Constraint 1"]);
    const renamed = renameKey(graph, "amount", "sum");
    expect(renamed.nodes.ra?.config).toMatchObject({
      router_function: { source: 'state.sum > 5 ? "big" : "small"' },
    });
  });

  test("search and replace covers a crew's backstories and pattern steps", () => {
    const graph = draw("start > crew > end", {
      crew: {
        node_type: "crew_task",
        name: "Crew",
        config: {
          crew: {
            process: "custom",
            agents: [
              { agent_id: "ana", role_name: "Writer", backstory: "You love owls. Owls only." },
              { agent_id: "bo", role_name: "Editor" },
            ],
            collaboration_patterns: [
              {
                type: "custom",
                workflow: [{ step: "draft", agent: "ana", description: "Draw owls", next_on_done: "end" }],
              },
            ],
          },
        },
      },
    });
    const hits = findText(graph, "owls");
    expect(hits.map(({ title, from }) => [title, from])).toEqual([
      ["Backstory of ana", 9],
      ["Backstory of ana", 15],
      ["Crew step draft", 5],
    ]);
    expect(replaceText(graph, hits, "bees").nodes.crew?.config).toMatchObject({
      crew: {
        agents: [{ backstory: "You love bees. bees only." }, { agent_id: "bo" }],
        collaboration_patterns: [{ workflow: [{ step: "draft", description: "Draw bees" }] }],
      },
    });
  });

  test("replacing all matches equals replacing them in each text", () => {
    fc.assert(
      fc.property(arbitraryGraph(), fc.constantFrom("a", "st", "e"), (graph, query) => {
        const free = (sort: string) => sort === "plain" || sort === "template" || sort === "expression";
        const hits = findText(graph, query, { isExact: true });
        const sites = textSites(graph);
        const after = textSites(replaceText(graph, hits, "QQ"));
        const texts = (list: typeof sites) => list.filter(({ sort }) => free(sort)).map(({ text }) => text);
        expect(texts(after)).toEqual(texts(sites).map((text) => text.replaceAll(query, "QQ")));
      }),
    );
  });
});

describe("renaming a key", () => {
  test("renaming a key updates every reference to it", () => {
    const graph = renameKey(codeAndReview.graph, "feature_request", "wish");
    expect(JSON.stringify(graph)).not.toContain("feature_request");
    expect(allKeys(graph)).toContain("wish");
  });

  test("renaming a key and back restores the workflow, for every key of every template", () => {
    for (const { graph } of templates)
      for (const key of allKeys(graph))
        expect(renameKey(renameKey(graph, key, "other_name"), "other_name", key)).toEqual(graph);
  });

  test("renaming a key keeps any workflow valid and all other keys unchanged", () => {
    fc.assert(
      fc.property(arbitraryGraph(), fc.nat(), (graph, n) => {
        const keys = allKeys(graph);
        const key = keys[n % Math.max(1, keys.length)];
        if (key === undefined) return;
        const next = renameKey(graph, key, "zz_new");
        expect(WorkflowGraph.safeParse(next).error).toBeUndefined();
        expect(allKeys(next)).toEqual(keys.map((one) => (one === key ? "zz_new" : one)).sort());
      }),
    );
  });

  test("renaming a key to a taken or invalid name does nothing", () => {
    const { graph } = codeAndReview;
    expect(renameKey(graph, "feature_request", "code")).toBe(graph);
    expect(renameKey(graph, "feature_request", "two words")).toBe(graph);
  });
});
