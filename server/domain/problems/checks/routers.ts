import { propertiesOf } from "@/server/domain/base/json-schema";
import { lastOf } from "@/server/domain/base/must";
import type { WorkflowEdge, WorkflowGraph } from "@/server/domain/graph/graph";
import { contradicting, type WrittenRule, writtenRules } from "@/server/domain/graph/own-rules";
import { getNodeKind, isRouterNode, settingsOf, type WorkflowNode } from "@/server/domain/nodes";
import { isDefaultLabel } from "@/server/domain/nodes/conditional-router";
import type { Exit } from "@/server/domain/nodes/define";
import { findRouterFunction } from "@/server/domain/tool/router-functions";
import type { Check, Report } from "../check";
import type { Fix } from "../fixes";
import { named, nameOf, quoted } from "../names";

/** Whether every label of a router leads somewhere, and every edge has a label. */
export function checkRouters({ graph, report, outgoing, roleByName }: Check): void {
  const rules = writtenRules(graph);
  for (const node of Object.values(graph.nodes)) {
    const kind = getNodeKind(node.node_type);
    if (!kind.routes) continue;
    checkNamedRule(node, rules, report);
    checkComparedValue(node, graph, roleByName, report);
    const at = { kind: "node" as const, id: node.id };
    const edges = (outgoing.get(node.id) ?? []).filter((edge) => edge.kind !== "error");
    if (edges.length === 0) {
      report.error(
        "E_ROUTER_NO_EDGES",
        at,
        `${nameOf(node)} has no outgoing connections. Connect each route.`,
      );
      continue;
    }
    const exits = kind.exits?.(node.config) ?? [];
    const defaults = defaultEdges(edges, exits);
    checkLabels({ node, report, edges, exits, defaults });
    // Expressions may match none of the labels; a registered rule or a model always returns one.
    const last = lastOf(edges);
    if (defaults.size === 0 && (kind.expressions?.(node.config).length ?? 0) > 0)
      report.advice(
        "W_ROUTER_NO_DEFAULT",
        at,
        `If no route matches, ${nameOf(node)} fails the run and shows the value. Choose a default route, or keep this behavior.`,
        {
          fix: {
            kind: "set_edge",
            edge_id: last.id,
            set: { is_default: true },
            label: last.edge_label
              ? `Default to "${last.edge_label}"`
              : `Default to ${named(graph, last.target_node_id)}`,
          },
          dismiss: "Fail and show the value",
        },
      );
  }
}

/** The edges that a router takes if no label matches. */
function defaultEdges(edges: readonly WorkflowEdge[], exits: readonly Exit[]): Set<WorkflowEdge> {
  const labels = new Set(exits.flatMap(({ isDefault, label }) => (isDefault ? [label] : [])));
  return new Set(
    edges.filter(
      ({ is_default, edge_label: label }) =>
        is_default || (!!label && (isDefaultLabel(label) || labels.has(label))),
    ),
  );
}

interface LabelCheck {
  node: WorkflowNode;
  report: Report;
  edges: readonly WorkflowEdge[];
  exits: readonly Exit[];
  defaults: ReadonlySet<WorkflowEdge>;
}

/** Labels without an edge, and edges without a label of the router. */
function checkLabels({ node, report, edges, exits, defaults }: LabelCheck): void {
  const served = new Set(edges.map(({ edge_label }) => edge_label || undefined));
  const open = exits.filter(({ label }) => !served.has(label));
  const declared = exits.filter(({ isDefault }) => !isDefault).map(({ label }) => label);
  if (defaults.size === 0)
    for (const { label, isDefault } of open)
      report.error(
        "E_ROUTER_LABEL_WITHOUT_EDGE",
        { kind: "node", id: node.id },
        isDefault
          ? `The default route "${label}" of ${nameOf(node)} isn't connected. Connect it.`
          : `The route "${label}" of ${nameOf(node)} isn't connected. Connect it, or set a default route.`,
      );
  for (const edge of edges) {
    const place = { kind: "edge" as const, id: edge.id, field: "edge_label" };
    if (!edge.edge_label && !edge.is_default)
      report.warning(
        "W_EDGE_WITHOUT_LABEL",
        place,
        `This connection from ${nameOf(node)} has no route, so it is never used. Choose a route.`,
        labelWith(edge, open[0]),
      );
    else if (
      edge.edge_label &&
      declared.length > 0 &&
      !defaults.has(edge) &&
      !declared.includes(edge.edge_label)
    )
      report.warning(
        "W_UNKNOWN_LABEL",
        place,
        `${nameOf(node)} has no route "${edge.edge_label}", only ${quoted(declared)}. Choose one of these, or this connection may never be used.`,
        open.length === 1 ? labelWith(edge, open[0]) : undefined,
      );
  }
}

