import type { Guardrail, RoleDefinition } from "@/server/domain/agent/role";
import { describeUnchecked, guardrailNote, uncheckedOfState } from "@/server/domain/agent/unchecked";
import { GRAPH_LIMITS } from "@/server/domain/base/sizes";
import type { JsonSchema } from "@/server/domain/base/values";
import { MAX_EXPRESSION_CHARS } from "@/server/domain/base/work-budget";
import { type Analysis, analyse, sideEntries } from "@/server/domain/graph/analysis";
import { type KeySet, parallelWrites, possibleKeys } from "@/server/domain/graph/data-flow";
import { stateProperties, type WorkflowEdge, type WorkflowGraph } from "@/server/domain/graph/graph";
import { keySchema } from "@/server/domain/graph/state-check";
import { capabilitiesOf, describeCapability } from "@/server/domain/library/capabilities";
import { EMPTY_LIBRARY, type Library, withLibrary } from "@/server/domain/library/library";
import { isStandard, type ModelChoice, modelUses } from "@/server/domain/library/model-uses";
import { isDefaultWord } from "@/server/domain/nodes/conditional-router";
import { checkExpression, expressionReads, type TextFault } from "@/server/domain/text/expression";
import { checkTemplate, templateReads } from "@/server/domain/text/template";
import { findRouterFunction } from "@/server/domain/tool/router-functions";
import { isGranted } from "@/server/domain/tool/tool";
import { type AnyNodeKind, getNodeKind, type WorkflowNode, writtenKeys } from "../nodes";
import type { Fix } from "./fixes";
import { charsOf, planReading, type Reading } from "./reading";

export { type AvailableKey, keysAvailableAt } from "@/server/domain/graph/data-flow";
export { applyFix, type Fix } from "./fixes";

/** Something wrong with a workflow, with its place and what to do about it. Errors stop a run, warnings do not. */
export interface Problem {
  severity: "error" | "warning";
  code: string;
  message: string;
  at: {
    kind: "workflow" | "node" | "edge";
    id?: string;
    /** The field of the settings, dotted: `required_role`, `conditions.0`, `input_mapping.name`. */
    field?: string;
    /** Offsets into the field's text. */
    from?: number;
    to?: number;
  };
  fix?: Fix;
}

/** Looking for what a misspelt key may mean is slow where hundreds are wrong, and the first few show the pattern. */
const MAX_HINTS = 20;

type Add = (
  severity: Problem["severity"],
  code: string,
  at: Problem["at"],
  message: string,
  fix?: Fix,
) => void;

interface Check {
  graph: WorkflowGraph;
  analysis: Analysis;
  add: Add;
  /** Edges between nodes that exist, by source, also where a run never comes. */
  outgoing: ReadonlyMap<string, readonly WorkflowEdge[]>;
  reading: Reading;
}

/** What is known of the installation. Where something is left out, nothing is said about it. */
export interface ProblemContext {
  /** Whether a model's price is known. */
  isPriceKnown?: ((choice: ModelChoice) => boolean) | undefined;
  /** Whether there is a tool of this name, or a server for `mcp:server/*`. */
  isToolKnown?: ((name: string) => boolean) | undefined;
  /** The crews and agents that may be named. */
  library?: Library | undefined;
  /** Keys of what this workflow may not use here, although it would: nobody allowed it when its file came in. */
  withheld?: readonly string[] | undefined;
}

/** Everything that is wrong with a workflow: first the errors, then the warnings, each in the order of the graph. */
export function findProblems(
  graph: WorkflowGraph,
  roles: readonly Pick<RoleDefinition, "name" | "tools">[],
  known?: Analysis,
  { isPriceKnown, isToolKnown, library, withheld = [] }: ProblemContext = {},
): Problem[] {
  const problems: Problem[] = [];
  const add: Add = (severity, code, at, message, fix) => {
    problems.push({ severity, code, message, at, ...(fix ? { fix } : {}) });
  };
  const analysis = known ?? analyse(graph);
  const outgoing = new Map<string, WorkflowEdge[]>();
  for (const edge of graph.edges) {
    if (!graph.nodes[edge.source_node_id] || !graph.nodes[edge.target_node_id]) continue;
    const list = outgoing.get(edge.source_node_id);
    if (list) list.push(edge);
    else outgoing.set(edge.source_node_id, [edge]);
  }
  const check: Check = { graph, analysis, add, outgoing, reading: planReading(graph) };
  checkSize(check);
  checkEnds(check);
  checkEdges(check);
  checkNodes(check, roles, { isToolKnown, library });
  if (library) checkLibrary(check, library);
  checkRouters(check);
  checkCycles(check);
  checkKeys(check);
  checkParallelWrites(check);
  checkStateSchema(check);
  if (isPriceKnown) checkPrices(check, isPriceKnown);
  if (withheld.length > 0) checkWithheld(check, roles, new Set(withheld), library);
  return problems.sort((a, b) => Number(a.severity === "warning") - Number(b.severity === "warning"));
}

export const hasErrors = (problems: readonly Problem[]): boolean =>
  problems.some(({ severity }) => severity === "error");

const nameOf = (node: WorkflowNode) => `"${node.name || node.id}"`;
const named = (graph: WorkflowGraph, id: string) => (graph.nodes[id] ? nameOf(graph.nodes[id]) : `"${id}"`);
const inWords = (count: number) => count.toLocaleString("en-US");
const quoted = (words: readonly string[]) => words.map((word) => `"${word}"`).join(", ");

