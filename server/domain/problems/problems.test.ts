import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { RunConfig } from "@/server/domain/agent/outcome";
import { RoleDefinition } from "@/server/domain/agent/role";
import { GRAPH_LIMITS } from "@/server/domain/base/sizes";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { arbitraryGraph } from "@/server/domain/testing/arbitrary-graph";
import { containing } from "@/server/domain/testing/containing";
import { templateOf } from "@/server/templates";
import { sized } from "@/server/testing/thorough";
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

const crewOf = (config: Raw) => ({ node_type: "crew_task", output_keys: ["k"], config });
const member = (agent_id: string, role_name: string, more: Raw = {}) => ({ agent_id, role_name, ...more });

/** Where a problem stands: what it is about, the field, and the characters in it. */
const placeOf = ({ at }: Problem) =>
  [at.id ? `${at.kind} ${at.id}` : at.kind, at.field].filter(Boolean).join(": ") +
  (at.from === undefined ? "" : ` ${at.from}-${at.to}`);

/** Each code with the smallest graph that shows it, the place, and the label of its repair. */
const cases: [code: string, WorkflowGraph, place: string, fix?: string][] = [
  ["E_NO_START", graph("end"), "workflow", "Add start node"],
  [
    "E_NO_START",
    graph("start > end", {}, { start_node_id: "gone" }),
    "workflow: start_node_id",
    'Start at "start"',
  ],
  [
    "E_MANY_STARTS",
    graph("start > end; start2 > end", {}, { start_node_id: "start" }),
    "node start2",
    "Remove start node",
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
    "edge x",
    "Remove connection",
  ],
  ["E_EDGE_NOT_ALLOWED", graph("start > end > a > end"), "edge e2", "Remove connection"],
  ["E_EDGE_NOT_ALLOWED", graph("start > end; start > note"), "edge e2", "Remove connection"],
  [
    "E_DUPLICATE_ID",
    {
      ...graph("start > a > end; start > b > end"),
      edges: graph("start > a > end; start > b > end").edges.map((edge) =>
        edge.id === "e3" ? { ...edge, id: "e1" } : edge,
      ),
    },
    "edge e1",
    "Remove connection",
  ],
  [
    "E_DUPLICATE_ID",
    {
      ...graph("start > end"),
      nodes: { ...graph("start > end").nodes, end: { ...graph("end").nodes.end!, id: "other" } },
    },
    "node end",
    "Repair ID",
  ],
  ["E_DUPLICATE_LABEL", graph("start > r; r yes> end; r yes> end"), "edge e3", "Remove connection"],
  ["E_DUPLICATE_LABEL", graph("start > end; start > end"), "edge e2", "Remove connection"],
  ["E_UNCONDITIONAL_CYCLE", graph("start > a > b > a; b > end"), "node a"],
  ["E_ROUTER_NO_EDGES", graph("start > end; start > r"), "node r"],
  [
    "E_ROUTER_LABEL_WITHOUT_EDGE",
    graph("start > a > r; r approved> end", { a: agent({}, { output_keys: ["approval_status"] }), r: rule }),
    "node r",
  ],
  [
    "E_ROUTER_LABEL_WITHOUT_EDGE",
    graph("start > r; r yes> end", { r: byConditions([["yes", "true"]], { default_label: "no" }) }),
    "node r",
  ],
  ["E_ROUTER_NO_CONDITIONS", graph("start > r; r else> end", { r: byConditions([]) }), "node r: conditions"],
  [
    "E_UNKNOWN_ROUTER_FUNCTION",
    graph("start > r; r yes> end", { r: { config: { router_function_name: "constructor" } } }),
    "node r: router_function_name",
  ],
  [
    "E_UNKNOWN_ROLE",
    graph("start > a > end", { a: agent({ required_role: "writer" }) }),
    "node a: required_role",
    "Use Writer",
  ],
  ["E_UNKNOWN_ROLE", graph("start > a > end", { a: agent({ required_role: "" }) }), "node a: required_role"],
  [
    "E_UNKNOWN_ROLE",
    graph("start > c > end", { c: crewOf({ crew: { agents: [member("w", "Wizard")] } }) }),
    "node c: crew",
  ],
  [
    "W_UNKNOWN_TOOL",
    graph("start > a > end", { a: agent({ required_role: "Toolsmith" }) }),
    "node a: required_role",
  ],
  ["E_TOOL_NOT_IN_ROLE", graph("start > a > end", { a: agent({ tools: ["search"] }) }), "node a: tools"],
  ["E_CREW_EMPTY", graph("start > c > end", { c: crewOf({}) }), "node c: crew"],
  [
    "E_DUPLICATE_AGENT",
    graph("start > c > end", {
      c: crewOf({ crew: { agents: [member("w", "Writer"), member("w", "Editor")] } }),
    }),
    "node c: crew",
  ],
  [
    "E_BAD_EXPRESSION",
    graph("start > r; r yes> end; r else> end", { r: byConditions([["yes", "state.x >"]]) }),
    "node r: conditions.0 9-9",
  ],
  ["E_BAD_EXPRESSION", graph("start > a > end", { a: agent({}, { when: "1 + 1" }) }), "node a: when 0-5"],
  [
    "E_BAD_EXPRESSION",
    graph("start > a > end", { a: agent({}, { output_mapping: { k: '"a".matches("(a+)+$")' } }) }),
    "node a: output_mapping.k 0-21",
  ],
  [
    "E_OUTPUT_KEY_NOT_GIVEN",
    graph("start > a > end", { a: agent({}, { output_mapping: { k: "output.a_uot + 1" } }) }),
    "node a: output_mapping.k 0-12",
  ],
  [
    "E_BAD_TEMPLATE",
    graph("start > a > end", { a: agent({ task_description_template: "Do {{it" }) }),
    "node a: task_description_template 3-5",
  ],
  [
    "E_JOIN_N_TOO_LARGE",
    graph("start > a > end; start > b > end", { end: { join: { n: 3 } } }),
    "node end: join",
    "Wait for 2",
  ],
  ["E_WAIT_KIND", graph("start > w > end", { w: { node_type: "wait", config: {} } }), "node w: ms"],
  ["W_NO_END", graph("start"), "workflow"],
  ["W_NO_END", graph("start > a"), "workflow", "Add end node"],
  ["W_NO_END", graph("start > a; end"), "workflow"],
  ["W_UNREACHABLE", graph("start > end; a"), "node a", "Remove node"],
  ["W_START_HAS_INCOMING", graph("start > r; r again> start; r done> end"), "edge e2"],
  [
    "W_IRREDUCIBLE_LOOP",
    graph("start > r1; r1 x> a; r1 y> b; a > r; r on> b; r out> end; b > a"),
    "edge e7",
    'Only enter at "a"',
  ],
  ["W_LOOP_WITHOUT_EXIT", graph("start > a > r; r again> a; start > end"), "node a"],
  [
    "W_INPUT_ONLY_IN_LOOP",
    graph("start > r; r again> a > r; r out> b > end", {
      start: { output_keys: ["n"] },
      r: byConditions([["again", "state.n > 1"]]),
      a: { output_keys: ["n", "text"] },
      b: { input_keys: ["text"] },
    }),
    "node b: input_keys",
    'Make "text" optional',
  ],
  [
    "W_LOOP_WITHOUT_PROGRESS",
    graph("start > a > r; r again> a; r else> end", {
      start: { output_keys: ["k"] },
      r: byConditions([["again", 'state.k == "x"']]),
    }),
    "node a",
  ],
  [
    "W_LOOP_WITHOUT_PROGRESS",
    graph("start > a > r; r again> a; r else> end", { r: byConditions([["again", "true"]]) }),
    "node a",
  ],
  [
    "W_INPUT_KEY_NOT_PRODUCED",
    graph("start > a > end", {
      start: { output_keys: ["user_request"] },
      a: agent({}, { input_keys: ["user_reqest"] }),
    }),
    "node a: input_keys",
    'Read "user_request"',
  ],
  [
    "W_INPUT_KEY_NOT_PRODUCED",
    graph("start > a > b > end", { a: agent({ task_description_template: "On {{b_out}}" }) }),
    "node a: task_description_template 5-10",
  ],
  [
    "W_INPUT_KEY_NOT_PRODUCED",
    graph("start > r; r yes> end; r else> end", { r: byConditions([["yes", "input.k == 1"]]) }),
    "node r: conditions.0 0-7",
  ],
  [
    "W_PARALLEL_WRITE",
    graph("start > a > c > end; start > b > c", { a: { output_keys: ["k"] }, b: { output_keys: ["k"] } }),
    "node b: output_keys",
    "Collect both values",
  ],
  [
    "W_ROUTER_NO_DEFAULT",
    graph("start > r; r yes> end", { r: byConditions([["yes", "true"]]) }),
    "node r",
    'Default to "yes"',
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
    "node r: value",
    "Compare state.a_out.verdict",
  ],
  [
    "W_EDGE_WITHOUT_LABEL",
    graph("start > r; r > end; r else> end", { r: byConditions([["yes", "true"]]) }),
    "edge e2: edge_label",
    'Use route "yes"',
  ],
  [
    "W_UNKNOWN_LABEL",
    graph("start > r; r yse> end; r else> end", { r: byConditions([["yes", "true"]]) }),
    "edge e2: edge_label",
    'Use route "yes"',
  ],
  [
    "W_ROLE_WITHOUT_AGENT",
    graph("start > c > end", {
      c: crewOf({
        crew: { agents: [member("w", "Writer")] },
        plan: { tasks: [{ task_id: "t", description: "d", required_role: "Editor" }] },
      }),
    }),
    "node c: plan",
  ],
  [
    "W_NO_OUTPUT",
    graph("start > a > end", { a: { output_keys: [] } }),
    "node a: output_keys",
    "Save it as a_result",
  ],
  [
    "W_NO_ERROR_EDGE",
    graph("start > a > end", { a: { on_error: "error_edge" } }),
    "node a: on_error",
    "Fail the run instead",
  ],
  [
    "W_ERROR_EDGE_UNUSED",
    graph("start > a > end; a !> b > end", { a: { on_error: "continue" } }),
    "edge e3",
    "Follow the error path",
  ],
  [
    "W_EMPTY_TASK",
    graph("start > a > end", { a: agent({ task_description_template: " " }) }),
    "node a: task_description_template",
  ],
  [
    "W_EMPTY_TRANSFORM",
    graph("start > t > end", { t: { node_type: "transform", config: {} } }),
    "node t: set",
  ],
];

