import { must } from "@/server/domain/base/must";
import { possibleKeys } from "@/server/domain/graph/keys/data-flow";
import { ruleOf } from "@/server/domain/graph/rule-of-node";
import { VARS } from "@/server/domain/graph/run-input";
import { getNodeKind, givenKeys, type WorkflowNode, writtenKeys } from "@/server/domain/nodes";
import { expressionReads } from "@/server/domain/text/expression/expression";
import { templateReads } from "@/server/domain/text/template/template";
import type { Check, NodeCheck } from "../check";
import { nameOf } from "../names";
import { nearest } from "../nearest";

/** Finding what a misspelled key may mean is slow where hundreds are wrong, and the first few show the pattern. */
const MAX_HINTS = 20;

/** Where a key is read: a field, and offsets into its text. */
type Place = { field: string; from?: number; to?: number };

/** A node that reads keys. */
type Reader = Pick<NodeCheck, "report" | "node" | "kind" | "isRead"> & {
  /** Its key in the graph. */
  id: string;
  written: ReadonlySet<string>;
  /** Whether the state may have this key when the node starts. */
  exists(key: string): boolean;
  /** Reports a key that the node reads, unless it may exist. */
  reads(key: string, place: Place): void;
};

/** Keys that are read where nothing before writes them. */
export function checkKeys(check: Check): void {
  const { graph, analysis, report, reading } = check;
  if (analysis.start === null) return;
  const possible = possibleKeys(graph, analysis);
  let hints = MAX_HINTS;
  for (const id of analysis.order) {
    const node = must(graph.nodes, id);
    const here = possible.get(id);
    const reported = new Set<string>();
    const reader: Reader = {
      report,
      id,
      node,
      kind: getNodeKind(node.node_type),
      written: new Set(writtenKeys(node)),
      isRead: reading.ofNode(id),
      // The engine writes these keys: after failures, at limits, and the variables.
      exists: (key) => here?.has(key) || key === "_error" || key === "_loop_limit" || key === VARS,
      reads(key, place) {
        if (reader.exists(key) || reported.has(key)) return;
        reported.add(key);
        reportMissing(reader, key, place, hints-- > 0 ? nearest(key, here?.list() ?? []) : null);
      },
    };
    checkNodeReads(reader, id === analysis.start);
    checkMappings(reader);
    checkEdgeReads(check, reader);
  }
}

function reportMissing({ report, node, id }: Reader, key: string, place: Place, near: string | null): void {
  const hint =
    near === null
      ? "Write it in an earlier node, or add it to the inputs of the start node."
      : `Did you mean "${near}"?`;
  report.warning(
    "W_INPUT_KEY_NOT_PRODUCED",
    { kind: "node", id, ...place },
    `${nameOf(node)} reads "${key}", which no earlier node writes. ${hint}`,
    place.field === "input_keys" && near !== null && !node.input_keys.includes(near)
      ? {
          kind: "set_node",
          node_id: id,
          set: { input_keys: node.input_keys.map((other) => (other === key ? near : other)) },
          label: `Read "${near}"`,
        }
      : undefined,
  );
}

/** The node's input keys, and what its settings read. */
function checkNodeReads(reader: Reader, isStart: boolean): void {
  const { node, kind, isRead, reads } = reader;
  if (!isStart && !node.input_mapping) for (const key of node.input_keys) reads(key, { field: "input_keys" });
  const inputs = node.input_mapping
    ? Object.keys(node.input_mapping)
    : [...node.input_keys, ...node.optional_input_keys];
  if (isRead)
    for (const { key, optional, field, from, to } of readsOfTemplates(node))
      if (!optional && !inputs.includes(key)) reads(key, { field, from, to });
  for (const { field, expression } of kind.expressions?.(node.config) ?? [])
    checkReads(reader, field, expression, { inputs });
  for (const key of ruleOf(node, kind)?.reads ?? []) reads(key, { field: "input_keys" });
  if (node.when !== undefined) checkReads(reader, "when", node.when);
}

const readsOfTemplates = (node: WorkflowNode) =>
  (getNodeKind(node.node_type).templates?.(node.config) ?? []).flatMap(({ field, template }) =>
    templateReads(template).map((read) => ({ ...read, field })),
  );

/** What the mappings of the node read. An output mapping may also read the keys that the node writes. */
function checkMappings(reader: Reader): void {
  const { node, isRead, written } = reader;
  for (const [key, text] of Object.entries(node.input_mapping ?? {}))
    checkReads(reader, `input_mapping.${key}`, text);
  for (const [key, text] of Object.entries(node.output_mapping ?? {})) {
    checkReads(reader, `output_mapping.${key}`, text, { written });
    if (isRead) checkResult(reader, key, text);
  }
}

/** `inputs`: what it may read of the node's input, if it is checked; `written`: what it may read besides the state. */
function checkReads(
  { report, node, id, isRead, reads }: Reader,
  field: string,
  text: string,
  { inputs, written }: { inputs?: readonly string[]; written?: ReadonlySet<string> } = {},
): void {
  for (const { variable, key, optional, from, to } of isRead ? expressionReads(text) : []) {
    if (optional) continue;
    if (variable === "state" && !written?.has(key)) reads(key, { field, from, to });
    if (variable === "input" && inputs && !inputs.includes(key))
      report.warning(
        "W_INPUT_KEY_NOT_PRODUCED",
        { kind: "node", id, field, from, to },
        `"${key}" isn't an input of ${nameOf(node)}. Add it to the node's input keys, or read state.${key}.`,
      );
  }
}

/** What the conditions of the node's edges read: the state after the node. */
function checkEdgeReads({ analysis, reading, report }: Check, reader: Reader): void {
  const isKnown = (key: string) => reader.exists(key) || reader.written.has(key);
  for (const { id, condition, condition_name: name } of analysis.outgoing.get(reader.id) ?? []) {
    const absent = (key: string, place: Place) =>
      report.warning(
        "W_INPUT_KEY_NOT_PRODUCED",
        { kind: "edge", id, ...place },
        `No earlier node writes "${key}", which this connection reads, so the connection is never used.`,
      );
    if (name && !isKnown(name)) absent(name, { field: "condition_name" });
    if (condition !== undefined && reading.ofEdge(id))
      for (const { variable, key, optional, from, to } of expressionReads(condition))
        if (variable === "state" && !optional && !isKnown(key)) absent(key, { field: "condition", from, to });
  }
}

/** What an output mapping takes from the result must be in the result: at run time the node would fail. */
function checkResult({ report, node, kind, id }: Reader, mapped: string, expression: string): void {
  if (kind.ends) return;
  const given = givenKeys(node);
  for (const { variable, key, optional, from, to } of expressionReads(expression)) {
    if (variable !== "output" || optional || given.includes(key)) continue;
    const near = nearest(key, [...given]);
    report.error(
      "E_OUTPUT_KEY_NOT_GIVEN",
      { kind: "node", id, field: `output_mapping.${mapped}`, from, to },
      `${nameOf(node)} doesn't return "${key}". ${near === null ? `Add "${key}" to its output keys.` : `Did you mean output.${near}?`}`,
    );
  }
}