/** Crews and agents that a node names must be in the library, unless a copy came with it. */
function checkLibrary({ graph, add }: Check, library: Library): void {
  for (const node of Object.values(graph.nodes)) {
    if (node.node_type === "agent_task" && !node.config.agent) {
      const { agent_ref } = node.config;
      if (agent_ref && !library.agent(agent_ref))
        add(
          "error",
          "E_AGENT_UNKNOWN",
          { kind: "node", id: node.id, field: "agent_ref" },
          `${nameOf(node)} asks for the agent "${agent_ref}", who is not in the library. Choose another agent, or only a role.`,
        );
    }
    if (node.node_type !== "crew_task" || node.config.crew) continue;
    const id = node.config.crew_id_or_config_ref;
    if (id && !library.crew(id))
      add(
        "error",
        "E_CREW_UNKNOWN",
        { kind: "node", id: node.id, field: "crew" },
        `${nameOf(node)} asks for the crew "${id}", which is not in the library. Choose another crew, or give it one of its own.`,
      );
  }
}

/** What came with a file is used only once a person has allowed it. */
function checkWithheld(
  { graph, add }: Check,
  roles: readonly Pick<RoleDefinition, "name" | "tools">[],
  withheld: ReadonlySet<string>,
  library: Library = EMPTY_LIBRARY,
): void {
  const asked = capabilitiesOf(withLibrary(graph, library), roles);
  const keys = new Set(asked.map(({ key }) => key));
  const left = [...withheld].flatMap((key) =>
    key.startsWith("tool:") && !keys.has(key) ? [key.slice(5)] : [],
  );
  if (left.length > 0)
    add(
      "warning",
      "W_LEFT_OUT",
      { kind: "workflow" },
      `Its roles came without ${quoted(left)}: nobody ticked that when the workflow was imported. What a role may use is ticked on the Roles page.`,
    );
  for (const capability of asked) {
    if (!withheld.has(capability.key)) continue;
    for (const { node_id, role } of capability.where)
      add(
        "error",
        "E_NOT_ALLOWED",
        { kind: "node", ...(node_id === undefined ? {} : { id: node_id }) },
        `${named(graph, node_id ?? "")} would ${describeCapability(capability)}${role ? ` as ${role}` : ""}, which nobody has allowed since this workflow was imported.`,
        { kind: "allow", key: capability.key, label: "Allow it" },
      );
  }
}

/** A budget in dollars cannot be kept where nobody knows what a model costs. */
function checkPrices({ graph, add }: Check, isPriceKnown: (choice: ModelChoice) => boolean): void {
  if (graph.config?.budget?.max_cost_usd == null) return;
  const unknown = modelUses(graph).filter(({ choice }) => !isPriceKnown(choice));
  const advice = "Set it in the provider's settings, or limit tokens instead.";
  if (unknown.some(({ choice }) => isStandard(choice)))
    add(
      "warning",
      "W_PRICE_UNKNOWN",
      { kind: "workflow", field: "budget.max_cost_usd" },
      `This workflow has a budget in dollars, but the price of the standard model is unknown. ${advice}`,
    );
  const told = new Set<string>();
  for (const { node, field, choice } of unknown) {
    if (isStandard(choice) || told.has(node.id)) continue;
    told.add(node.id);
    add(
      "warning",
      "W_PRICE_UNKNOWN",
      { kind: "node", id: node.id, field },
      `This workflow has a budget in dollars, but the price of ${choice.model ? `"${choice.model}"` : "the model"}, which ${nameOf(node)} uses, is unknown. ${advice}`,
    );
  }
}

function checkSize({ graph, add, reading }: Check): void {
  const nodes = Object.keys(graph.nodes).length;
  const at = { kind: "workflow" as const };
  if (nodes > GRAPH_LIMITS.nodes)
    add(
      "error",
      "E_GRAPH_TOO_LARGE",
      at,
      `This workflow has ${nodes} nodes; at most ${GRAPH_LIMITS.nodes} can run. Split it.`,
    );
  if (graph.edges.length > GRAPH_LIMITS.edges)
    add(
      "error",
      "E_GRAPH_TOO_LARGE",
      at,
      `This workflow has ${graph.edges.length} edges; at most ${GRAPH_LIMITS.edges} can run. Split it.`,
    );
  let all = 0;
  for (const node of Object.values(graph.nodes)) {
    const size = sizeOf(node.config);
    all += size;
    if (size > GRAPH_LIMITS.configBytes)
      add(
        "error",
        "E_NODE_TOO_LARGE",
        { kind: "node", id: node.id },
        `The settings of ${nameOf(node)} take ${Math.ceil(size / 1024)} KiB; at most ${GRAPH_LIMITS.configBytes / 1024} KiB are possible. Shorten its texts.`,
      );
  }
  if (all > GRAPH_LIMITS.graphBytes)
    add(
      "error",
      "E_GRAPH_TOO_LARGE",
      at,
      "The settings of all nodes together take more than 2 MiB. Shorten their texts.",
    );
  if (reading.chars > GRAPH_LIMITS.readChars)
    add(
      "error",
      "E_GRAPH_TOO_LARGE",
      at,
      `The expressions and templates of this workflow have ${inWords(reading.chars)} characters together; at most ${inWords(GRAPH_LIMITS.readChars)} can be read, so the rest was not checked. Shorten them, or split the workflow.`,
    );
}

/** Roughly how many characters a value takes as JSON, without writing it. */
function sizeOf(value: unknown): number {
  let size = 0;
  const open: unknown[] = [value];
  for (let next = open.pop(); open.length > 0 || next !== undefined; next = open.pop()) {
    if (typeof next === "string") size += next.length + 2;
    else if (next !== null && typeof next === "object")
      for (const [key, inner] of Object.entries(next)) {
        size += key.length + 4;
        if (inner !== undefined && inner !== null) open.push(inner);
      }
    else size += 5;
  }
  return size;
}

