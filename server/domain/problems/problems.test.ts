import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { RunConfig } from "@/server/domain/agent/outcome";
import { RoleDefinition } from "@/server/domain/agent/role";
import { GRAPH_LIMITS } from "@/server/domain/base/sizes";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { arbitraryGraph } from "@/server/domain/testing/arbitrary-graph";
import { approval } from "@/server/templates/approval";
import { codeAndReview } from "@/server/templates/code-and-review";
import { parallelViews } from "@/server/templates/parallel-views";
import { applyFix, findProblems, keysAvailableAt, type Problem } from "./problems";

type Raw = Record<string, unknown>;

/**
 * A graph from words: nodes by id (their type is told by the first letters unless it is given), edges like
 * `a > b > c`, with a label after the source: `r yes> a`, or `a !> b` for an error edge.
 */
function graph(edges: string, nodes: Record<string, Raw> = {}, more: Raw = {}): WorkflowGraph {
  const all: Record<string, Raw> = {};
  const list: Raw[] = [];
  const put = (id: string) => {
    all[id] ??= {
      id,
      node_type: typeOf(id),
      ...(typeOf(id) === "agent_task"
        ? { config: { required_role: "Writer", task_description_template: "x" }, output_keys: [`${id}_out`] }
        : typeOf(id) === "conditional_router"
          ? { config: { kind: "llm" } }
          : { config: {} }),
    };
  };
  for (const part of edges
    .split(";")
    .map((text) => text.trim())
    .filter(Boolean)) {
    const steps = part.split(/\s*(\S*>)\s*/);
    put(steps[0]!);
    for (let i = 1; i < steps.length; i += 2) {
      const arrow = steps[i]!.slice(0, -1);
      const [source, target] = [steps[i - 1]!.trim(), steps[i + 1]!.trim()];
      put(target);
      list.push({
        id: `e${list.length + 1}`,
        source_node_id: source,
        target_node_id: target,
        ...(arrow === "!" ? { kind: "error" } : arrow ? { edge_label: arrow } : {}),
      });
    }
  }
  for (const [id, changes] of Object.entries(nodes)) {
    put(id);
    all[id] = { ...all[id], ...changes };
  }
  return WorkflowGraph.parse({ graph_id: "g", nodes: all, edges: list, ...more });
}

const typeOf = (id: string) =>
  id.startsWith("start")
    ? "start"
    : id.startsWith("end")
      ? "end"
      : id.startsWith("r")
        ? "conditional_router"
        : id.startsWith("note")
          ? "note"
          : "agent_task";

const toolsmith = RoleDefinition.parse({ name: "Toolsmith", tools: ["hammer"] });
const find = (g: WorkflowGraph) =>
  findProblems(g, [...builtinRoles, toolsmith], undefined, { isToolKnown: (name) => name !== "hammer" });
const rule = { config: { router_function_name: "approval_status_router" }, input_keys: [] };
const byConditions = (conditions: [label: string, when: string][], more: Raw = {}) => ({
  config: { kind: "expression", conditions: conditions.map(([label, when]) => ({ label, when })), ...more },
});
const agent = (config: Raw, more: Raw = {}) => ({
  config: { required_role: "Writer", task_description_template: "x", ...config },
  ...more,
});

