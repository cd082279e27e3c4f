import { describe, expect, test } from "vitest";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { inputFields } from "@/server/domain/graph/run-input";
import { unfoldCrew } from "@/server/domain/graph/unfold/unfold";
import { newModels } from "@/server/llm/models";
import { newOfflineFetch } from "@/server/llm/offline";
import { memoryProviders, offlineProvider } from "@/server/llm/testing";
import { templates } from "@/server/templates";
import { newStage } from "./testing";

const offline = () =>
  newModels({ providers: memoryProviders([offlineProvider]), offlineFetch: newOfflineFetch({ speed: 0 }) });

const run = (graph: WorkflowGraph) =>
  newStage({ models: offline() }).run(graph, {
    input: Object.fromEntries(
      inputFields(graph).map(({ key }) => [key, "Say whether two words are anagrams."]),
    ),
    roles: builtinRoles,
  });

function unfolded(graph: WorkflowGraph): WorkflowGraph {
  const node = Object.values(graph.nodes).find(({ node_type }) => node_type === "crew_task");
  if (node?.node_type !== "crew_task") throw new Error("No crew.");
  const answer = unfoldCrew(graph, node.id, node.config.crew);
  if ("reason" in answer) throw new Error(answer.reason);
  return answer.graph;
}

describe("a crew and its unfolded nodes produce the same kind of result", () => {
  for (const key of ["review-cycle", "development-team", "research-crew"])
    test(key, async () => {
      const { graph } = templates.find((template) => template.key === key)!;
      const before = (await run(graph)).state;
      const after = (await run(unfolded(graph))).state;
      const kindOf = ({ run: { final_status, warnings, output = {} } }: typeof before) => ({
        final_status,
        warnings,
        output: Object.fromEntries(
          Object.entries(output).map(([name, value]) => [name, value === "" ? "nothing" : typeof value]),
        ),
      });
      expect(kindOf(after)).toEqual({ ...kindOf(before), final_status: "COMPLETED", warnings: [] });
      // Everybody who worked in the crew works in the nodes.
      const workers = ({ agents }: typeof before) =>
        [...new Set(Object.values(agents).map(({ agent_id }) => agent_id))].sort();
      expect(workers(before)).toEqual(expect.arrayContaining(workers(after)));
      expect(after.crews).toEqual({});
    });

  test("the outcome of a pattern is the name of the end it reached", async () => {
    const { graph } = templates.find(({ key }) => key === "review-cycle")!;
    const results = [(await run(graph)).state, (await run(unfolded(graph))).state];
    expect(results.map(({ state }) => state.outcome)).toEqual(["ready", "ready"]);
  });
});