/** Where a run begins and ends, and what it never comes to. */
function checkEnds({ graph, analysis, add, outgoing }: Check): void {
  const nodes = Object.values(graph.nodes);
  const starts = nodes.filter((node) => getNodeKind(node.node_type).begins);
  const workflow = { kind: "workflow" as const };
  const startId = graph.start_node_id;
  if (startId && !graph.nodes[startId]) {
    const only = starts[0];
    add(
      "error",
      "E_NO_START",
      { ...workflow, field: "start_node_id" },
      `This workflow begins at "${startId}", which does not exist. Choose the node where it begins.`,
      only
        ? { kind: "set_start", node_id: only.id, label: `Begin at ${nameOf(only)}` }
        : { kind: "add_start", label: "Add a start" },
    );
  } else if (!startId && starts.length === 0)
    add("error", "E_NO_START", workflow, "Add a start node: it says where a run begins.", {
      kind: "add_start",
      label: "Add a start",
    });
  const begins = analysis.start ?? starts[0]?.id;
  for (const node of starts)
    if (node.id !== begins)
      add(
        "error",
        "E_MANY_STARTS",
        { kind: "node", id: node.id },
        `A run begins in one place only, at ${named(graph, begins ?? "")}. Remove ${nameOf(node)}, or connect what follows it.`,
        { kind: "remove_node", node_id: node.id, label: "Remove this start" },
      );
  if (analysis.start === null) return;

  const isEnd = (id: string) => getNodeKind(graph.nodes[id]!.node_type).ends !== undefined;
  if (!analysis.order.some(isEnd))
    add(
      "warning",
      "W_NO_END",
      workflow,
      nodes.some((node) => isEnd(node.id))
        ? "No way leads from the start to an end, so a run stays incomplete. Connect one."
        : "Add an end node: without one a run stays incomplete.",
      nodes.some((node) => isEnd(node.id)) ? undefined : { kind: "add_end", label: "Add an end" },
    );
  for (const node of nodes) {
    const kind = getNodeKind(node.node_type);
    if (kind.executes === false || kind.begins || analysis.position.has(node.id)) continue;
    const isLoose = !graph.edges.some((edge) => edge.target_node_id === node.id);
    add(
      "warning",
      "W_UNREACHABLE",
      { kind: "node", id: node.id },
      isLoose
        ? `Nothing leads to ${nameOf(node)}, so it never runs. Connect it or remove it.`
        : `No way leads from the start to ${nameOf(node)}, so it never runs. Connect what comes before it.`,
      isLoose && !outgoing.has(node.id)
        ? { kind: "remove_node", node_id: node.id, label: "Remove this node" }
        : undefined,
    );
  }
}

function checkEdges({ graph, add, analysis, reading }: Check): void {
  const ids = new Set<string>();
  const seen = new Map<string, WorkflowEdge>();
  for (const edge of graph.edges) {
    const at = { kind: "edge" as const, id: edge.id };
    const remove: Fix = { kind: "remove_edge", edge_id: edge.id, label: "Remove this edge" };
    if (ids.has(edge.id))
      add(
        "error",
        "E_DUPLICATE_ID",
        at,
        `Two edges have the id "${edge.id}". Draw one of them anew.`,
        remove,
      );
    ids.add(edge.id);
    const source = graph.nodes[edge.source_node_id];
    const target = graph.nodes[edge.target_node_id];
    if (!source || !target) {
      const missing = source ? edge.target_node_id : edge.source_node_id;
      add(
        "error",
        "E_EDGE_UNKNOWN_NODE",
        at,
        `This edge is tied to "${missing}", which does not exist. Remove the edge.`,
        remove,
      );
      continue;
    }
    const from = getNodeKind(source.node_type);
    const to = getNodeKind(target.node_type);
    if (from.executes === false || from.hasExit === false)
      add(
        "error",
        "E_EDGE_NOT_ALLOWED",
        at,
        `Nothing can follow ${nameOf(source)}. Remove this edge.`,
        remove,
      );
    else if (to.executes === false || (to.hasEntry === false && !to.begins))
      add(
        "error",
        "E_EDGE_NOT_ALLOWED",
        at,
        `Nothing can lead to ${nameOf(target)}. Remove this edge.`,
        remove,
      );
    else if (to.begins)
      add(
        "warning",
        "W_START_HAS_INCOMING",
        at,
        `This edge leads back to ${nameOf(target)}; the run then begins anew with what it knows. If that is not meant, lead it to the node after.`,
      );

    const same = JSON.stringify([
      edge.source_node_id,
      edge.target_node_id,
      edge.edge_label ?? null,
      edge.kind,
      edge.condition ?? null,
      edge.condition_name ?? null,
    ]);
    if (seen.has(same))
      add(
        "error",
        "E_DUPLICATE_LABEL",
        at,
        edge.edge_label
          ? `Two edges from ${nameOf(source)} to ${nameOf(target)} are labelled "${edge.edge_label}". Remove one.`
          : `Two edges lead from ${nameOf(source)} to ${nameOf(target)} alike. Remove one.`,
        remove,
      );
    seen.set(same, edge);
    if (edge.condition !== undefined && reading.ofEdge(edge.id))
      reportText(
        add,
        "E_BAD_EXPRESSION",
        at,
        "condition",
        checkExpression(edge.condition, { result: "bool" }),
      );
    if (edge.kind === "error" && source.on_error === "continue")
      add(
        "warning",
        "W_ERROR_EDGE_UNUSED",
        at,
        `${nameOf(source)} goes on as if nothing had happened when it fails, so this edge is never taken. Set "When it fails" to follow the error edge.`,
        {
          kind: "set_node",
          node_id: source.id,
          set: { on_error: "error_edge" },
          label: "Follow the error edge",
        },
      );
  }
  for (const id of analysis.irreducible)
    add(
      "warning",
      "W_IRREDUCIBLE_LOOP",
      { kind: "edge", id },
      "This loop can be entered in two places, so its rounds cannot be told apart. Lead every way into it to the same node first.",
      oneEntry(graph, analysis, id),
    );
}