/** Each code with the smallest graph that shows it: the problem, and whether its repair repairs it. */
const cases: [code: string, WorkflowGraph, Omit<Problem, "code" | "fix">, fix?: string][] = [
  [
    "E_NO_START",
    graph("end"),
    { severity: "error", at: { kind: "workflow" }, message: "Add a start node: it says where a run begins." },
    "Add a start",
  ],
  [
    "E_NO_START",
    graph("start > end", {}, { start_node_id: "gone" }),
    {
      severity: "error",
      at: { kind: "workflow", field: "start_node_id" },
      message: 'This workflow begins at "gone", which does not exist. Choose the node where it begins.',
    },
    'Begin at "start"',
  ],
  [
    "E_MANY_STARTS",
    graph("start > end; start2 > end", {}, { start_node_id: "start" }),
    {
      severity: "error",
      at: { kind: "node", id: "start2" },
      message: 'A run begins in one place only, at "start". Remove "start2", or connect what follows it.',
    },
    "Remove this start",
  ],
  [
    "E_EDGE_UNKNOWN_NODE",
    {
      ...graph("start > end"),
      edges: [
        ...graph("start > end").edges,
        {
          id: "x",
          source_node_id: "start",
          target_node_id: "gone",
          is_default: false,
          kind: "normal" as const,
        },
      ],
    },
    {
      severity: "error",
      at: { kind: "edge", id: "x" },
      message: 'This edge is tied to "gone", which does not exist. Remove the edge.',
    },
    "Remove this edge",
  ],
  [
    "E_EDGE_NOT_ALLOWED",
    graph("start > end > a > end"),
    {
      severity: "error",
      at: { kind: "edge", id: "e2" },
      message: 'Nothing can follow "end". Remove this edge.',
    },
    "Remove this edge",
  ],
  [
    "E_EDGE_NOT_ALLOWED",
    graph("start > end; start > note"),
    {
      severity: "error",
      at: { kind: "edge", id: "e2" },
      message: 'Nothing can lead to "note". Remove this edge.',
    },
    "Remove this edge",
  ],
  [
    "E_DUPLICATE_ID",
    {
      ...graph("start > a > end; start > b > end"),
      edges: graph("start > a > end; start > b > end").edges.map((edge) =>
        edge.id === "e3" ? { ...edge, id: "e1" } : edge,
      ),
    },
    {
      severity: "error",
      at: { kind: "edge", id: "e1" },
      message: 'Two edges have the id "e1". Draw one of them anew.',
    },
    "Remove this edge",
  ],
  [
    "E_DUPLICATE_ID",
    {
      ...graph("start > end"),
      nodes: { ...graph("start > end").nodes, end: { ...graph("end").nodes.end!, id: "other" } },
    },
    {
      severity: "error",
      at: { kind: "node", id: "end" },
      message: 'The node "end" carries the id "other". Draw it anew.',
    },
    "Repair the id",
  ],
  [
    "E_DUPLICATE_LABEL",
    graph("start > r; r yes> end; r yes> end"),
    {
      severity: "error",
      at: { kind: "edge", id: "e3" },
      message: 'Two edges from "r" to "end" are labelled "yes". Remove one.',
    },
    "Remove this edge",
  ],
  [
    "E_DUPLICATE_LABEL",
    graph("start > end; start > end"),
    {
      severity: "error",
      at: { kind: "edge", id: "e2" },
      message: 'Two edges lead from "start" to "end" alike. Remove one.',
    },
    "Remove this edge",
  ],
  [
    "E_UNCONDITIONAL_CYCLE",
    graph("start > a > b > a; b > end"),
    {
      severity: "error",
      at: { kind: "node", id: "a" },
      message:
        '"a", "b" follow each other in a circle without any choice, so they would run forever. Put a router into the loop.',
    },
  ],
  [
    "E_UNCONDITIONAL_CYCLE",
    graph("start > a > end; a > a"),
    {
      severity: "error",
      at: { kind: "node", id: "a" },
      message:
        '"a" leads back to itself without any choice, so it would run forever. Put a router into the loop.',
    },
  ],
  [
    "E_ROUTER_NO_EDGES",
    graph("start > end; start > r"),
    {
      severity: "error",
      at: { kind: "node", id: "r" },
      message: 'No way leads on from "r". Connect each of its labels to a node.',
    },
  ],
  [
    "E_ROUTER_LABEL_WITHOUT_EDGE",
    graph("start > a > r; r approved> end", { a: agent({}, { output_keys: ["approval_status"] }), r: rule }),
    {
      severity: "error",
      at: { kind: "node", id: "r" },
      message:
        '"r" can answer "rejected", but no edge has this label. Draw it, or mark another edge as the default.',
    },
  ],
  [
    "E_ROUTER_LABEL_WITHOUT_EDGE",
    graph("start > r; r yes> end", { r: byConditions([["yes", "true"]], { default_label: "no" }) }),
    {
      severity: "error",
      at: { kind: "node", id: "r" },
      message: '"r" takes "no" when nothing else fits, but no edge has this label. Draw it.',
    },
  ],
  [
    "E_ROUTER_NO_CONDITIONS",
    graph("start > r; r else> end", { r: byConditions([]) }),
    {
      severity: "error",
      at: { kind: "node", id: "r", field: "conditions" },
      message: "Add at least one way.",
    },
  ],
  [
    "E_UNKNOWN_ROUTER_FUNCTION",
    graph("start > r; r yes> end", { r: { config: { router_function_name: "constructor" } } }),
    {
      severity: "error",
      at: { kind: "node", id: "r", field: "router_function_name" },
      message:
        'There is no rule called "constructor". Choose another, write what it does, or decide by conditions.',
    },
  ],
  [
    "E_UNKNOWN_ROLE",
    graph("start > a > end", { a: agent({ required_role: "writer" }) }),
    {
      severity: "error",
      at: { kind: "node", id: "a", field: "required_role" },
      message:
        '"a" asks for the role "writer", which does not exist. Choose another role, or create this one.',
    },
    "Use Writer",
  ],
  [
    "E_UNKNOWN_ROLE",
    graph("start > a > end", { a: agent({ required_role: "constructor" }) }),
    {
      severity: "error",
      at: { kind: "node", id: "a", field: "required_role" },
      message:
        '"a" asks for the role "constructor", which does not exist. Choose another role, or create this one.',
    },
  ],
  [
    "E_UNKNOWN_ROLE",
    graph("start > a > end", { a: agent({ required_role: "" }) }),
    {
      severity: "error",
      at: { kind: "node", id: "a", field: "required_role" },
      message: "Choose the role that does this task.",
    },
  ],
  [
    "E_UNKNOWN_ROLE",
    graph("start > c > end", {
      c: { node_type: "crew_task", config: { crew: { agents: [{ agent_id: "w", role_name: "Wizard" }] } } },
    }),
    {
      severity: "error",
      at: { kind: "node", id: "c", field: "crew" },
      message:
        'The agent "w" asks for the role "Wizard", which does not exist. Choose another role, or create this one.',
    },
  ],
  [
    "W_UNKNOWN_TOOL",
    graph("start > a > end", {
      a: {
        node_type: "agent_task",
        output_keys: ["x"],
        config: { required_role: "Toolsmith", task_description_template: "do" },
      },
    }),
    {
      severity: "warning",
      at: { kind: "node", id: "a", field: "required_role" },
      message:
        'The role Toolsmith lists "hammer", and there is no such tool here: it works without. Add the tool, or take it from the role.',
    },
  ],
  [
    "E_TOOL_NOT_IN_ROLE",
    graph("start > a > end", { a: agent({ tools: ["search"] }) }),
    {
      severity: "error",
      at: { kind: "node", id: "a", field: "tools" },
      message: 'The role Writer may not use "search". Allow it in the role, or remove it here.',
    },
  ],
  [
    "E_CREW_EMPTY",
    graph("start > c > end", { c: { node_type: "crew_task", config: {} } }),
    {
      severity: "error",
      at: { kind: "node", id: "c", field: "crew" },
      message: "Add the agents of this crew.",
    },
  ],
  [
    "E_DUPLICATE_AGENT",
    graph("start > c > end", {
      c: {
        node_type: "crew_task",
        config: {
          crew: {
            agents: [
              { agent_id: "w", role_name: "Writer" },
              { agent_id: "w", role_name: "Editor" },
            ],
          },
        },
      },
    }),
    {
      severity: "error",
      at: { kind: "node", id: "c", field: "crew" },
      message: 'Two agents of "c" are called "w". Rename one.',
    },
  ],
  [
    "E_BAD_EXPRESSION",
    graph("start > r; r yes> end; r else> end", { r: byConditions([["yes", "state.x >"]]) }),
    {
      severity: "error",
      at: { kind: "node", id: "r", field: "conditions.0", from: 9, to: 9 },
      message: "The expression ends too early.",
    },
  ],
  [
    "E_BAD_EXPRESSION",
    graph("start > a > end", { a: agent({}, { when: "1 + 1" }) }),
    {
      severity: "error",
      at: { kind: "node", id: "a", field: "when", from: 0, to: 5 },
      message: "This must be true or false, but it gives a number.",
    },
  ],
  [
    "E_BAD_EXPRESSION",
    graph("start > a > end", { a: agent({}, { output_mapping: { k: '"a".matches("(a+)+$")' } }) }),
    {
      severity: "error",
      at: { kind: "node", id: "a", field: "output_mapping.k", from: 0, to: 21 },
      message: "Patterns (matches) are not available; use contains, startsWith or ==.",
    },
  ],
  [
    "E_OUTPUT_KEY_NOT_GIVEN",
    graph("start > a > end", { a: agent({}, { output_mapping: { k: "output.a_uot + 1" } }) }),
    {
      severity: "error",
      at: { kind: "node", id: "a", field: "output_mapping.k", from: 0, to: 12 },
      message: '"a" gives no "a_uot". Did you mean output.a_out?',
    },
  ],
  [
    "E_BAD_TEMPLATE",
    graph("start > a > end", { a: agent({ task_description_template: "Do {{it" }) }),
    {
      severity: "error",
      at: { kind: "node", id: "a", field: "task_description_template", from: 3, to: 5 },
      message: 'This "{{" is never closed; end it with "}}".',
    },
  ],
  [
    "E_JOIN_N_TOO_LARGE",
    graph("start > a > end; start > b > end", { end: { join: { n: 3 } } }),
    {
      severity: "error",
      at: { kind: "node", id: "end", field: "join" },
      message: '"end" waits for 3 of its ways, but only 2 lead here.',
    },
    "Wait for 2",
  ],
  [
    "E_WAIT_KIND",
    graph("start > w > end", { w: { node_type: "wait", config: {} } }),
    { severity: "error", at: { kind: "node", id: "w", field: "ms" }, message: "Say how long to wait." },
  ],
  [
    "W_NO_END",
    graph("start"),
    {
      severity: "warning",
      at: { kind: "workflow" },
      message: 'Nothing follows "start" yet. Add the first step.',
    },
  ],
  [
    "W_NO_END",
    graph("start > a"),
    {
      severity: "warning",
      at: { kind: "workflow" },
      message: "Add an end node: without one a run stays incomplete.",
    },
    "Add an end",
  ],
  [
    "W_NO_END",
    graph("start > a; end"),
    {
      severity: "warning",
      at: { kind: "workflow" },
      message: "No way leads from the start to an end, so a run stays incomplete. Connect one.",
    },
  ],
  [
    "W_UNREACHABLE",
    graph("start > end; a"),
    {
      severity: "warning",
      at: { kind: "node", id: "a" },
      message: 'Nothing leads to "a", so it never runs. Connect it or remove it.',
    },
    "Remove this node",
  ],
  [
    "W_START_HAS_INCOMING",
    graph("start > r; r again> start; r done> end"),
    {
      severity: "warning",
      at: { kind: "edge", id: "e2" },
      message:
        'This edge leads back to "start"; the run then begins anew with what it knows. If that is not meant, lead it to the node after.',
    },
  ],
  [
    "W_IRREDUCIBLE_LOOP",
    graph("start > r1; r1 x> a; r1 y> b; a > r; r on> b; r out> end; b > a"),
    {
      severity: "warning",
      at: { kind: "edge", id: "e7" },
      message:
        "This loop can be entered in two places, so its rounds cannot be told apart. Lead every way into it to the same node first.",
    },
    'Enter it at "a" only',
  ],
  [
    "W_LOOP_WITHOUT_EXIT",
    graph("start > a > r; r again> a; start > end"),
    {
      severity: "warning",
      at: { kind: "node", id: "a" },
      message:
        'No way leads out of the loop that begins at "a"; it goes round until a limit stops it. Draw a way out.',
    },
  ],
  [
    "W_INPUT_ONLY_IN_LOOP",
    graph("start > r; r again> a > r; r out> b > end", {
      start: { output_keys: ["n"] },
      r: byConditions([["again", "state.n > 1"]]),
      a: { output_keys: ["n", "text"] },
      b: { input_keys: ["text"] },
    }),
    {
      severity: "warning",
      at: { kind: "node", id: "b", field: "input_keys" },
      message:
        '"b" needs "text", which only "a" writes, in a loop. Where a run does not come by it, this node fails with INPUT_MISSING. Read it only if it is there, or give it a value before the loop.',
    },
    'Read "text" if there',
  ],
  [
    "W_LOOP_WITHOUT_PROGRESS",
    graph("start > a > r; r again> a; r else> end", {
      start: { output_keys: ["k"] },
      r: byConditions([["again", 'state.k == "x"']]),
    }),
    {
      severity: "warning",
      at: { kind: "node", id: "a" },
      message:
        'No node of the loop at "a" writes "k", which decides whether it goes on. Every round would end the same.',
    },
  ],
  [
    "W_LOOP_WITHOUT_PROGRESS",
    graph("start > a > r; r again> a; r else> end", { r: byConditions([["again", "true"]]) }),
    {
      severity: "warning",
      at: { kind: "node", id: "a" },
      message:
        'What decides about the loop at "a" is the same in every round. Let it read a value that the loop writes.',
    },
  ],
  [
    "W_INPUT_KEY_NOT_PRODUCED",
    graph("start > a > end", {
      start: { output_keys: ["user_request"] },
      a: agent({}, { input_keys: ["user_reqest"] }),
    }),
    {
      severity: "warning",
      at: { kind: "node", id: "a", field: "input_keys" },
      message: '"a" reads "user_reqest", which nothing before it writes. Did you mean "user_request"?',
    },
    'Read "user_request"',
  ],
  [
    "W_INPUT_KEY_NOT_PRODUCED",
    graph("start > a > b > end", { a: agent({ task_description_template: "On {{b_out}}" }) }),
    {
      severity: "warning",
      at: { kind: "node", id: "a", field: "task_description_template", from: 5, to: 10 },
      message:
        '"a" reads "b_out", which nothing before it writes. Let a node before it write it, or ask for it at the start.',
    },
  ],
  [
    "W_INPUT_KEY_NOT_PRODUCED",
    graph("start > r; r yes> end; r else> end", { r: byConditions([["yes", "input.k == 1"]]) }),
    {
      severity: "warning",
      at: { kind: "node", id: "r", field: "conditions.0", from: 0, to: 7 },
      message: '"k" is not among the inputs of "r". Add it to its input keys, or read state.k.',
    },
  ],
  [
    "W_PARALLEL_WRITE",
    graph("start > a > c > end; start > b > c", { a: { output_keys: ["k"] }, b: { output_keys: ["k"] } }),
    {
      severity: "warning",
      at: { kind: "node", id: "b", field: "output_keys" },
      message:
        '"a" and "b" can run at the same time and both write "k"; only one of the two values stays. Use two keys, or say how the values combine.',
    },
    "Keep both in a list",
  ],
  [
    "W_ROUTER_NO_DEFAULT",
    graph("start > r; r yes> end", { r: byConditions([["yes", "true"]]) }),
    {
      severity: "warning",
      at: { kind: "node", id: "r" },
      message:
        'If no label matches, "r" fails the run with the value it found. Choose a fallback, or keep it that way.',
    },
    'Otherwise take "yes"',
  ],
  [
    "W_ROUTER_READS_OBJECT",
    graph("start > a > r; r yes> end; r else> end", {
      a: agent({
        required_role: "Toolsmith",
        output_schema: {
          properties: { a_out: { type: "object", properties: { verdict: { type: "string" } } } },
        },
      }),
      r: { config: { kind: "value", value: "state.a_out" } },
    }),
    {
      severity: "warning",
      at: { kind: "node", id: "r", field: "value" },
      message:
        '"r" compares text, but "a" writes an object to "a_out" (with "verdict"), which matches no label. Compare one of its fields, or return "a_out" as text.',
    },
    "Compare state.a_out.verdict",
  ],
  [
    "W_EDGE_WITHOUT_LABEL",
    graph("start > r; r > end; r else> end", { r: byConditions([["yes", "true"]]) }),
    {
      severity: "warning",
      at: { kind: "edge", id: "e2", field: "edge_label" },
      message: 'This edge leaves "r" without a label, so it is never taken. Choose its label.',
    },
    'Label it "yes"',
  ],
  [
    "W_UNKNOWN_LABEL",
    graph("start > r; r yse> end; r else> end", { r: byConditions([["yes", "true"]]) }),
    {
      severity: "warning",
      at: { kind: "edge", id: "e2", field: "edge_label" },
      message:
        '"r" does not name the label "yse"; it names "yes". Choose one of these, or this edge may never be taken.',
    },
    'Label it "yes"',
  ],
  [
    "W_ROLE_WITHOUT_AGENT",
    graph("start > c > end", {
      c: {
        node_type: "crew_task",
        output_keys: ["k"],
        config: {
          crew: { agents: [{ agent_id: "w", role_name: "Writer" }] },
          plan: { tasks: [{ task_id: "t", description: "d", required_role: "Editor" }] },
        },
      },
    }),
    {
      severity: "warning",
      at: { kind: "node", id: "c", field: "plan" },
      message:
        'The task "t" needs the role "Editor", which no agent of the crew has. Add such an agent, or choose another role.',
    },
  ],
  [
    "W_NO_OUTPUT",
    graph("start > a > end", { a: { output_keys: [] } }),
    {
      severity: "warning",
      at: { kind: "node", id: "a", field: "output_keys" },
      message: 'The answer of "a" is kept nowhere. Name a key for it.',
    },
    "Keep it as a_result",
  ],
  [
    "W_NO_ERROR_EDGE",
    graph("start > a > end", { a: { on_error: "error_edge" } }),
    {
      severity: "warning",
      at: { kind: "node", id: "a", field: "on_error" },
      message:
        '"a" is to follow an error edge when it fails, but none leaves it, so the run would fail. Draw one.',
    },
    "Fail the run instead",
  ],
  [
    "W_ERROR_EDGE_UNUSED",
    graph("start > a > end; a !> b > end", { a: { on_error: "continue" } }),
    {
      severity: "warning",
      at: { kind: "edge", id: "e3" },
      message:
        '"a" goes on as if nothing had happened when it fails, so this edge is never taken. Set "When it fails" to follow the error edge.',
    },
    "Follow the error edge",
  ],
  [
    "W_EMPTY_TASK",
    graph("start > a > end", { a: agent({ task_description_template: " " }) }),
    {
      severity: "warning",
      at: { kind: "node", id: "a", field: "task_description_template" },
      message: "Say what the role should do.",
    },
  ],
  [
    "W_EMPTY_TRANSFORM",
    graph("start > t > end", { t: { node_type: "transform", config: {} } }),
    {
      severity: "warning",
      at: { kind: "node", id: "t", field: "set" },
      message: "This node sets nothing yet.",
    },
  ],
];