describe("problem codes", () => {
  test.each(cases)("%s is reported at its location, and its fix resolves it", (code, g, place, fixLabel) => {
    const found = find(g).find((problem) => problem.code === code && placeOf(problem) === place);
    expect(found?.severity).toBe(code.startsWith("E_") ? "error" : "warning");
    expect(found?.fix?.label).toBe(fixLabel);
    if (!found?.fix) return;
    const mended = applyFix(g, found.fix);
    expect(find(mended).filter(({ message }) => message === found.message)).toEqual([]);
    expect(WorkflowGraph.safeParse(mended).success).toBe(true);
  });

  test("W_ROUTER_NO_DEFAULT can be dismissed so that the run fails and shows the value", () => {
    const g = graph("start > r; r yes> end", { r: { config: { kind: "value", value: "state.status" } } });
    const found = find(g).find(({ code }) => code === "W_ROUTER_NO_DEFAULT");
    expect(found?.dismiss?.label).toBe("Fail and show the value");
    const codes = find(found?.dismiss ? applyFix(g, found.dismiss) : g).map(({ code }) => code);
    expect(codes).not.toContain("W_ROUTER_NO_DEFAULT");
  });

  test("W_ROUTER_READS_OBJECT is reported if no field of the role has the node's key", () => {
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

  test("W_PRICE_UNKNOWN is reported for a cost budget and a model without a known price", () => {
    const own = { model: "mystery", provider_id: "p" };
    const g = graph("start > a > b > c > end", {
      a: agent({ llm_config: own }),
      b: agent({}),
      c: crewOf({ crew: { agents: [member("w", "Writer", { llm_config: own })] } }),
    });
    const places = (has: WorkflowGraph, isKnown?: (choice: { model?: string | undefined }) => boolean) =>
      findProblems(has, [...builtinRoles, toolsmith], undefined, { isPriceKnown: isKnown })
        .filter(({ code }) => code === "W_PRICE_UNKNOWN")
        .map(({ severity, at: { kind, id, field } }) => [severity, id ?? kind, field]);
    const inDollars = { ...g, config: RunConfig.parse({ budget: { max_cost_usd: 1 } }) };
    expect(places(inDollars, () => false)).toEqual([
      ["warning", "workflow", "budget.max_cost_usd"],
      ["warning", "a", "llm_config"],
      ["warning", "c", "crew"],
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
    expect(places({ ...backed, config: inDollars.config }, ({ model }) => model !== "mystery")).toEqual([
      ["warning", "a", "llm_config"],
    ]);
  });

  test("a workflow with too many nodes or edges is reported as too large", () => {
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

  test("a node with more expressions than a step can evaluate is too large", () => {
    const sets = (count: number) => {
      const set = Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, `${i} + 1`]));
      return find(
        graph("start > t > end", {
          t: { node_type: "transform", config: { set }, output_keys: Object.keys(set) },
        }),
      ).filter(({ code }) => code === "E_NODE_TOO_LARGE");
    };
    expect(sets(1_000)).toEqual([]);
    expect(sets(6_000)[0]?.message).toMatch(/expressions of "t" have 4\d,\d{3} characters in total/);
  });

  test("a node with more outgoing conditions than a step can evaluate is too large", () => {
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
    expect(withConditions(50)[0]?.message).toMatch(/outgoing conditions of "a" have 5\d,\d{3} characters/);
  });

  test("a workflow with too many expressions and templates is reported once and not read further", () => {
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
      /have 3\d\d,\d{3} characters in total; only 262,144 were checked/,
    );
    // Plain text of a prompt costs nothing to read.
    expect(
      codes(graph("start > a > end", { a: agent({ task_description_template: "x".repeat(60_000) }) })),
    ).toEqual([]);
  });

  test("edge conditions count toward the workflow's expression limit", () => {
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

test("a secret in a node's settings gets a dismissible warning at its field", () => {
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

describe("workflows without problems", () => {
  test.each([
    [
      "two branches of a router that write the same key",
      graph("start > r; r x> a > c; r y> b > c > end", {
        a: { output_keys: ["k"] },
        b: { output_keys: ["k"] },
      }),
    ],
    [
      "a router after a join that chooses between two writers",
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
      "sequential writers",
      graph("start > a > b > end; start > b", { a: { output_keys: ["k"] }, b: { output_keys: ["k"] } }),
    ],
    ["an error edge that leads back", graph("start > a > end; a !> a")],
    [
      "a key that a loop feeds back",
      graph("start > a > r; r again> a; r else> end", {
        a: { optional_input_keys: ["a_out"] },
        r: byConditions([["again", 'state.a_out != ""']]),
      }),
    ],
    [
      "a loop that a person's answer ends",
      graph("start > a > g; g rejected> a; g approved> end", { g: { node_type: "approval_gate" } }),
    ],
    ["a loop that a model's choice ends", graph("start > a > r; r again> a; r else> end")],
    [
      "a missing key with a default in the template",
      graph("start > a > end", {
        a: agent({ task_description_template: '{{k | default: "-"}}' }, { output_keys: ["o"] }),
      }),
    ],
    [
      "a missing key that the condition handles",
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
      "the error value after an error edge",
      graph("start > a > end; a !> b > end", {
        b: agent({ task_description_template: "{{_error.message}}" }, { output_keys: ["o"] }),
      }),
    ],
  ])("no problem is reported for %s", (_title, g) => {
    expect(find(g)).toEqual([]);
  });

  test("no problem is reported for the reference workflow", () => {
    expect(find(templateOf("approval").graph)).toEqual([]);
  });
});

describe("parallel writers", () => {
  test("writers behind a router in mode all, or behind two edges with the same label, are parallel", () => {
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

  test("parallel writes of a key are reported once, however many writers there are", () => {
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
    ["it's an optional input", before, { ...nodes, b: { optional_input_keys: ["text"] } }],
    [
      "the start node asks for it",
      before,
      { ...nodes, start: { output_keys: ["n", "text"] }, b: { input_keys: ["text"] } },
    ],
    [
      "it's read within the loop",
      "start > r; r again> a > b > r; r out> end",
      { ...nodes, b: { input_keys: ["text"] } },
    ],
  ])("a key that a loop writes is reliable if %s", (_, drawing, settings) => {
    expect(risky(graph(drawing, settings))).toEqual([]);
  });
});

describe("available keys", () => {
  const at = (g: WorkflowGraph, id: string) =>
    keysAvailableAt(g, id).map(({ key, from, certain }) => `${key}${certain ? "" : "?"} ${from.join(",")}`);

  test("keys from the previous iteration of a loop are uncertain", () => {
    expect(at(templateOf("code-and-review").graph, "develop")).toEqual([
      "feature_request start",
      "code? develop",
      "issues? review",
      "summary? review",
      "verdict? review",
    ]);
  });

  test("after a join of all branches, the keys of every branch are certain", () => {
    expect(at(templateOf("parallel-views").graph, "brief")).toEqual([
      "facts facts",
      "idea start",
      "risks risks",
      "story story",
    ]);
    const any = {
      ...templateOf("parallel-views").graph,
      nodes: {
        ...templateOf("parallel-views").graph.nodes,
        brief: { ...templateOf("parallel-views").graph.nodes.brief!, join: "any" as const },
      },
    };
    expect(at(any, "brief")).toEqual(["idea start", "facts? facts", "risks? risks", "story? story"]);
  });

  test("after a router, keys written on a single route are uncertain", () => {
    const g = graph(
      "start > r; r x> a > end; r y> b > end",
      {},
      { global_state_schema: { properties: { given: { default: 0 } } } },
    );
    expect(at(g, "end")).toEqual(["given ", "a_out? a", "b_out? b"]);
    expect(at(g, "a")).toEqual(["given "]);
  });

  test("keys of a node that can fail without ending the run are uncertain", () => {
    expect(at(graph("start > a > end", { a: { on_error: "continue" } }), "end")).toEqual(["a_out? a"]);
    expect(at(graph("start > a > end; a !> end"), "end")).toEqual(["a_out? a"]);
  });
});

describe("any graph", () => {
  test("checking any graph never throws, and every fix yields a valid graph", () => {
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
      { numRuns: sized(60, 500) },
    );
  });

  test("fixes turn loops with several entries into loops with a single entry", () => {
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

  test("fixing a loop that a node enters twice keeps one of the two edges", () => {
    const g = graph("start > a > r; start > b > a; r on> b; r out> end");
    const { fix } = find(g).find(({ code }) => code === "W_IRREDUCIBLE_LOOP")!;
    const from = (edges: typeof g.edges) =>
      edges.filter(({ source_node_id }) => source_node_id === "start").map((edge) => edge.target_node_id);
    expect(from(g.edges)).toEqual(["a", "b"]);
    expect(from(applyFix(g, fix!).edges)).toEqual(["a"]);
  });
});

describe("unchecked schema keywords", () => {
  const notes = (g: WorkflowGraph) =>
    findProblems(g, [{ name: "Writer", tools: [] }])
      .filter(({ code }) => code === "W_NOT_CHECKED" || code === "W_SLOW_PATTERN")
      .map(({ at, message }) => [at.id ?? at.kind, at.field, message]);
  const why = "properties.x.pattern: the pattern (?<=a)b is not checked: it has a lookahead or lookbehind.";

  test("unchecked keywords are reported in schemas of nodes, state and guardrails", () => {
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
      ["start", "input_schema", containing(why)],
      ["a", "output_schema", containing(`"colour" is not checked. At ${why}`)],
      ["a", "guardrails.0", containing(why)],
      ["a", "guardrails.1", containing("it has a backreference.")],
      ["workflow", "global_state_schema.properties.z", containing(`"#/$defs/none" doesn't exist`)],
      ["workflow", "global_state_schema", containing('not "required"')],
    ]);
  });

  test("fully checked schemas are not reported", () => {
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