/** Leads every way into the loop of a back edge to where that edge leads. */
function oneEntry(graph: WorkflowGraph, analysis: Analysis, backEdge: string): Fix | undefined {
  const back = graph.edges.find(({ id }) => id === backEdge);
  const header = back && graph.nodes[back.target_node_id];
  if (!header) return undefined;
  return {
    kind: "lead_to",
    node_id: header.id,
    edge_ids: sideEntries(analysis, back).map(({ id }) => id),
    label: `Enter it at ${nameOf(header)} only`,
  };
}

function reportText(
  add: Add,
  code: string,
  place: Problem["at"],
  field: string,
  faults: readonly TextFault[],
): void {
  for (const { message, from, to } of faults) add("error", code, { ...place, field, from, to }, message);
}

function checkNodes(
  { graph, analysis, add, outgoing, reading }: Check,
  roles: readonly Pick<RoleDefinition, "name" | "tools">[],
  here: Pick<ProblemContext, "isToolKnown" | "library">,
): void {
  const known = new Map(roles.map((role) => [role.name, role]));
  for (const [key, node] of Object.entries(graph.nodes)) {
    const kind = getNodeKind(node.node_type);
    const at = { kind: "node" as const, id: key };
    if (node.id !== key)
      add("error", "E_DUPLICATE_ID", at, `The node "${key}" carries the id "${node.id}". Draw it anew.`, {
        kind: "set_node",
        node_id: key,
        set: { id: key },
        label: "Repair the id",
      });
    if (kind.executes === false) continue;
    for (const { severity, code, message, field } of kind.faults?.(node.config, node) ?? [])
      add(severity, code, field === undefined ? at : { ...at, field }, message);
    if (reading.ofNode(key)) checkTexts(add, at, node, kind, outgoing.get(key) ?? []);
    checkRules(add, at, node, kind);
    checkRoles(add, at, node, kind, known, { ...here, isRead: reading.ofNode(key) });
    checkErrorHandling(add, at, node, outgoing.get(node.id) ?? []);
    if (kind.group === "agents" && writtenKeys(node).length === 0) {
      const own = `${node.id.replace(/[^A-Za-z0-9_]/g, "_")}_result`;
      add(
        "warning",
        "W_NO_OUTPUT",
        { ...at, field: "output_keys" },
        `The answer of ${nameOf(node)} is kept nowhere. Name a key for it.`,
        {
          kind: "set_node",
          node_id: node.id,
          set: { output_keys: [own] },
          label: `Keep it as ${own}`,
        },
      );
    }
    if (typeof node.join === "object") {
      const ways = (analysis.incoming.get(node.id) ?? []).filter(
        (edge) => !analysis.backEdges.has(edge.id),
      ).length;
      if (node.join.n > ways && analysis.position.has(node.id))
        add(
          "error",
          "E_JOIN_N_TOO_LARGE",
          { ...at, field: "join" },
          `${nameOf(node)} waits for ${node.join.n} of its ways, but only ${ways} ${ways === 1 ? "leads" : "lead"} here.`,
          ways === 0
            ? undefined
            : {
                kind: "set_node",
                node_id: node.id,
                set: { join: { ...node.join, n: ways } },
                label: `Wait for ${ways}`,
              },
        );
    }
  }
}

function checkTexts(
  add: Add,
  at: Problem["at"],
  node: WorkflowNode,
  kind: AnyNodeKind,
  edges: readonly WorkflowEdge[],
): void {
  const own = kind.expressions?.(node.config) ?? [];
  const mapped = [node.input_mapping, node.output_mapping].map((mapping) => Object.values(mapping ?? {}));
  // What is evaluated at once shares one budget: the node's own, each mapping, and the conditions of the ways on.
  const ways = edges.flatMap(({ condition }) => (condition === undefined ? [] : [condition]));
  const long = [own.map(({ expression }) => expression), ...mapped, ways].find(
    (texts) => charsOf(texts) > MAX_EXPRESSION_CHARS,
  );
  if (long) {
    add(
      "error",
      "E_NODE_TOO_LARGE",
      at,
      `The ${long.length} ${long === ways ? "conditions of the ways on from" : "expressions of"} ${nameOf(node)} have ${inWords(charsOf(long))} characters together; one step can evaluate at most ${inWords(MAX_EXPRESSION_CHARS)}. Spread them over several nodes.`,
    );
    return;
  }
  for (const { field, expression, result } of own)
    reportText(add, "E_BAD_EXPRESSION", at, field, checkExpression(expression, { result: result ?? "any" }));
  for (const { field, template } of kind.templates?.(node.config) ?? [])
    reportText(add, "E_BAD_TEMPLATE", at, field, checkTemplate(template));
  if (node.when !== undefined)
    reportText(add, "E_BAD_EXPRESSION", at, "when", checkExpression(node.when, { result: "bool" }));
  for (const [key, expression] of Object.entries(node.input_mapping ?? {}))
    reportText(add, "E_BAD_EXPRESSION", at, `input_mapping.${key}`, checkExpression(expression));
  for (const [key, expression] of Object.entries(node.output_mapping ?? {}))
    reportText(add, "E_BAD_EXPRESSION", at, `output_mapping.${key}`, checkExpression(expression));
}