describe("every code", () => {
  test.each(cases)("%s", (code, g, expected, fixLabel) => {
    const problems = find(g);
    const found = problems.find(
      (problem) =>
        problem.code === code && problem.at.id === expected.at.id && problem.at.field === expected.at.field,
    );
    expect(found && { severity: found.severity, at: found.at, message: found.message }).toEqual(expected);
    expect(found?.fix?.label).toBe(fixLabel);
    if (!found?.fix) return;
    const mended = applyFix(g, found.fix);
    expect(
      find(mended).filter((problem) => problem.code === code && problem.message === found.message),
    ).toEqual([]);
    expect(WorkflowGraph.safeParse(mended).success).toBe(true);
  });

  test("W_ROUTER_NO_DEFAULT: a person may decide that the run fails and shows the value", () => {
    const g = graph("start > r; r yes> end", { r: { config: { kind: "value", value: "state.status" } } });
    const found = find(g).find(({ code }) => code === "W_ROUTER_NO_DEFAULT");
    expect(found?.dismiss?.label).toBe("Fail and show the value");
    const codes = find(found?.dismiss ? applyFix(g, found.dismiss) : g).map(({ code }) => code);
    expect(codes).not.toContain("W_ROUTER_NO_DEFAULT");
  });

  test("W_ROUTER_READS_OBJECT: a role whose fields do not name the node's key answers an object", () => {
    const read = (fields: string[], value = "state.a_out") => {
      const properties = Object.fromEntries(fields.map((name) => [name, { type: "string" }]));
      const judge = RoleDefinition.parse({ name: "Judge", output_schema: { type: "object", properties } });
      const g = graph("start > a > r; r yes> end; r else> end", {
        a: agent({ required_role: "Judge" }),
        r: { config: { kind: "value", value } },
      });
      return findProblems(g, [judge])
        .filter(({ code }) => code === "W_ROUTER_READS_OBJECT")
        .map(({ fix }) => fix?.label);
    };
    expect(read(["field"])).toEqual(["Compare state.a_out.field"]);
    expect(read(["field", "other"])).toEqual([undefined]);
    expect(read(["a_out", "other"])).toEqual([]);
    expect(read(["field"], "state.a_out.field")).toEqual([]);
  });

  test("W_PRICE_UNKNOWN: a budget in dollars, and a model nobody knows the price of", () => {
    const own = { model: "mystery", provider_id: "p" };
    const g = graph("start > a > b > c > end", {
      a: agent({ llm_config: own }),
      b: agent({}),
      c: {
        node_type: "crew_task",
        output_keys: ["k"],
        config: { crew: { agents: [{ agent_id: "w", role_name: "Writer", llm_config: own }] } },
      },
    });
    const places = (has: WorkflowGraph, isKnown?: (choice: { model?: string | undefined }) => boolean) =>
      findProblems(has, [...builtinRoles, toolsmith], undefined, { isPriceKnown: isKnown })
        .filter(({ code }) => code === "W_PRICE_UNKNOWN")
        .map(({ severity, at: { kind, id, field }, message }) => [severity, id ?? kind, field, message]);
    const inDollars = { ...g, config: RunConfig.parse({ budget: { max_cost_usd: 1 } }) };
    const advice = "Set it in the provider's settings, or limit tokens instead.";
    const ofMystery = (name: string) =>
      `This workflow has a budget in dollars, but the price of "mystery", which "${name}" uses, is unknown. ${advice}`;
    expect(places(inDollars, () => false)).toEqual([
      [
        "warning",
        "workflow",
        "budget.max_cost_usd",
        `This workflow has a budget in dollars, but the price of the standard model is unknown. ${advice}`,
      ],
      ["warning", "a", "llm_config", ofMystery("a")],
      ["warning", "c", "crew", ofMystery("c")],
    ]);
    expect(places(inDollars, ({ model }) => model !== "mystery").map(([, place]) => place)).toEqual([
      "a",
      "c",
    ]);
    expect(places(inDollars, () => true)).toEqual([]);
    expect(places(inDollars)).toEqual([]);
    expect(places(g, () => false)).toEqual([]);
    const backed = graph("start > a > end", {
      a: agent({ llm_config: { model: "known", fallback_models: [own] } }),
    });
    expect(
      places({ ...backed, config: inDollars.config }, ({ model }) => model !== "mystery").map(
        ([, place, , message]) => [place, message],
      ),
    ).toEqual([["a", ofMystery("a")]]);
  });

  test("a drawing with too many nodes or edges is said to be too large", () => {
    const codes = (g: WorkflowGraph) =>
      [...new Set(find(g).map(({ code }) => code))].filter((code) => /LARGE/.test(code));
    const one = graph("start > end").nodes.end!;
    const nodes = Object.fromEntries(
      Array.from({ length: GRAPH_LIMITS.nodes + 1 }, (_, i) => [`n${i}`, { ...one, id: `n${i}` }]),
    );
    expect(codes({ ...graph("start > end"), nodes })).toEqual(["E_GRAPH_TOO_LARGE"]);
    const edge = graph("start > end").edges[0]!;
    expect(
      codes({
        ...graph("start > end"),
        edges: Array.from({ length: GRAPH_LIMITS.edges + 1 }, (_, i) => ({ ...edge, id: `e${i}` })),
      }),
    ).toEqual(["E_GRAPH_TOO_LARGE"]);
    expect(
      codes(
        graph("start > a > end", {
          a: agent({ output_schema: { description: "x".repeat(GRAPH_LIMITS.configBytes) } }),
        }),
      ),
    ).toEqual(["E_NODE_TOO_LARGE"]);
  });

  test("more expressions than one step can evaluate", () => {
    const sets = (count: number) => {
      const set = Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, `${i} + 1`]));
      return find(
        graph("start > t > end", {
          t: { node_type: "transform", config: { set }, output_keys: Object.keys(set) },
        }),
      ).filter(({ code }) => code === "E_NODE_TOO_LARGE");
    };
    expect(sets(1_000)).toEqual([]);
    expect(sets(6_000)[0]?.message).toMatch(/6000 expressions of "t" have 4\d,\d{3} characters together/);
  });

  test("more conditions of the ways on from a node than one step can evaluate", () => {
    const withConditions = (count: number) => {
      const drawn = graph("start > a > end");
      const to = drawn.edges.find(({ target_node_id }) => target_node_id === "end")!;
      const edges = Array.from({ length: count }, (_, i) => ({
        ...to,
        id: `w${i}`,
        condition: `state.x == "${"y".repeat(1000)}${i}"`,
      }));
      return find({ ...drawn, edges: [drawn.edges[0]!, ...edges] }).filter(
        ({ code }) => code === "E_NODE_TOO_LARGE",
      );
    };
    expect(withConditions(30)).toEqual([]);
    expect(withConditions(50)[0]?.message).toMatch(
      /50 conditions of the ways on from "a" have 5\d,\d{3} characters/,
    );
  });

  test("more expressions and templates in a whole workflow than can be read: it says so once and reads no more", () => {
    const many = (count: number, last: Raw) => {
      const names = Array.from({ length: count }, (_, i) => `t${i}`);
      const nodes = Object.fromEntries(
        names.map((name) => [
          name,
          {
            node_type: "transform",
            config: {
              set: Object.fromEntries(
                Array.from({ length: 15 }, (_, i) => [`k${i}`, "1 + ".repeat(480) + "1"]),
              ),
            },
            output_keys: Array.from({ length: 15 }, (_, i) => `k${i}`),
          },
        ]),
      );
      return graph(["start", ...names, "a", "end"].join(" > "), { ...nodes, a: last });
    };
    const broken = agent({ task_description_template: "Do {{it", required_role: "Writer" });
    const codes = (drawn: WorkflowGraph) =>
      find(drawn)
        .filter(({ severity }) => severity === "error")
        .map(({ code, at }) => [code, at.kind]);
    expect(codes(many(5, broken))).toEqual([["E_BAD_TEMPLATE", "node"]]);
    expect(codes(many(12, broken))).toEqual([["E_GRAPH_TOO_LARGE", "workflow"]]);
    expect(find(many(12, broken))[0]?.message).toMatch(
      /have 3\d\d,\d{3} characters together; at most 262,144 can be read, so the rest was not checked/,
    );
    // Plain text of a prompt costs nothing to read.
    expect(
      codes(graph("start > a > end", { a: agent({ task_description_template: "x".repeat(60_000) }) })),
    ).toEqual([]);
  });

  test("conditions of edges count for what is read of a whole workflow", () => {
    const drawn = graph(Array.from({ length: 12 }, (_, i) => `start > a${i} > end`).join(";"));
    const edges = drawn.edges.flatMap((edge) =>
      Array.from({ length: 15 }, (_, i) => ({
        ...edge,
        id: `${edge.id}_${i}`,
        condition: `${"1 + ".repeat(400)}${i} > state.x`,
      })),
    );
    expect(
      find({ ...drawn, edges })
        .filter(({ at }) => at.kind === "workflow")
        .map(({ code }) => code),
    ).toContain("E_GRAPH_TOO_LARGE");
  });
});

