import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { CrewConfig } from "@/server/domain/crew/crew";
import { bodyIdOf } from "@/server/domain/nodes";
import { findProblems } from "@/server/domain/problems/problems";
import { draw } from "@/server/domain/testing/drawing";
import { templateOf } from "@/server/templates";
import { WorkflowGraph } from "../graph";
import { unfoldCrew } from "./unfold";
import type { Unfolding } from "./unfolded";

const roles = ["Developer", "QualityReviewer", "Tester", "Writer"].map((name) => ({ name, tools: [] }));
const review = WorkflowGraph.parse(templateOf("review-cycle").graph);
const crewOf = (graph: WorkflowGraph, id = "crew") => {
  const node = graph.nodes[id];
  return node?.node_type === "crew_task" ? node.config.crew : undefined;
};
function unfolded(unfolding: Unfolding) {
  if ("reason" in unfolding) throw new Error(unfolding.reason);
  return unfolding;
}
const lines = ({ edges }: WorkflowGraph) =>
  edges.map(
    ({ source_node_id: from, target_node_id: to, edge_label: label, kind }) =>
      `${from} ${kind === "error" ? "error" : (label ?? "")}> ${to}`,
  );
const errors = (graph: WorkflowGraph) =>
  findProblems(graph, roles).filter(({ severity }) => severity === "error");

describe("a crew with its own pattern", () => {
  const { graph, nodes, warnings } = unfolded(unfoldCrew(review, "crew", crewOf(review)));

  test("expanding a crew with a pattern yields its steps, connected to the nodes around it", () => {
    expect(lines(graph)).toEqual([
      "start > code_generation",
      "crew_not_possible > end",
      "crew_ready > end",
      "code_generation > code_generation_router",
      "code_generation_router success> code_review",
      "code_generation_router failure> crew_not_possible",
      "code_review > code_review_router",
      "code_review_router approve> testing",
      "code_review_router reject> code_generation",
      "testing > testing_router",
      "testing_router pass> crew_ready",
      "testing_router fail> code_generation",
    ]);
    expect(nodes).toEqual([
      "code_generation",
      "code_review",
      "testing",
      "code_generation_router",
      "crew_not_possible",
      "code_review_router",
      "testing_router",
      "crew_ready",
    ]);
    expect(errors(graph)).toEqual([]);
    expect(graph.nodes).not.toHaveProperty("crew");
  });

  test("each expanded step is an agent task that reads the other steps' results", () => {
    expect(graph.nodes.code_review).toMatchObject({
      node_type: "agent_task",
      name: "Code review",
      input_keys: ["feature_request"],
      optional_input_keys: ["code_generation", "code_review", "testing", "outcome"],
      output_keys: ["outcome", "code_review"],
      config: {
        required_role: "QualityReviewer",
        agent_id: "reviewer",
        max_iterations: 10,
        task_description_template:
          'Review the code: does it do what was asked, also at its edges?\n\nHow the step before came out: {{outcome | default: "this is the first step"}}\n\nIt is a part of this: {{feature_request}}',
        output_schema: {
          type: "object",
          properties: {
            outcome: { type: "string", enum: ["approve", "reject"], description: "How the step turned out" },
            code_review: {
              type: "string",
              description:
                "The complete work itself, not a description of it: the text, code or data that the next step uses",
            },
          },
          required: ["outcome", "code_review"],
        },
      },
    });
    expect(graph.nodes.code_generation?.max_iterations).toBe(12);
  });

  test("each route to an end sets the crew's output keys", () => {
    expect(graph.nodes.crew_ready).toMatchObject({
      node_type: "transform",
      name: "Ready",
      config: {
        set: {
          code_generation: "has(state.code_generation) ? state.code_generation : state.testing",
          testing: "state.testing",
          outcome: '"ready"',
        },
      },
    });
  });

  test("explicitly named ends cause no warnings", () => {
    expect(warnings).toEqual([]);
  });
});

const pattern = (...workflow: JsonObject[]) => ({
  process: "custom",
  collaboration_patterns: [{ name: "own", type: "custom", workflow }],
});
const inside = (crew: JsonObject, node: JsonObject = {}, plan?: JsonObject) =>
  draw("start > crew > end; crew !> failed; start > other > crew", {
    start: { node_type: "start", output_keys: ["topic"] },
    other: { node_type: "transform", output_keys: ["a"], config: { set: { a: "1" } } },
    end: { node_type: "end", input_keys: ["crew_result"] },
    failed: { node_type: "end" },
    crew: {
      node_type: "crew_task",
      input_keys: ["topic"],
      output_keys: ["crew_result"],
      config: { plan_description_template: "About {{topic}}", crew, ...(plan ? { plan } : {}) },
      ...node,
    },
  });

