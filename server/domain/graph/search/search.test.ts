import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { arbitraryGraph } from "@/server/domain/testing/arbitrary-graph";
import { draw } from "@/server/domain/testing/drawing";
import { templateOf, templates } from "@/server/templates";
import { WorkflowGraph } from "../graph";
import { renameKey } from "../keys/rename-key";
import { allKeys, findText, replaceText, textSites } from "./search";

const codeAndReview = templateOf("code-and-review");

describe("finding", () => {
  test("words are found in every text that people write, with the place of each", () => {
    const hits = findText(codeAndReview.graph, "review");
    expect(new Set(hits.map(({ at }) => at.field)).size).toBeGreaterThan(1);
    for (const { text, from, to } of hits) expect(text.slice(from, to).toLowerCase()).toBe("review");
    expect(findText(codeAndReview.graph, "")).toEqual([]);
  });

  test("letters and whole words are told apart where that is asked for", () => {
    const graph = WorkflowGraph.parse({
      graph_id: "g",
      description: "Art, art, start",
      nodes: {},
      edges: [],
    });
    const count = (options: Parameters<typeof findText>[2]) => findText(graph, "art", options).length;
    expect([count({}), count({ isExact: true }), count({ isWord: true })]).toEqual([3, 2, 2]);
  });

  test("rules of routers and what is said of the project are found, and a renamed key is followed into a rule", () => {
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

  test("what is said of a crew's members, and of the steps of its patterns, is found and written anew", () => {
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

  test("what is written in the place of all hits is what a search and replace in each text would give", () => {
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

describe("another name for a key", () => {
  test("it is the new one wherever the drawing names it", () => {
    const graph = renameKey(codeAndReview.graph, "feature_request", "wish");
    expect(JSON.stringify(graph)).not.toContain("feature_request");
    expect(allKeys(graph)).toContain("wish");
  });

  test("there and back again is the drawing as it was, for every key of every template", () => {
    for (const { graph } of templates)
      for (const key of allKeys(graph))
        expect(renameKey(renameKey(graph, key, "other_name"), "other_name", key)).toEqual(graph);
  });

  test("whatever the drawing, it stays one that can be saved, and all other keys stay", () => {
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

  test("a name that is taken, or cannot be one, changes nothing", () => {
    const { graph } = codeAndReview;
    expect(renameKey(graph, "feature_request", "code")).toBe(graph);
    expect(renameKey(graph, "feature_request", "two words")).toBe(graph);
  });
});