test("a key that is typed into a node is named at its field, and a person may say that they know", () => {
  const g = graph("start > a > end", {
    a: {
      node_type: "http_request",
      config: { url: "https://api.example.org", headers: { Authorization: "Bearer CANARY-1234567890" } },
    },
  });
  const [found, ...others] = find(g);
  expect(others).toEqual([]);
  expect(found).toMatchObject({
    severity: "warning",
    code: "W_LOOKS_LIKE_A_SECRET",
    at: { kind: "node", id: "a", field: "headers.Authorization" },
  });
  expect(find(found?.dismiss ? applyFix(g, found.dismiss) : g)).toEqual([]);
});

describe("nothing to say", () => {
  test.each([
    [
      "two branches of a router write the same key",
      graph("start > r; r x> a > c; r y> b > c > end", {
        a: { output_keys: ["k"] },
        b: { output_keys: ["k"] },
      }),
    ],
    [
      "a router after a join chooses between two writers",
      graph("start > a > j; start > b > j > r; r x> c > end; r y> d > end", {
        c: { output_keys: ["k"] },
        d: { output_keys: ["k"] },
      }),
    ],
    [
      "parallel writers with a reducer",
      graph(
        "start > a > c > end; start > b > c",
        { a: { output_keys: ["k"] }, b: { output_keys: ["k"] } },
        { global_state_schema: { properties: { k: { "x-reducer": "append" } } } },
      ),
    ],
    [
      "one writes after the other",
      graph("start > a > b > end; start > b", { a: { output_keys: ["k"] }, b: { output_keys: ["k"] } }),
    ],
    ["an error edge leads back", graph("start > a > end; a !> a")],
    [
      "a key comes back from a loop",
      graph("start > a > r; r again> a; r else> end", {
        a: { optional_input_keys: ["a_out"] },
        r: byConditions([["again", 'state.a_out != ""']]),
      }),
    ],
    [
      "a missing key that the template provides for",
      graph("start > a > end", {
        a: agent({ task_description_template: '{{k | default: "-"}}' }, { output_keys: ["o"] }),
      }),
    ],
    [
      "a missing key that the condition provides for",
      graph("start > r; r x> end; r else> end", {
        r: byConditions([["x", "has(state.k) && state.?j.orValue(false)"]]),
      }),
    ],
    [
      "a key of the state schema",
      graph(
        "start > a > end",
        { a: { input_keys: ["k"] } },
        { global_state_schema: { properties: { k: { default: 1 } } } },
      ),
    ],
    [
      "what an error edge knows",
      graph("start > a > end; a !> b > end", {
        b: agent({ task_description_template: "{{_error.message}}" }, { output_keys: ["o"] }),
      }),
    ],
  ])("%s", (_title, g) => {
    expect(find(g)).toEqual([]);
  });

  test("the reference workflow, also without places", () => {
    expect(find(approval.graph)).toEqual([]);
  });
});