/** What a schema or a pattern asks for and nobody checks is told while drawing, never only left out. */
function checkRules(add: Add, at: Problem["at"], node: WorkflowNode, kind: AnyNodeKind): void {
  const config: Record<string, unknown> = node.config;
  const tell = (field: string, what: string, words: string) =>
    add(
      "warning",
      "W_NOT_CHECKED",
      { ...at, field },
      `${what} of ${nameOf(node)} is not checked as it stands. ${words}`,
    );
  const tellRules = (rules: unknown, field: string) =>
    ((rules ?? []) as readonly Guardrail[]).forEach((rule, position) => {
      const words = guardrailNote(rule);
      if (words && rule.kind === "regex")
        add(
          "warning",
          "W_SLOW_PATTERN",
          { ...at, field: `${field}.${position}` },
          `The guardrail "${rule.name}" of ${nameOf(node)} may be slow. ${words}`,
        );
      else if (words) tell(`${field}.${position}`, `The guardrail "${rule.name}"`, words);
    });
  for (const { key, as, label, showIf } of kind.fields) {
    const value = config[key];
    if (value === undefined || value === null || (showIf && !showIf(node.config))) continue;
    if (as === "schema") {
      const words = describeUnchecked(value as JsonSchema);
      if (words.length > 0) tell(key, `"${label}"`, words.join(" "));
    } else if (as === "guardrails") tellRules(value, key);
    else if (as === "plan")
      ((value as PlanLike).tasks ?? []).forEach(({ guardrails }, position) => {
        tellRules(guardrails, `${key}.tasks.${position}.guardrails`);
      });
  }
}

function checkStateSchema({ graph, add }: Check): void {
  const schema = graph.global_state_schema;
  if (!schema) return;
  const tell = (field: string, message: string) =>
    add("warning", "W_NOT_CHECKED", { kind: "workflow", field }, message);
  for (const [key, own] of Object.entries(stateProperties(graph))) {
    if (own === null || typeof own !== "object") continue;
    const words = describeUnchecked(keySchema(own, schema));
    if (words.length > 0)
      tell(
        `global_state_schema.properties.${key}`,
        `The shape of "${key}" in the state is not checked as it stands. ${words.join(" ")}`,
      );
  }
  const whole = uncheckedOfState(schema);
  if (whole.length > 0)
    tell(
      "global_state_schema",
      `The state is filled key by key, so only the shapes of its keys are checked, not ${quoted(whole)}. Say it of a key, or check it with an expression.`,
    );
}

interface CrewLike {
  agents?: readonly { agent_id: string; role_name: string }[];
}
interface PlanLike {
  tasks?: readonly {
    task_id: string;
    required_role?: string;
    assigned_agent?: string | null;
    condition?: string;
    guardrails?: readonly Guardrail[];
  }[];
}

/** Roles are found by the look of the fields that name them, so that a new kind needs nothing here. */
function checkRoles(
  add: Add,
  at: Problem["at"],
  node: WorkflowNode,
  kind: AnyNodeKind,
  known: ReadonlyMap<string, Pick<RoleDefinition, "name" | "tools">>,
  { isToolKnown, library, isRead }: Pick<ProblemContext, "isToolKnown" | "library"> & { isRead: boolean },
): void {
  const config: Record<string, unknown> = node.config;
  const unknown = (role: string, field: string, path: (string | number)[], who: string) => {
    const near = nearest(role, [...known.keys()]);
    add(
      "error",
      "E_UNKNOWN_ROLE",
      { ...at, field },
      `${who} asks for the role "${role}", which does not exist. Choose another role, or create this one.`,
      near === null
        ? undefined
        : { kind: "set_config", node_id: node.id, path, value: near, label: `Use ${near}` },
    );
  };
  const lacking = (role: Pick<RoleDefinition, "name" | "tools">, field: string) => {
    const missing = isToolKnown ? role.tools.filter((tool) => !isToolKnown(tool)) : [];
    if (missing.length > 0)
      add(
        "warning",
        "W_UNKNOWN_TOOL",
        { ...at, field },
        `The role ${role.name} lists ${quoted(missing)}, and there is no such tool here: it works without. Add the tool, or take it from the role.`,
      );
  };
  let crew: CrewLike | undefined;
  for (const { key, as, showIf } of kind.fields) {
    const value = config[key];
    if (value === undefined || value === "" || (showIf && !showIf(node.config))) continue;
    const agent =
      as === "agent_ref" && typeof value === "string"
        ? (library?.agent(value) ?? (config.agent as { role_name: string } | undefined))
        : undefined;
    const roleName = as === "role" ? value : agent?.role_name;
    if (typeof roleName === "string") {
      const role = known.get(roleName);
      if (!role && agent)
        add(
          "error",
          "E_UNKNOWN_ROLE",
          { ...at, field: key },
          `The agent "${value as string}" has the role "${roleName}", which does not exist. Give the agent another role, or create this one.`,
        );
      else if (!role) unknown(roleName, key, [key], nameOf(node));
      const beyond =
        role && Array.isArray(config.tools)
          ? (config.tools as string[]).filter(
              (tool) => !role.tools.includes(tool) && !isGranted(role.tools, tool),
            )
          : [];
      if (beyond.length > 0)
        add(
          "error",
          "E_TOOL_NOT_IN_ROLE",
          { ...at, field: "tools" },
          `The role ${role?.name} may not use ${quoted(beyond)}. Allow it in the role, or remove it here.`,
        );
      else if (role) lacking(role, key);
    }
    if (as === "crew") {
      crew = value as CrewLike;
      const ids = new Set<string>();
      (crew.agents ?? []).forEach(({ agent_id, role_name }, position) => {
        if (ids.has(agent_id))
          add(
            "error",
            "E_DUPLICATE_AGENT",
            { ...at, field: key },
            `Two agents of ${nameOf(node)} are called "${agent_id}". Rename one.`,
          );
        ids.add(agent_id);
        if (role_name === "")
          add(
            "error",
            "E_UNKNOWN_ROLE",
            { ...at, field: key },
            `Choose the role of the agent "${agent_id}".`,
          );
        else if (!known.has(role_name))
          unknown(role_name, key, [key, "agents", position, "role_name"], `The agent "${agent_id}"`);
      });
      for (const name of new Set((crew.agents ?? []).map(({ role_name }) => role_name))) {
        const role = known.get(name);
        if (role) lacking(role, key);
      }
    }
    if (as === "plan") {
      const agents = crew?.agents ?? [];
      ((value as PlanLike).tasks ?? []).forEach(
        ({ task_id, required_role, assigned_agent, condition }, position) => {
          if (condition !== undefined && isRead)
            reportText(
              add,
              "E_BAD_EXPRESSION",
              at,
              `${key}.tasks.${position}.condition`,
              checkExpression(condition, { result: "bool" }),
            );
          if (agents.length === 0) return;
          if (assigned_agent && !agents.some(({ agent_id }) => agent_id === assigned_agent))
            add(
              "warning",
              "W_ROLE_WITHOUT_AGENT",
              { ...at, field: key },
              `The task "${task_id}" is given to the agent "${assigned_agent}", who is not in the crew. Add the agent, or give the task to another.`,
            );
          else if (
            !assigned_agent &&
            required_role &&
            !agents.some(({ role_name }) => role_name === required_role)
          )
            add(
              "warning",
              "W_ROLE_WITHOUT_AGENT",
              { ...at, field: key },
              `The task "${task_id}" needs the role "${required_role}", which no agent of the crew has. Add such an agent, or choose another role.`,
            );
        },
      );
    }
  }
}

