import { expect, test } from "vitest";
import { CrewConfig } from "./crew";
import { crewUses, withCrews } from "./crew-use";
import { WorkflowGraph } from "./graph";
import { findProblems } from "./problems";

const crewOf = (...roles: string[]) =>
  CrewConfig.parse({ agents: roles.map((role_name, at) => ({ agent_id: `a${at}`, role_name })) });
const graphWith = (config: object) =>
  WorkflowGraph.parse({
    graph_id: "g",
    start_node_id: "s",
    nodes: {
      s: { id: "s", node_type: "start", output_keys: ["ask"] },
      c: {
        id: "c",
        node_type: "crew_task",
        output_keys: ["done"],
        config: { plan_description_template: "Go", ...config },
      },
      e: { id: "e", node_type: "end" },
    },
    edges: [
      { id: "e1", source_node_id: "s", target_node_id: "c" },
      { id: "e2", source_node_id: "c", target_node_id: "e" },
    ],
  });
const library = new Map([["writers", crewOf("Writer", "Editor")]]);
const codes = (graph: WorkflowGraph) =>
  findProblems(graph, [{ name: "Writer", tools: [] }], undefined, {
    isCrewKnown: (id) => library.has(id),
  }).map(({ code }) => code);

test("a crew of the library is copied in, whatever copy was there", () => {
  const graph = graphWith({ crew_id_or_config_ref: "writers", crew: crewOf("Old") });
  const ready = withCrews(graph, (id) => library.get(id));
  expect(ready.nodes.c?.config).toMatchObject({ crew: { agents: [{ role_name: "Writer" }, {}] } });
  expect(graph.nodes.c?.config).toMatchObject({ crew: { agents: [{ role_name: "Old" }] } });
  expect(crewUses(graph)).toEqual(new Map([["writers", ["c"]]]));
});

test("a name that is not in the library keeps the file's copy; a graph without names stays the same", () => {
  const strange = graphWith({ crew_id_or_config_ref: "gone", crew: crewOf("Writer") });
  expect(withCrews(strange, (id) => library.get(id))).toEqual(strange);
  const own = graphWith({ crew: crewOf("Writer") });
  expect(withCrews(own, (id) => library.get(id))).toBe(own);
});

test("no crew and an unknown crew are problems of their own", () => {
  expect(codes(graphWith({}))).toEqual(["E_CREW_EMPTY"]);
  expect(codes(graphWith({ crew_id_or_config_ref: "gone" }))).toEqual(["E_CREW_UNKNOWN"]);
  expect(codes(graphWith({ crew_id_or_config_ref: "gone", crew: crewOf("Writer") }))).toEqual([]);
  expect(codes(graphWith({ crew_id_or_config_ref: "writers" }))).toEqual([]);
});