describe("parallel writers", () => {
  test("writers behind a router that takes all ways, and behind two edges with one label, are parallel", () => {
    const writers = { a: { output_keys: ["k"] }, b: { output_keys: ["k"] } };
    const codes = (g: WorkflowGraph) => find(g).map(({ code }) => code);
    expect(
      codes(
        graph("start > r; r x> a > end; r y> b > end", {
          ...writers,
          r: byConditions(
            [
              ["x", "true"],
              ["y", "true"],
            ],
            { mode: "all", default_label: "x" },
          ),
        }),
      ),
    ).toEqual(["W_PARALLEL_WRITE"]);
    expect(
      codes(
        graph("start > r; r x> a > end; r x> b > end; r else> end", {
          ...writers,
          r: byConditions([["x", "true"]]),
        }),
      ),
    ).toEqual(["W_PARALLEL_WRITE"]);
  });

  test("one report for a key, however many write it", () => {
    const many = Array.from({ length: 12 }, (_, i) => `start > a${i} > end`).join("; ");
    const g = graph(
      many,
      Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`a${i}`, { output_keys: ["k"] }])),
    );
    expect(find(g).map(({ code }) => code)).toEqual(["W_PARALLEL_WRITE"]);
  });
});

describe("a key that a loop writes", () => {
  const risky = (g: WorkflowGraph) => find(g).filter(({ code }) => code === "W_INPUT_ONLY_IN_LOOP");
  const nodes = {
    start: { output_keys: ["n"] },
    r: byConditions([["again", "state.n > 1"]]),
    a: { output_keys: ["n", "text"] },
  };
  const before = "start > r; r again> a > r; r out> b > end";
  test.each([
    [
      "the loop is entered through its writer",
      "start > a > r; r again> a; r out> b > end",
      { ...nodes, b: { input_keys: ["text"] } },
    ],
    ["it is read only if there", before, { ...nodes, b: { optional_input_keys: ["text"] } }],
    [
      "the start asks for it",
      before,
      { ...nodes, start: { output_keys: ["n", "text"] }, b: { input_keys: ["text"] } },
    ],
    [
      "it is read within the loop",
      "start > r; r again> a > b > r; r out> end",
      { ...nodes, b: { input_keys: ["text"] } },
    ],
  ])("is certain enough where %s", (_, drawing, settings) => {
    expect(risky(graph(drawing, settings))).toEqual([]);
  });
});

