import fc from "fast-check";
import type { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import type { Json } from "@/server/domain/base/values";
import { type WorkflowEdge, WorkflowGraph } from "@/server/domain/graph/graph";
import { getNodeKind, type WorkflowNode } from "../nodes";
import { configSchema } from "../nodes/schemas";

const text = fc.string({ maxLength: 20, unit: "grapheme" });
const key = fc.constantFrom("request", "notes", "draft", "verdict", "issues", "score", "summary", "flag");
const keys = fc.uniqueArray(key, { maxLength: 3 });
/** Without the words that reading leaves out of every document. */
const json = fc
  .jsonValue({ maxDepth: 2 })
  .filter(
    (value) => !/"(?:__proto__|prototype|constructor)":/.test(JSON.stringify(value)),
  ) as fc.Arbitrary<Json>;
const expression = fc.constantFrom(
  'state.verdict == "approve"',
  "state.score > 3",
  "has(state.flag)",
  "true",
);
const value = fc.constantFrom("state.score + 1", "state.notes", '"text"', "[1, 2]", "{'a': state.draft}");
const role = fc.constantFrom("Writer", "Researcher", "QualityReviewer");
const template = fc.constantFrom(
  "",
  "Do it.",
  "Write about {{request}}",
  '{{ notes | default: "-" }} {{draft.title}}',
);
const ms = fc.integer({ min: 0, max: 100_000 });

/** Leaves a field out as often as not, so that defaults are met, too. */
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const fields = <T>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(shape, { requiredKeys: [] });

const llm = fields({
  model: text,
  temperature: fc.constantFrom(0, 0.5, 1),
  max_tokens: fc.integer({ min: 1, max: 9 }),
});

const agent = (agent_id: string) =>
  fc.record({
    agent_id: fc.constant(agent_id),
    role_name: role,
    backstory: maybe(text),
    max_iterations: maybe(fc.integer({ min: 1, max: 20 })),
    llm_config: maybe(llm),
  });

const crew = fc.record({
  crew_id: maybe(fc.constant("team")),
  agents: fc.tuple(agent("first"), agent("second")).map((agents) => agents),
  process: fc.constantFrom("sequential" as const, "parallel" as const),
  planning: fc.boolean(),
  max_parallel: maybe(fc.integer({ min: 1, max: 16 })),
});

const plan = fc.record({
  user_instruction: maybe(text),
  tasks: fc.tuple(
    fc.record({ task_id: fc.constant("t1"), description: fc.constant("First"), required_role: maybe(role) }),
    fc.record({
      task_id: fc.constant("t2"),
      description: fc.constant("Second"),
      dependencies: fc.constantFrom([], ["t1"]),
      priority: fc.constantFrom("low", "HIGH", "medium"),
      metadata: fields({ tags: fc.array(text, { maxLength: 2 }), note: json }),
      output: maybe(json),
    }),
  ),
});

const configs: Record<string, fc.Arbitrary<unknown>> = {
  start: fields({
    request: text,
    input_schema: fc.constant({ type: "object", properties: { request: { type: "string", title: "R" } } }),
  }),
  end: fields({ terminate: fc.boolean(), status: fc.constantFrom("COMPLETED", "ERROR") }),
  agent_task: fc.record({
    required_role: role,
    task_description_template: template,
    expected_output: maybe(text),
    llm_config: maybe(llm),
    output_schema: maybe(
      fc.constant({ type: "object", properties: { z: { type: "string" }, a: { type: "number" } } }),
    ),
  }),
  crew_task: fc.record({ plan_description_template: template, crew: maybe(crew), plan: maybe(plan) }),
  conditional_router: fc.oneof(
    fc.record({
      kind: fc.constant("expression"),
      conditions: fc.tuple(expression, expression).map(([a, b]) => [
        { label: "yes", when: a },
        { label: "no", when: b },
      ]),
      mode: fc.constantFrom("first", "all"),
      default_label: maybe(fc.constantFrom("no", "otherwise")),
    }),
    fc.record({ kind: fc.constant("value"), value: fc.constant("state.verdict") }),
    fc.record({ kind: fc.constant("llm"), instruction: template }),
    fc.constant({ router_function_name: "approval_status_router" }),
  ),
  transform: fc.record({ set: fc.dictionary(key, value, { maxKeys: 3 }) }),
  wait: fc.record({ ms }),
  note: fields({ text }),
};

const base = fields({
  name: text,
  description: text,
  input_keys: keys,
  optional_input_keys: keys,
  output_keys: keys,
  input_mapping: fc.dictionary(key, value, { maxKeys: 2 }),
  output_mapping: fc.dictionary(key, value, { maxKeys: 2 }),
  join: fc.oneof(
    fc.constantFrom("all" as const, "any" as const, "each" as const),
    fc.record({
      n: fc.integer({ min: 1, max: 3 }),
      on_shortfall: fc.constantFrom("skip" as const, "error" as const, "fire" as const),
    }),
  ),
  when: expression,
  retry: fields({ max_attempts: fc.integer({ min: 1, max: 5 }), jitter: fc.constantFrom(0, 0.25) }),
  on_error: fc.constantFrom(
    "fail_run" as const,
    "error_edge" as const,
    "continue" as const,
    "skip_branch" as const,
  ),
  default_output: fc.dictionary(key, json, { maxKeys: 2 }),
  run_timeout_ms: ms,
  concurrency_key: text,
  breakpoint: fc.constantFrom("before" as const, "after" as const),
  max_iterations: fc.integer({ min: 1, max: 50 }),
  ui: fc.record({
    x: fc.integer(),
    y: fc.double({ noNaN: true, noDefaultInfinity: true }),
    folded: fc.boolean(),
  }),
});

const schema = fields({
  type: fc.constant("object"),
  properties: fc.constant({
    score: { type: "number", default: 0 },
    notes: { type: "array", "x-reducer": "append" },
  }),
});

type GraphInput = z.input<typeof WorkflowGraph>;

/**
 * Any graph that the schema allows and whose edges are tied to nodes: all kinds, all fields, loops, joins, branches,
 * parts that are never reached. It may well have problems; it always begins at `start`.
 */
export function arbitraryGraph(options: { maxNodes?: number } = {}): fc.Arbitrary<WorkflowGraph> {
  const { maxNodes = 8 } = options;
  const kind = fc.constantFrom(...Object.keys(configs).filter((type) => type !== "start"));
  const node = fc
    .tuple(kind, base)
    .chain(([type, fixed]) => configs[type]!.map((config) => ({ ...fixed, node_type: type, config })));
  const start = fc
    .tuple(base, configs.start!)
    .map(([fixed, config]) => ({ ...fixed, node_type: "start", config }));
  return fc
    .tuple(start, fc.array(node, { maxLength: maxNodes - 1 }))
    .chain(([first, rest]) => {
      const nodes = Object.fromEntries(
        [first, ...rest].map((one, at) => {
          const id = at === 0 ? "start" : `n${at}`;
          return [id, { ...one, id }];
        }),
      ) as GraphInput["nodes"];
      const ids = Object.keys(nodes);
      const leaving = ids.filter((id) => getNodeKind(nodes[id]!.node_type).hasExit !== false);
      const entered = ids.filter((id) => getNodeKind(nodes[id]!.node_type).hasEntry !== false);
      const edges =
        entered.length === 0 ? fc.constant([]) : fc.array(edge(nodes, leaving, entered), { maxLength: 14 });
      return fc.record({
        nodes: fc.constant(nodes),
        edges: edges.map((list) => list.map((one, at) => ({ ...one, id: `e${at}` }))),
        more: fields({
          description: text,
          version: fc.integer({ min: 1, max: 9 }),
          global_state_schema: schema,
          config: fields({ max_steps: fc.integer({ min: 1, max: 5000 }), strict_state: fc.boolean() }),
        }),
        start: fc.boolean(),
      });
    })
    .map(({ nodes, edges, more, start }) =>
      WorkflowGraph.parse({
        graph_id: "any_graph",
        ...more,
        nodes,
        edges,
        ...defined({ start_node_id: start ? "start" : undefined }),
      }),
    );
}

function edge(
  nodes: GraphInput["nodes"],
  leaving: readonly string[],
  entered: readonly string[],
): fc.Arbitrary<Omit<WorkflowEdge, "id">> {
  return fc
    .tuple(fc.constantFrom(...leaving), fc.constantFrom(...entered))
    .chain(([source_node_id, target_node_id]) => {
      const node = nodes[source_node_id] as WorkflowNode;
      const kind = getNodeKind(node.node_type);
      const settings = configSchema(kind.type);
      const labels = (kind.exits?.(settings.parse(node.config)) ?? []).map(({ label }) => label);
      return fc.record(
        {
          source_node_id: fc.constant(source_node_id),
          target_node_id: fc.constant(target_node_id),
          kind: kind.routes
            ? fc.constant("normal" as const)
            : fc.constantFrom("normal" as const, "normal" as const, "error" as const),
          is_default: kind.routes ? fc.boolean() : fc.constant(false),
          ...defined({ edge_label: kind.routes ? fc.constantFrom(...labels, "yes", "else") : undefined }),
          ...(kind.routes ? {} : { condition: maybe(expression), condition_name: maybe(key) }),
        },
        { noNullPrototype: true },
      );
    });
}