test("a failed end becomes an end node with an error status", () => {
  const drawn = inside({
    agents: [{ agent_id: "a", role_name: "Writer" }],
    ...pattern({ step: "try", agent: "a", next_on_done: "end", next_on_not: "fail:hopeless" }),
  });
  const unfolding = unfolded(unfoldCrew(drawn, "crew", crewOf(drawn)));
  expect(unfolding.graph.nodes.crew_hopeless).toMatchObject({
    node_type: "end",
    name: "Hopeless",
    config: { status: "ERROR" },
  });
});

test("expanded nodes keep the agent's settings, and dropped settings are reported", () => {
  const agents = [
    {
      agent_id: "ann",
      role_name: "Writer",
      backstory: "You wrote for {{ papers.",
      llm_config: { model: "small", temperature: 0 },
      max_iterations: 3,
      max_execution_time_s: 90,
      allow_delegation: true,
      memory_scopes: ["run", "task"],
    },
  ];
  const graph = inside({ agents, ...pattern({ step: "write", agent: "ann" }) });
  const { graph: after, warnings } = unfolded(unfoldCrew(graph, "crew", crewOf(graph)));
  expect(after.nodes.write).toMatchObject({
    run_timeout_ms: 90_000,
    config: { agent_id: "ann", max_iterations: 3, llm_config: { model: "small", temperature: 0 } },
  });
  const { task_description_template: task } = after.nodes.write!.config as {
    task_description_template: string;
  };
  expect(task.startsWith("You wrote for ")).toBe(true);
  expect(errors(after).filter(({ code }) => code === "E_BAD_TEMPLATE")).toEqual([]);
  expect(warnings.map(({ message }) => message)).toEqual(["Dropped from ann: delegation, memory scopes."]);
});

test("expanding a crew moves its edges, copies its error edge to every agent and avoids taken keys", () => {
  const graph = inside(
    {
      agents: [{ agent_id: "ann", role_name: "Writer" }],
      ...pattern(
        { step: "a", agent: "ann", next_on_done: "other", next_on_more: "a" },
        { step: "other", agent: "Writer" },
      ),
    },
    { on_error: "error_edge", retry: { max_attempts: 2 } },
  );
  const { graph: after } = unfolded(unfoldCrew(graph, "crew", crewOf(graph)));
  // "other" is a node already and "a" is what it writes.
  expect(lines(after)).toEqual([
    "start > other",
    "start > a",
    "crew_done > end",
    "a error> failed",
    "other_2 error> failed",
    "other > a",
    "a > a_router",
    "a_router done> other_2",
    "a_router more> a",
    "other_2 > crew_done",
  ]);
  expect(after.nodes.a).toMatchObject({
    on_error: "error_edge",
    retry: { max_attempts: 2 },
    output_keys: ["outcome", "a_2"],
  });
  expect(after.nodes.crew_done?.config).toEqual({
    set: {
      crew_result:
        '{"a": has(state.a_2) ? state.a_2 : "", "other": state.other, "outcome": "done", "summary": state.other}',
    },
  });
});

describe("a crew with a written plan", () => {
  const agents = [
    { agent_id: "ann", role_name: "Developer" },
    { agent_id: "bob", role_name: "Tester" },
  ];
  const plan: JsonObject = {
    tasks: [
      { task_id: "draft", description: "Draft it", required_role: "Developer" },
      { task_id: "check", description: "Check it", assigned_agent: "bob", human_review: true },
      {
        task_id: "join",
        description: "Join them",
        required_role: "Developer",
        dependencies: ["draft", "check"],
        condition: "size(state.draft) > 0",
      },
    ],
  };

  test("a parallel plan expands to tasks joined by their dependencies", () => {
    const graph = inside({ agents, process: "parallel" }, {}, plan);
    const { graph: after, warnings } = unfolded(unfoldCrew(graph, "crew", crewOf(graph)));
    expect(lines(after)).toEqual([
      "start > other",
      "start > draft",
      "start > check",
      "crew_Result > end",
      "draft error> failed",
      "check error> failed",
      "join error> failed",
      "other > draft",
      "other > check",
      "draft > join",
      "check > join",
      "join > crew_Result",
    ]);
    expect(after.nodes.join).toMatchObject({
      name: "Join them",
      join: "all",
      when: "size(state.draft) > 0",
      optional_input_keys: ["draft", "check"],
      output_keys: ["join"],
      config: { required_role: "Developer", agent_id: "ann" },
    });
    expect(warnings.map(({ message }) => message)).toEqual([
      'A person no longer reviews the result of "check".',
    ]);
    expect(errors(after)).toEqual([]);
  });

  test("a sequential plan expands to a chain", () => {
    const graph = inside({ agents, process: "sequential" }, {}, plan);
    const { graph: after } = unfolded(unfoldCrew(graph, "crew", crewOf(graph)));
    expect(lines(after).filter((line) => !/start|other|error/.test(line))).toEqual([
      "crew_Result > end",
      "draft > check",
      "check > join",
      "join > crew_Result",
    ]);
  });
});