describe("keys at a node", () => {
  const at = (g: WorkflowGraph, id: string) =>
    keysAvailableAt(g, id).map(({ key, from, certain }) => `${key}${certain ? "" : "?"} ${from.join(",")}`);

  test("in a loop, what comes from the last round is not certain", () => {
    expect(at(codeAndReview.graph, "develop")).toEqual([
      "feature_request start",
      "code? develop",
      "issues? review",
      "summary? review",
      "verdict? review",
    ]);
  });

  test("behind a join, what all branches write is certain", () => {
    expect(at(parallelViews.graph, "brief")).toEqual([
      "facts facts",
      "idea start",
      "risks risks",
      "story story",
    ]);
    const any = {
      ...parallelViews.graph,
      nodes: {
        ...parallelViews.graph.nodes,
        brief: { ...parallelViews.graph.nodes.brief!, join: "any" as const },
      },
    };
    expect(at(any, "brief")).toEqual(["idea start", "facts? facts", "risks? risks", "story? story"]);
  });

  test("behind a router, what only one way writes is not", () => {
    const g = graph(
      "start > r; r x> a > end; r y> b > end",
      {},
      { global_state_schema: { properties: { given: { default: 0 } } } },
    );
    expect(at(g, "end")).toEqual(["given ", "a_out? a", "b_out? b"]);
    expect(at(g, "a")).toEqual(["given "]);
  });

  test("what may fail without ending the run is not certain", () => {
    expect(at(graph("start > a > end", { a: { on_error: "continue" } }), "end")).toEqual(["a_out? a"]);
    expect(at(graph("start > a > end; a !> end"), "end")).toEqual(["a_out? a"]);
  });
});