function checkErrorHandling(
  add: Add,
  at: Problem["at"],
  node: WorkflowNode,
  edges: readonly WorkflowEdge[],
): void {
  if (node.on_error === "error_edge" && !edges.some((edge) => edge.kind === "error"))
    add(
      "warning",
      "W_NO_ERROR_EDGE",
      { ...at, field: "on_error" },
      `${nameOf(node)} is to follow an error edge when it fails, but none leaves it, so the run would fail. Draw one.`,
      {
        kind: "set_node",
        node_id: node.id,
        set: { on_error: "fail_run" },
        label: "Fail the run instead",
      },
    );
}

function checkRouters({ graph, add, outgoing }: Check): void {
  for (const node of Object.values(graph.nodes)) {
    const kind = getNodeKind(node.node_type);
    if (!kind.routes) continue;
    const at = { kind: "node" as const, id: node.id };
    const edges = (outgoing.get(node.id) ?? []).filter((edge) => edge.kind !== "error");
    if (edges.length === 0) {
      add(
        "error",
        "E_ROUTER_NO_EDGES",
        at,
        `No way leads on from ${nameOf(node)}. Connect each of its labels to a node.`,
      );
      continue;
    }
    const exits = kind.exits?.(node.config) ?? [];
    const served = new Set(edges.flatMap(({ edge_label }) => (edge_label ? [edge_label] : [])));
    const isDefaultEdge = (edge: WorkflowEdge) =>
      edge.is_default ||
      (edge.edge_label
        ? isDefaultWord(edge.edge_label) ||
          exits.some((exit) => exit.isDefault && exit.label === edge.edge_label)
        : false);
    const hasDefault = edges.some(isDefaultEdge);
    const open = exits.filter(({ label }) => !served.has(label));
    for (const { label, isDefault } of open)
      if (!hasDefault)
        add(
          "error",
          "E_ROUTER_LABEL_WITHOUT_EDGE",
          at,
          isDefault
            ? `${nameOf(node)} takes "${label}" when nothing else fits, but no edge has this label. Draw it.`
            : `${nameOf(node)} can answer "${label}", but no edge has this label. Draw it, or mark another edge as the default.`,
        );
    const declared = exits.filter(({ isDefault }) => !isDefault).map(({ label }) => label);
    for (const edge of edges) {
      const place = { kind: "edge" as const, id: edge.id, field: "edge_label" };
      if (!edge.edge_label && !edge.is_default) {
        const label = open[0]?.label;
        add(
          "warning",
          "W_EDGE_WITHOUT_LABEL",
          place,
          `This edge leaves ${nameOf(node)} without a label, so it is never taken. Choose its label.`,
          label === undefined
            ? undefined
            : {
                kind: "set_edge",
                edge_id: edge.id,
                set: { edge_label: label },
                label: `Label it "${label}"`,
              },
        );
      } else if (
        edge.edge_label &&
        declared.length > 0 &&
        !isDefaultEdge(edge) &&
        !declared.includes(edge.edge_label)
      )
        add(
          "warning",
          "W_UNKNOWN_LABEL",
          place,
          `${nameOf(node)} does not name the label "${edge.edge_label}"; it names ${quoted(declared)}. Choose one of these, or this edge may never be taken.`,
          open.length === 1
            ? {
                kind: "set_edge",
                edge_id: edge.id,
                set: { edge_label: open[0]!.label },
                label: `Label it "${open[0]!.label}"`,
              }
            : undefined,
        );
    }
    // Expressions may hold for none of the labels; a registered rule and a model always answer one.
    const last = edges.at(-1)!;
    if (!hasDefault && (kind.expressions?.(node.config).length ?? 0) > 0)
      add(
        "warning",
        "W_ROUTER_NO_DEFAULT",
        at,
        `If nothing matches, ${nameOf(node)} cannot go on and the run fails. Say which way is taken otherwise.`,
        {
          kind: "set_edge",
          edge_id: last.id,
          set: { is_default: true },
          label: last.edge_label
            ? `Otherwise take "${last.edge_label}"`
            : `Otherwise go to ${named(graph, last.target_node_id)}`,
        },
      );
  }
}