const labelWith = (edge: WorkflowEdge, exit: Exit | undefined): Fix | undefined =>
  exit && {
    kind: "set_edge",
    edge_id: edge.id,
    set: { edge_label: exit.label },
    label: `Use route "${exit.label}"`,
  };

/** A router by value compares text with its labels, so an object matches none of them. */
function checkComparedValue(
  node: WorkflowNode,
  graph: WorkflowGraph,
  roleByName: Check["roleByName"],
  report: Report,
): void {
  if (!isRouterNode(node) || node.config.kind !== "value") return;
  const key = /^\s*state\.(\w+)\s*$/.exec(node.config.value ?? "")?.[1];
  if (key === undefined) return;
  for (const writer of Object.values(graph.nodes)) {
    const fields = objectWrittenTo(key, writer, roleByName);
    if (fields === null) continue;
    const [only] = fields;
    const path = `state.${key}.${only}`;
    report.warning(
      "W_ROUTER_READS_OBJECT",
      { kind: "node", id: node.id, field: "value" },
      `${nameOf(node)} compares text, but ${nameOf(writer)} writes an object to "${key}"${fields.length > 0 ? ` (with ${quoted(fields)})` : ""}, which matches no route. Compare one of its fields, or return "${key}" as text.`,
      fields.length === 1
        ? { kind: "set_config", node_id: node.id, path: ["value"], value: path, label: `Compare ${path}` }
        : undefined,
    );
    return;
  }
}

/** The fields of the object that a node writes to a key; null if it writes something else or that is unknown. */
function objectWrittenTo(key: string, node: WorkflowNode, roleByName: Check["roleByName"]): string[] | null {
  if (node.output_mapping || !node.output_keys.includes(key)) return null;
  const { output_schema, required_role } = settingsOf(node);
  const ofNode = propertiesOf(output_schema)[key];
  if (ofNode) return ofNode.type === "object" ? Object.keys(propertiesOf(ofNode)) : null;
  const ofRole = roleByName.get(required_role ?? "")?.output_schema;
  if (output_schema || ofRole?.type !== "object") return null;
  const fields = propertiesOf(ofRole);
  const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
  if (field) return field.type === "object" ? Object.keys(propertiesOf(field)) : null;
  // An agent with one key writes its whole answer there, unless its role names the key.
  return node.output_keys.length === 1 ? Object.keys(fields) : null;
}

/** A rule that a router names must be built in or defined by a router of the workflow, by all of them in the same way. */
function checkNamedRule(node: WorkflowNode, rules: readonly WrittenRule[], report: Report): void {
  if (!isRouterNode(node) || node.config.kind !== "function") return;
  const { router_function_name: name, router_function: rule } = node.config;
  if (!name || findRouterFunction(name)) return;
  const at = { kind: "node" as const, id: node.id, field: "router_function_name" };
  if (!rules.some((one) => one.name === name))
    report.error(
      "E_UNKNOWN_ROUTER_FUNCTION",
      at,
      `The rule "${name}" doesn't exist. Choose another rule, define this one, or use conditions.`,
    );
  const other = rule && contradicting(rules, { name, rule, node_id: node.id });
  if (other)
    report.error(
      "E_ROUTER_FUNCTION_TWICE",
      at,
      `Two routers define "${name}" differently. Rename one of the rules, or remove one.`,
    );
}