describe("any graph", () => {
  test("is examined without throwing, and every repair gives a graph again", () => {
    fc.assert(
      fc.property(arbitraryGraph({ maxNodes: 12 }), (g) => {
        const problems = find(g);
        for (const { fix, at, code } of problems) {
          expect(code).toMatch(/^[EW]_[A-Z_]+$/);
          if (at.kind === "node") expect(g.nodes[at.id!]).toBeDefined();
          if (at.kind === "edge") expect(g.edges.some(({ id }) => id === at.id)).toBe(true);
          if (fix) expect(WorkflowGraph.safeParse(applyFix(g, fix)).error).toBeUndefined();
        }
        for (const id of Object.keys(g.nodes)) keysAvailableAt(g, id);
      }),
      { numRuns: 200 },
    );
  });

  test("with loops that are entered in two places has only loops with one entry once the repairs are made", () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 7 }), fc.integer({ min: 1, max: 7 })), {
      minLength: 6,
      maxLength: 20,
    });
    let mended = 0;
    fc.assert(
      fc.property(steps, (pairs) => {
        const name = (at: number) => (at === 0 ? "start" : `r${at}`);
        let g = graph(pairs.map(([from, to], at) => `${name(from)} ${at}> ${name(to)}`).join("; "), {
          start: {},
        });
        const { nodes } = g;
        for (let time = 0; ; time++) {
          const found = find(g).filter(({ code }) => code === "W_IRREDUCIBLE_LOOP");
          if (found.length === 0) break;
          const fix = found[0]!.fix!;
          g = applyFix(g, fix);
          mended++;
          expect(time, "every repair brings it nearer").toBeLessThan(pairs.length);
        }
        expect(g.nodes).toEqual(nodes);
        expect(g.edges.map(({ source_node_id, edge_label }) => [source_node_id, edge_label])).toEqual(
          pairs.map(([from], at) => [name(from), String(at)]),
        );
      }),
      { numRuns: 300 },
    );
    expect(mended).toBeGreaterThan(20);
  });

  test("with a loop entered from one node twice keeps one of the two edges", () => {
    const g = graph("start > a > r; start > b > a; r on> b; r out> end");
    const { fix } = find(g).find(({ code }) => code === "W_IRREDUCIBLE_LOOP")!;
    const from = (edges: typeof g.edges) =>
      edges.filter(({ source_node_id }) => source_node_id === "start").map((edge) => edge.target_node_id);
    expect(from(g.edges)).toEqual(["a", "b"]);
    expect(from(applyFix(g, fix!).edges)).toEqual(["a"]);
  });
});