function checkCycles(check: Check): void {
  const { graph, analysis, add } = check;
  // A node may stand at the way out of many loops: what it reads is read once.
  const deciding = new Map<string, string[] | null>();
  // Only what is always taken: no router, no condition, no error edge.
  const next = (id: string) =>
    (analysis.outgoing.get(id) ?? []).filter((edge) => {
      const isPlain = edge.kind !== "error" && edge.condition === undefined && !edge.condition_name;
      return isPlain && !getNodeKind(graph.nodes[id]!.node_type).routes;
    });
  const endless = circles(analysis.order, (id) => next(id).map((edge) => edge.target_node_id));
  const inEndless = new Set(endless.flat());
  for (const ids of endless)
    add(
      "error",
      "E_UNCONDITIONAL_CYCLE",
      { kind: "node", id: ids[0]! },
      ids.length === 1
        ? `${named(graph, ids[0]!)} leads back to itself without any choice, so it would run forever. Put a router into the loop.`
        : `${ids
            .slice(0, 4)
            .map((id) => named(graph, id))
            .join(
              ", ",
            )}${ids.length > 4 ? " and more" : ""} follow each other in a circle without any choice, so they would run forever. Put a router into the loop.`,
    );
  for (const [header, body] of analysis.loops) {
    if ([...body].some((id) => inEndless.has(id))) continue;
    const at = { kind: "node" as const, id: header };
    const leaving = [...body].flatMap((id) =>
      (analysis.outgoing.get(id) ?? []).filter((edge) => !body.has(edge.target_node_id)),
    );
    if (leaving.length === 0) {
      add(
        "warning",
        "W_LOOP_WITHOUT_EXIT",
        at,
        `No way leads out of the loop that begins at ${named(graph, header)}; it goes round until a limit stops it. Draw a way out.`,
      );
      continue;
    }
    const reads = new Set<string>();
    let isFixed = true;
    for (const id of new Set(leaving.map((edge) => edge.source_node_id))) {
      let decided = deciding.get(id);
      if (decided === undefined) {
        decided = decidingKeys(check, id);
        deciding.set(id, decided);
      }
      if (decided === null) isFixed = false;
      else for (const key of decided) reads.add(key);
    }
    if (!isFixed) continue;
    const written = new Set([...body].flatMap((id) => [...writtenKeys(graph.nodes[id]!)]));
    if (![...reads].some((key) => written.has(key)))
      add(
        "warning",
        "W_LOOP_WITHOUT_PROGRESS",
        at,
        reads.size === 0
          ? `What decides about the loop at ${named(graph, header)} is the same in every round. Let it read a value that the loop writes.`
          : `No node of the loop at ${named(graph, header)} writes ${quoted([...reads])}, which decides whether it goes on. Every round would end the same.`,
      );
  }
}

/** The state keys that decide where a node goes on; null where something else may decide too. */
function decidingKeys({ graph, analysis, reading }: Check, id: string): string[] | null {
  const node = graph.nodes[id]!;
  const kind = getNodeKind(node.node_type);
  const edges = analysis.outgoing.get(id) ?? [];
  if (!reading.ofNode(id) || edges.some((edge) => edge.kind === "error" || !reading.ofEdge(edge.id)))
    return null;
  const texts: string[] = [];
  const keys: string[] = [];
  if (kind.routes) {
    const expressions = kind.expressions?.(node.config) ?? [];
    const rule = ruleOf(node, kind);
    if (expressions.length === 0 && !rule) return null;
    texts.push(...expressions.map(({ expression }) => expression));
    if (rule) keys.push(...rule.reads);
  } else {
    texts.push(...edges.flatMap(({ condition }) => (condition === undefined ? [] : [condition])));
    keys.push(...edges.flatMap(({ condition_name }) => (condition_name ? [condition_name] : [])));
  }
  for (const text of texts) {
    if (/\b(nodes|run)\b/.test(text) || node.input_mapping) return null;
    for (const { key } of expressionReads(text)) keys.push(key);
    // `state` itself, as in state[input.key]: anything may decide.
    if (expressionReads(text).length === 0 && /\b(state|input)\b/.test(text)) return null;
  }
  return keys;
}

/** The registered rule that a node's settings name, in whatever field a kind keeps it. */
function ruleOf(node: WorkflowNode, kind: AnyNodeKind) {
  const config: Record<string, unknown> = node.config;
  const field = kind.fields.find(
    ({ as, showIf }) => as === "router_function" && (!showIf || showIf(node.config)),
  );
  const name = field ? config[field.key] : undefined;
  return typeof name === "string" ? findRouterFunction(name) : undefined;
}

/** The circles of a graph: its strongly connected parts of more than one node, or with an edge to itself. */
function circles(ids: readonly string[], next: (id: string) => readonly string[]): string[][] {
  const found: string[][] = [];
  const number = new Map<string, number>();
  const low = new Map<string, number>();
  const onStack = new Set<string>();
  const stack: string[] = [];
  for (const root of ids) {
    if (number.has(root)) continue;
    // Tarjan's algorithm with its own stack: a chain of a thousand nodes must not overflow ours.
    const work: { id: string; to: readonly string[]; at: number }[] = [];
    const enter = (id: string) => {
      number.set(id, number.size);
      low.set(id, number.get(id)!);
      stack.push(id);
      onStack.add(id);
      work.push({ id, to: next(id), at: 0 });
    };
    enter(root);
    while (work.length > 0) {
      const top = work.at(-1)!;
      const to = top.to[top.at++];
      if (to !== undefined) {
        if (!number.has(to)) enter(to);
        else if (onStack.has(to)) low.set(top.id, Math.min(low.get(top.id)!, number.get(to)!));
        continue;
      }
      work.pop();
      const parent = work.at(-1);
      if (parent) low.set(parent.id, Math.min(low.get(parent.id)!, low.get(top.id)!));
      if (low.get(top.id) !== number.get(top.id)) continue;
      const part = stack.splice(stack.indexOf(top.id));
      for (const id of part) onStack.delete(id);
      if (part.length > 1 || top.to.includes(top.id)) found.push(part);
    }
  }
  return found;
}

