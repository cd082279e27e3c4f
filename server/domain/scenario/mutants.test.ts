import { describe, expect, test } from "vitest";
import { RoleDefinition } from "@/server/domain/agent/role";
import { type WorkflowEdge, WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { type Mutant, type MutantKind, mutantsOf } from "./mutants";

const guardrail = (name: string) => ({ name, kind: "regex" as const, spec: "x" });
const edgeLabels = ({ edges }: WorkflowGraph) =>
  edges.map((edge) => {
    const way = edge.edge_label ?? edge.condition ?? (edge.kind === "error" ? "!" : "");
    return `${edge.source_node_id} ${way}> ${edge.target_node_id}`;
  });
const ofKind = (kind: MutantKind, graph: WorkflowGraph, roles: RoleDefinition[] = []) =>
  mutantsOf(graph, roles).filter((one) => one.kind === kind);
const withEdge = (graph: WorkflowGraph, at: number, more: Partial<WorkflowEdge>): WorkflowGraph => ({
  ...graph,
  edges: graph.edges.map((edge, k) => (k === at ? { ...edge, ...more } : edge)),
});
/** The place of each, with what the change is looked at by. */
const describeMutants = (mutants: readonly Mutant[], describe: (mutant: Mutant) => unknown) =>
  mutants.map((one) => {
    expect(one.sentence).toMatch(/\.$/);
    return [[one.node_id, one.edge_id].filter(Boolean).join(" "), describe(one)];
  });

test("a plain workflow is mutated by removing its nodes and renaming their keys, each with an id", () => {
  const graph = draw("start > a > end", { a: { name: "First", output_keys: ["a"] } });
  const roles = [RoleDefinition.parse({ name: "Unused" })];
  expect(mutantsOf(graph, roles).map(({ graph: _, roles: same, ...one }) => [one, same])).toEqual([
    [{ id: "m1", kind: "node_skipped", sentence: "First was removed.", node_id: "a" }, roles],
    [{ id: "m2", kind: "key_renamed", sentence: "First wrote a_2 instead of a.", node_id: "a" }, roles],
  ]);
});

describe("swapped edges", () => {
  const swaps = (graph: WorkflowGraph) =>
    describeMutants(ofKind("edges_swapped", graph), (one) => edgeLabels(one.graph));
  test("neighboring routes of a node are swapped", () => {
    const graph = draw("start > r; r yes> a > end; r no> b > end; r else> end2", { r: { name: "Check" } });
    expect(swaps(graph)).toEqual([
      ["r e1", ["start > r", "r yes> b", "a > end", "r no> a", "b > end", "r else> end2"]],
      ["r e3", ["start > r", "r yes> a", "a > end", "r no> end2", "b > end", "r else> b"]],
    ]);
  });
  test("swapped edges are named by their conditions or condition names, or as otherwise", () => {
    const graph = withEdge(draw("start > a; a > b; a > c; a > end"), 1, { condition: "state.x" });
    const late = withEdge(graph, 3, { condition_name: "late" });
    expect(ofKind("edges_swapped", late).map(({ sentence }) => sentence)).toEqual([
      "The routes “state.x” and “otherwise” of a were swapped.",
      "The routes “otherwise” and “late” of a were swapped.",
    ]);
  });
  test.each([
    ["lead to the same node", "start > r; r yes> a; r no> a; a > end"],
    ["are both always taken", "start > a; a > b > end; a > c > end2"],
    ["are a normal edge and an error edge", "start > a; a ok> b > end; a !> end2"],
  ])("edges are not swapped if they %s", (_what, text) => {
    expect(swaps(draw(text))).toEqual([]);
  });
});

describe("negated and dropped conditions", () => {
  const both = (graph: WorkflowGraph, describe: (mutant: Mutant) => unknown) =>
    describeMutants([...ofKind("condition_negated", graph), ...ofKind("condition_dropped", graph)], describe);
  const router = (kind: string) =>
    draw("start > r; r a> end; r b> end2", {
      r: {
        config: {
          kind,
          value: "state.r",
          conditions: [
            { label: "a", when: "state.a" },
            { label: "b", when: " " },
          ],
        },
      },
    });
  test("a router's condition is negated and dropped unless it is blank", () => {
    const conditions = ({ graph }: Mutant) => (graph.nodes.r?.config as { conditions: unknown }).conditions;
    expect(both(router("expression"), conditions)).toEqual([
      [
        "r",
        [
          { label: "a", when: "!(state.a)" },
          { label: "b", when: " " },
        ],
      ],
      [
        "r",
        [
          { label: "a", when: "true" },
          { label: "b", when: " " },
        ],
      ],
    ]);
  });
  test("conditions of a router that routes by value are left unchanged", () => {
    expect(both(router("value"), () => null)).toEqual([]);
  });
  test("an edge's condition is negated and dropped, and no other edge changes", () => {
    const graph = withEdge(draw("start > a > end", { a: { name: "First" } }), 1, { condition: "state.x" });
    expect(both(graph, ({ graph: changed }) => changed.edges)).toEqual([
      ["a e1", withEdge(graph, 1, { condition: "!(state.x)" }).edges],
      ["a e1", draw("start > a > end").edges],
    ]);
  });
  test("a blank edge condition is left unchanged", () => {
    expect(both(withEdge(draw("start > a > end"), 1, { condition: " " }), () => null)).toEqual([]);
  });
  test("a node's condition is negated and dropped, even on an end node", () => {
    const graph = draw("start > a > end", {
      a: { name: "First", when: "state.x" },
      end: { when: "state.y" },
    });
    expect(both(graph, ({ graph: { nodes } }) => [nodes.a?.when, nodes.end?.when])).toEqual([
      ["a", ["!(state.x)", "state.y"]],
      ["end", ["state.x", "!(state.y)"]],
      ["a", [undefined, "state.y"]],
      ["end", ["state.x", undefined]],
    ]);
  });
  test("conditions of start nodes and notes and blank conditions are left unchanged", () => {
    const graph = draw("start > a > end; note > end", {
      start: { when: "state.x" },
      a: { when: " " },
      note: { node_type: "note", config: {}, when: "state.x" },
    });
    expect(both(graph, () => null)).toEqual([]);
  });
});

describe("removed nodes", () => {
  const skips = (graph: WorkflowGraph, kind: MutantKind = "node_skipped") =>
    describeMutants(ofKind(kind, graph), (one) => [Object.keys(one.graph.nodes), edgeLabels(one.graph)]);
  test("a removed node is bypassed by all its incoming edges", () => {
    expect(skips(draw("start > r; r yes> a; r no> a; a > end"))).toEqual([
      [
        "a",
        [
          ["start", "r", "end"],
          ["start > r", "r yes> end", "r no> end"],
        ],
      ],
    ]);
  });
  test("a node is removed together with its error edge", () => {
    expect(skips(draw("start > a; a > end; a !> end2"))[0]).toEqual([
      "a",
      [["start", "end", "end2"], ["start > end"]],
    ]);
  });
  test("a node with several outgoing edges, none or an edge to itself isn't removed", () => {
    expect(skips(draw("start > a; a > b; a > c"))).toEqual([]);
    expect(skips(draw("start > a; a > a"))).toEqual([]);
  });
  test("an approval gate is replaced by its first route", () => {
    const gate = { node_type: "approval_gate", name: "Sign", config: {} };
    expect(
      skips(draw("start > gate; gate approved> a; gate rejected> end; a > end", { gate }), "person_removed"),
    ).toEqual([
      [
        "gate",
        [
          ["start", "a", "end"],
          ["start > a", "a > end"],
        ],
      ],
    ]);
  });
});

test("each guardrail of a node is removed, named by its name or its number", () => {
  const config = { required_role: "Writer", guardrails: [guardrail("short"), guardrail("")] };
  const graph = draw("start > a > end", { a: { node_type: "agent_task", config } });
  const left = ({ graph: { nodes } }: Mutant) =>
    (nodes.a?.config as { guardrails: { name: string }[] }).guardrails.map(({ name }) => name);
  expect(describeMutants(ofKind("guardrail_removed", graph), left)).toEqual([
    ["a", [""]],
    ["a", ["short"]],
  ]);
  expect(ofKind("guardrail_removed", graph).map(({ sentence }) => sentence)).toEqual([
    "a had no guardrail “short”.",
    "a had no guardrail “2”.",
  ]);
});

test("each human review of a crew's task is removed", () => {
  const task = (task_id: string, human_review: boolean) => ({ task_id, description: "do it", human_review });
  const graph = draw("start > crew > end", {
    crew: {
      node_type: "crew_task",
      name: "Desk",
      config: {
        plan: { user_instruction: "go", tasks: [task("one", true), task("two", false), task("three", true)] },
      },
    },
  });
  const reviews = ({ graph: { nodes } }: Mutant) => {
    const { plan } = nodes.crew?.config as {
      plan: { user_instruction: string; tasks: { human_review: boolean }[] };
    };
    return [plan.user_instruction, ...plan.tasks.map(({ human_review }) => human_review)];
  };
  expect(describeMutants(ofKind("person_removed", graph), reviews)).toEqual([
    ["crew", ["go", false, false, true]],
    ["crew", ["go", true, false, false]],
  ]);
});

test("a key is renamed where it is written, without collisions or names over the length limit", () => {
  const longest = "x".repeat(64);
  const graph = {
    ...draw("start > a > w > end", {
      a: { output_keys: ["a", "b", "c", "c_2", longest], config: { set: { a: "1", z: "2" } } },
      w: { output_keys: ["k"] },
    }),
    global_state_schema: { type: "object", properties: { b_2: {} } },
  };
  const written = ({ graph: { nodes } }: Mutant) => [
    nodes.a?.output_keys,
    nodes.a?.config,
    nodes.w?.output_keys,
  ];
  const [keys, set] = [["a", "b", "c", "c_2", longest], { set: { a: "1", z: "2" } }];
  expect(describeMutants(ofKind("key_renamed", graph), written)).toEqual([
    ["a", [["a_2", ...keys.slice(1)], { set: { a_2: "1", z: "2" } }, ["k"]]],
    ["a", [["a", "b", "c", "c_2_2", longest], set, ["k"]]],
    ["w", [keys, set, ["k_2"]]],
  ]);
});

test("each role in use gets one more tool, and loses each of its guardrails", () => {
  const role = (name: string, tools: string[], guardrails: object[] = []) =>
    RoleDefinition.parse({ name, tools, guardrails });
  const writer = role("Writer", ["http_request"], [guardrail("short"), guardrail("")]);
  const graph = draw("start > a > b > c > end", {
    a: { node_type: "agent_task", config: { required_role: "Writer" } },
    b: { node_type: "agent_task", config: { required_role: "All" } },
    c: { node_type: "agent_task", config: { required_role: "Three" } },
  });
  const roles = [
    writer,
    role("All", ["*"]),
    role("Three", ["web_search", "file_write", "http_request"]),
    role("Idle", []),
  ];
  const made = mutantsOf(graph, roles).filter(
    ({ kind }) => kind === "tool_widened" || kind === "guardrail_removed",
  );
  expect(
    describeMutants(made, (one) => [
      one.graph === graph,
      one.roles[0]?.tools,
      one.roles[0]?.guardrails.map(({ name }) => name),
      one.roles.slice(1),
    ]),
  ).toEqual([
    ["", [true, ["http_request", "file_write"], ["short", ""], roles.slice(1)]],
    ["", [true, ["http_request"], [""], roles.slice(1)]],
    ["", [true, ["http_request"], ["short"], roles.slice(1)]],
  ]);
});

describe("removed limits", () => {
  const drawn = draw("start > a > end", { a: { name: "Loop", max_iterations: 3 } });
  const withBudget = (budget: object) => WorkflowGraph.parse({ ...drawn, config: { budget } });
  const lifted = (graph: WorkflowGraph) =>
    describeMutants(ofKind("limit_removed", graph), (one) => [
      one.graph.config?.budget.max_cost_usd ?? null,
      one.graph.config?.budget.max_total_tokens ?? null,
      one.graph.nodes.a?.max_iterations,
    ]);
  const loop = (cost: number | null, tokens: number | null) => ["a", [cost, tokens, undefined]];
  test("the iteration limit of a loop is removed", () => {
    expect(lifted(drawn)).toEqual([loop(null, null)]);
  });
  test("a cost limit is removed on its own, even if it is 0", () => {
    expect(lifted(withBudget({ max_cost_usd: 0, max_total_tokens: null }))).toEqual([
      ["", [null, null, 3]],
      loop(0, null),
    ]);
  });
  test("a token limit is removed on its own", () => {
    expect(lifted(withBudget({ max_cost_usd: 2, max_total_tokens: 50 })).slice(1)).toEqual([
      ["", [2, null, 3]],
      loop(2, 50),
    ]);
  });
});