describe("what is asked for and not checked is told with its place", () => {
  const notes = (g: WorkflowGraph) =>
    findProblems(g, [{ name: "Writer", tools: [] }])
      .filter(({ code }) => code === "W_NOT_CHECKED" || code === "W_SLOW_PATTERN")
      .map(({ at, message }) => [at.id ?? at.kind, at.field, message]);
  const why = "the pattern (?<=a)b is not checked: it looks ahead or behind.";

  test("in schemas of nodes, of the state and of guardrails", () => {
    const shape = { properties: { x: { pattern: "(?<=a)b" } } };
    const g = graph(
      "start > a > end",
      {
        start: { config: { input_schema: shape } },
        a: {
          config: {
            required_role: "Writer",
            task_description_template: "x",
            output_schema: { ...shape, if: {}, colour: "red" },
            guardrails: [
              { name: "shape", kind: "json_schema", spec: JSON.stringify(shape) },
              { name: "sign", kind: "regex", spec: "(a)\\1" },
              { name: "fine", kind: "regex", spec: "^(a+)+$" },
            ],
          },
        },
      },
      {
        global_state_schema: {
          type: "object",
          properties: { y: { $ref: "#/$defs/y" }, z: { $ref: "#/$defs/none" } },
          required: ["y"],
          $defs: { y: { type: "string" } },
        },
      },
    );
    expect(notes(g)).toEqual([
      [
        "start",
        "input_schema",
        `"Inputs" of "start" is not checked as it stands. At properties.x.pattern: ${why}`,
      ],
      [
        "a",
        "output_schema",
        `"Shape of the result" of "a" is not checked as it stands. At colour: "colour" is not checked. At properties.x.pattern: ${why}`,
      ],
      [
        "a",
        "guardrails.0",
        `The guardrail "shape" of "a" is not checked as it stands. At properties.x.pattern: ${why}`,
      ],
      [
        "a",
        "guardrails.1",
        'The guardrail "sign" of "a" may be slow. This pattern is tried in the sandbox, where it waits for others and is stopped after a second: it refers back to a group.',
      ],
      [
        "workflow",
        "global_state_schema.properties.z",
        'The shape of "z" in the state is not checked as it stands. At $ref: "#/$defs/none" leads nowhere in this schema, so what is there is not checked.',
      ],
      [
        "workflow",
        "global_state_schema",
        'The state is filled key by key, so only the shapes of its keys are checked, not "required". Say it of a key, or check it with an expression.',
      ],
    ]);
  });

  test("nothing is said of schemas that are checked whole", () => {
    const g = graph("start > a > end", {
      start: {
        config: {
          input_schema: {
            properties: {
              x: { type: "string", pattern: "^(a+)+$", format: "email", "x-order": 1, title: "X" },
            },
            oneOf: [{ required: ["x"] }, { required: ["y"] }],
            if: { required: ["x"] },
            then: { minProperties: 2 },
          },
        },
      },
    });
    expect(notes(g)).toEqual([]);
  });
});