/** Keys that are read where no way to them writes them. */
function checkKeys({ graph, analysis, add, reading }: Check): void {
  if (analysis.start === null) return;
  const possible = possibleKeys(graph, analysis);
  let hints = MAX_HINTS;
  const startId = analysis.start;
  for (const id of analysis.order) {
    const node = graph.nodes[id]!;
    const kind = getNodeKind(node.node_type);
    const here: KeySet | undefined = possible.get(id);
    // Written by the engine itself, after failures and at limits.
    const exists = (key: string) => here?.has(key) || key === "_error" || key === "_loop_limit";
    const at = { kind: "node" as const, id };
    const reported = new Set<string>();
    const missing = (key: string, field: string, range: { from?: number; to?: number } = {}) => {
      if (reported.has(key)) return;
      reported.add(key);
      const near = hints-- > 0 ? nearest(key, here?.list() ?? []) : null;
      const hint =
        near === null
          ? "Let a node before it write it, or ask for it at the start."
          : `Did you mean "${near}"?`;
      const isListed = field === "input_keys" && near !== null && !node.input_keys.includes(near);
      add(
        "warning",
        "W_INPUT_KEY_NOT_PRODUCED",
        { ...at, field, ...range },
        `${nameOf(node)} reads "${key}", which nothing before it writes. ${hint}`,
        isListed && near !== null
          ? {
              kind: "set_node",
              node_id: id,
              set: { input_keys: node.input_keys.map((other) => (other === key ? near : other)) },
              label: `Read "${near}"`,
            }
          : undefined,
      );
    };
    if (id !== startId && !node.input_mapping)
      for (const key of node.input_keys) if (!exists(key)) missing(key, "input_keys");

    const inputs = node.input_mapping
      ? Object.keys(node.input_mapping)
      : [...node.input_keys, ...node.optional_input_keys];
    const readExpression = (
      text: string,
      field: string,
      withInputs: boolean,
      extra: ReadonlySet<string> = new Set(),
    ) => {
      for (const { variable, key, optional, from, to } of isRead ? expressionReads(text) : []) {
        if (optional) continue;
        if (variable === "state" && !exists(key) && !extra.has(key)) missing(key, field, { from, to });
        if (variable === "input" && withInputs && !inputs.includes(key))
          add(
            "warning",
            "W_INPUT_KEY_NOT_PRODUCED",
            { ...at, field, from, to },
            `"${key}" is not among the inputs of ${nameOf(node)}. Add it to its input keys, or read state.${key}.`,
          );
      }
    };
    const isRead = reading.ofNode(id);
    for (const { field, template } of isRead ? (kind.templates?.(node.config) ?? []) : [])
      for (const { key, optional, from, to } of templateReads(template))
        if (!optional && !inputs.includes(key) && !exists(key)) missing(key, field, { from, to });
    for (const { field, expression } of kind.expressions?.(node.config) ?? [])
      readExpression(expression, field, true);
    const rule = ruleOf(node, kind);
    for (const key of rule?.reads ?? []) if (!exists(key)) missing(key, "input_keys");
    if (node.when !== undefined) readExpression(node.when, "when", false);
    for (const [key, text] of Object.entries(node.input_mapping ?? {}))
      readExpression(text, `input_mapping.${key}`, false);
    const after = new Set(writtenKeys(node));
    for (const [key, text] of Object.entries(node.output_mapping ?? {}))
      readExpression(text, `output_mapping.${key}`, false, after);
    for (const edge of analysis.outgoing.get(id) ?? []) {
      const place = { kind: "edge" as const, id: edge.id };
      const absent = (key: string, field: string, range: { from?: number; to?: number } = {}) =>
        add(
          "warning",
          "W_INPUT_KEY_NOT_PRODUCED",
          { ...place, field, ...range },
          `This edge reads "${key}", which nothing before it writes, so it is never taken.`,
        );
      if (edge.condition_name && !exists(edge.condition_name) && !after.has(edge.condition_name))
        absent(edge.condition_name, "condition_name");
      if (edge.condition !== undefined && reading.ofEdge(edge.id))
        for (const { variable, key, optional, from, to } of expressionReads(edge.condition))
          if (variable === "state" && !optional && !exists(key) && !after.has(key))
            absent(key, "condition", { from, to });
    }
  }
}

function checkParallelWrites({ graph, analysis, add }: Check): void {
  for (const { key, nodes } of parallelWrites(graph, analysis))
    add(
      "warning",
      "W_PARALLEL_WRITE",
      { kind: "node", id: nodes[1], field: "output_keys" },
      `${named(graph, nodes[0])} and ${named(graph, nodes[1])} can run at the same time and both write "${key}"; only one of the two values stays. Use two keys, or say how the values combine.`,
      { kind: "set_reducer", key, reducer: "append", label: "Keep both in a list" },
    );
}

/** The candidate that a misspelt word most likely means, or null. */
function nearest(word: string, candidates: readonly string[]): string | null {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, "");
  const same = candidates.find((candidate) => plain(candidate) === plain(word));
  if (same !== undefined) return same;
  const most = word.length < 5 ? 1 : 2;
  let best: string | null = null;
  let least = most + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > most || candidate.length < 3) continue;
    const far = distance(...differing(word.toLowerCase(), candidate.toLowerCase()));
    if (far < least) {
      least = far;
      best = candidate;
    }
  }
  return best;
}

/** Two words without what they begin and end with alike; long rests are cut, they are too far apart anyway. */
function differing(a: string, b: string): [string, string] {
  let from = 0;
  while (from < a.length && from < b.length && a[from] === b[from]) from++;
  let to = 0;
  while (to < a.length - from && to < b.length - from && a[a.length - 1 - to] === b[b.length - 1 - to]) to++;
  return [a.slice(from, a.length - to).slice(0, 6), b.slice(from, b.length - to).slice(0, 6)];
}

/** How many letters must change to make one word of the other (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length]!;
}
