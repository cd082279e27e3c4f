import fc from "fast-check";
import { expect, test } from "vitest";
import { CrewConfig } from "@/server/domain/crew/crew";
import { CustomPattern, customPatterns, parallelGroups } from "@/server/domain/crew/pattern";
import { findProblems } from "@/server/domain/problems/problems";
import { containing } from "@/server/domain/testing/containing";
import { compilePattern } from "./compile-pattern";

/** As the reference documents write it. */
const reference = CustomPattern.parse({
  name: "code_review_cycle",
  type: "custom",
  workflow: [
    {
      step: "code_generation",
      agent: "coder",
      next_on_success: "code_review",
      next_on_failure: "error_handler",
    },
    { step: "code_review", agent: "reviewer", next_on_approve: "testing", next_on_reject: "coder" },
    { step: "testing", agent: "tester", next_on_pass: "deployment", next_on_fail: "coder" },
  ],
});
const roles = ["coder", "reviewer", "tester", "Developer"].map((name) => ({ name, tools: [] }));
const drawn = (pattern: CustomPattern) =>
  compilePattern(pattern).graph.edges.map(
    ({ source_node_id: from, target_node_id: to, edge_label: label }) =>
      `${from} ${label ? `${label}> ` : "> "}${to}`,
  );

test("the reference pattern compiles to a runnable workflow with two warnings", () => {
  const { graph, warnings } = compilePattern(reference);
  expect(warnings).toMatchObject([
    { level: "changed", at: "workflow.0.next_on_failure", message: containing("“error_handler” is neither") },
    { level: "changed", at: "workflow.2.next_on_pass", message: containing("“deployment” is neither") },
  ]);
  expect(drawn(reference)).toEqual([
    "start > code_generation",
    "code_generation > code_generation_router",
    "code_generation_router success> code_review",
    "code_generation_router failure> end_error_handler",
    "code_review > code_review_router",
    "code_review_router approve> testing",
    "code_review_router reject> code_generation",
    "testing > testing_router",
    "testing_router pass> end_deployment",
    "testing_router fail> code_generation",
  ]);
  expect(findProblems(graph, roles).filter(({ severity }) => severity === "error")).toEqual([]);
  expect(graph.nodes.testing?.config).toMatchObject({
    required_role: "tester",
    output_schema: {
      properties: { outcome: { enum: ["pass", "fail"] } },
      required: ["outcome", "summary", "result"],
    },
  });
  const places = Object.values(graph.nodes).map(({ ui }) => `${ui?.x} ${ui?.y}`);
  expect(new Set(places).size).toBe(places.length);
});

test("compiled steps use the roles of the crew's agents", () => {
  const { graph } = compilePattern(reference, [{ agent_id: "coder", role_name: "Developer" }]);
  expect(graph.nodes.code_generation?.config).toMatchObject({
    required_role: "Developer",
    agent_id: "coder",
  });
  expect(graph.nodes.testing?.config).not.toHaveProperty("agent_id");
});

test("an agent with several steps is an invalid target, and a step without outcomes ends the run", () => {
  const pattern = CustomPattern.parse({
    type: "custom",
    workflow: [
      { step: "a", agent: "x", next_on_done: "y" },
      { step: "b", agent: "y" },
      { step: "c", agent: "z", next_on_again: "x", next_on_done: "z" },
      { step: "d", agent: "x" },
    ],
  });
  expect(drawn(pattern)).toEqual([
    "start > a",
    "a > a_router",
    "a_router done> b",
    "b > end_Done",
    "c > c_router",
    "c_router again> end_x",
    "c_router done> c",
    "d > end_Done",
  ]);
  expect(compilePattern(pattern).warnings).toMatchObject([
    { at: "workflow.2.next_on_again", message: containing("“x” has several steps (a, d)") },
  ]);
});

test("any pattern compiles with an edge per outcome, and its text isn't read as a template", () => {
  const word = fc.oneof(
    fc.constantFrom("start", "a", "b", "a_router", "end_a", "Done", "{{ x", "{% y %}", "é ü", "constructor"),
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
      const read = CustomPattern.safeParse({ type: "custom", workflow });
      if (!read.success) return;
      const { graph } = compilePattern(read.data);
      const agents = [...new Set(workflow.map(({ agent }) => agent))];
      const known = agents.map((name) => ({ name, tools: [] }));
      const wrong = findProblems(graph, known).filter(({ severity }) => severity === "error");
      expect(wrong).toEqual([]);
      for (const node of Object.values(graph.nodes)) {
        const out = graph.edges.filter(({ source_node_id }) => source_node_id === node.id);
        if (node.node_type === "conditional_router")
          expect(out.map(({ edge_label }) => edge_label)).toEqual(
            node.config.conditions.map(({ label }) => label),
          );
        else expect(out).toHaveLength(node.node_type === "end" ? 0 : 1);
      }
    }),
  );
});

test("a crew keeps unknown patterns", () => {
  const agents = [{ agent_id: "a", role_name: "Writer" }];
  const groups = { parallel_groups: [{ name: "team", agents: ["a"], coordination_agent: "a" }] };
  const crew = CrewConfig.parse({
    agents,
    collaboration_patterns: [groups, reference, { name: "x", type: "market" }, "words"],
  });
  expect(crew.collaboration_patterns.slice(1)).toEqual([reference, { name: "x", type: "market" }, "words"]);
  expect(customPatterns(crew.collaboration_patterns)).toEqual([reference]);
  expect(parallelGroups(crew.collaboration_patterns)).toEqual([
    { name: "team", agents: ["a"], coordination_agent: "a", sync_points: [] },
  ]);
});