test("a crew that can't be expanded gives the reason", () => {
  const agents = [{ agent_id: "ann", role_name: "Writer" }];
  const reasonOf = (crew: JsonObject) => {
    const graph = inside({ agents, ...crew });
    const answer = unfoldCrew(graph, "crew", crewOf(graph));
    return "reason" in answer ? answer.reason : null;
  };
  expect(reasonOf({ process: "swarm" })).toMatch(/decides at run time which agent is next/);
  expect(reasonOf({ process: "sequential" })).toMatch(/writes its plan at run time/);
  expect(reasonOf({ process: "custom" })).toMatch(/no pattern yet/);
  expect(unfoldCrew(review, "crew", undefined)).toEqual({
    reason: "This node has no crew yet. Add its agents first.",
  });
  expect(unfoldCrew(review, "start", crewOf(review))).toEqual({
    reason: "Only crews can be expanded into nodes.",
  });
});

test("a step named __proto__ expands without errors", () => {
  const agents = [{ agent_id: "ann", role_name: "Writer" }];
  const steps = [
    { step: "__proto__", agent: "start" },
    { step: "start", agent: " " },
  ];
  const crew = CrewConfig.parse({ agents, ...pattern(...steps) });
  const answer = unfoldCrew(inside({ agents, process: "sequential" }), "crew", crew);
  if ("reason" in answer) throw new Error(answer.reason);
  const roles = ["Writer", "start", " "].map((name) => ({ name, tools: [] }));
  expect(findProblems(answer.graph, roles).filter(({ severity }) => severity === "error")).toEqual([]);
});

test("a step named like a word of the expression language expands without errors", () => {
  const agents = [{ agent_id: "ann", role_name: "Writer" }];
  const steps = [
    { step: "in", agent: "start" },
    { step: "start", agent: "start" },
  ];
  const crew = CrewConfig.parse({ agents, ...pattern(...steps) });
  const answer = unfoldCrew(inside({ agents, process: "sequential" }), "crew", crew);
  if ("reason" in answer) throw new Error(answer.reason);
  const roles = ["Writer", "start"].map((name) => ({ name, tools: [] }));
  expect(findProblems(answer.graph, roles).filter(({ severity }) => severity === "error")).toEqual([]);
});

test("any pattern expands to a workflow without errors", () => {
  const word = fc.oneof(
    fc.constantFrom(
      "start",
      "in",
      "a",
      "crew",
      "other",
      "outcome",
      "topic",
      "Done",
      "{{ x",
      "é ü",
      "constructor",
    ),
    fc.string({ minLength: 1, maxLength: 70 }),
  );
  const step = fc
    .record({ step: word, agent: word, outcomes: fc.dictionary(word, word, { maxKeys: 3 }) })
    .map(({ outcomes, ...rest }) => ({
      ...rest,
      ...Object.fromEntries(Object.entries(outcomes).map(([key, target]) => [`next_on_${key}`, target])),
    }));
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (workflow) => {
      const crew = CrewConfig.safeParse({
        agents: [{ agent_id: "ann", role_name: "Writer" }],
        ...pattern(...(workflow as JsonObject[])),
      });
      const graph = inside({ agents: [{ agent_id: "ann", role_name: "Writer" }], process: "sequential" });
      const answer = unfoldCrew(graph, "crew", crew.data);
      if ("reason" in answer) return;
      const known = [...new Set(["Writer", ...workflow.map(({ agent }) => agent)])];
      const wrong = findProblems(
        answer.graph,
        known.map((name) => ({ name, tools: [] })),
      ).filter(({ severity, code }) => severity === "error" && code !== "E_UNREACHABLE");
      expect(wrong).toEqual([]);
      expect(Object.keys(answer.graph.nodes)).not.toContain("crew");
    }),
  );
});

test("a map that ran the crew runs a group of its nodes", () => {
  const crew = crewOf(review);
  const { crew: node } = review.nodes;
  const line = draw("start > m > end", { m: { node_type: "map", config: { items: "[1]", node: "crew" } } });
  const after = unfolded(unfoldCrew({ ...line, nodes: { ...line.nodes, crew: node! } }, "crew", crew));
  expect(after.graph.groups?.[0]).toMatchObject({ id: "group", node_ids: after.nodes });
  expect(bodyIdOf(after.graph.nodes.m!)).toBe("group");
});
