import { GRAPH_LIMITS } from "@/server/domain/base/sizes";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { getNodeKind, settingsOf, type WorkflowNode } from "../nodes";
import type { PlanLike } from "./crew-like";

/** Which expressions and templates of a workflow are parsed by the checks. */
export interface Reading {
  /** Characters of all of them: whole expressions, and templates without their plain text. */
  chars: number;
  /** Whether those of a node are parsed, by its key in the graph. */
  ofNode(key: string): boolean;
  /** Whether the condition of an edge is parsed, by its id. */
  ofEdge(id: string): boolean;
}

/**
 * Parsing takes far longer than all other checks, and checks block the thread. So only the first `GRAPH_LIMITS.readChars`
 * are parsed: nodes, then edges, in the order of the graph. Counting them parses nothing.
 */
export function planReading(graph: WorkflowGraph): Reading {
  const nodes = new Set<string>();
  const edges = new Set<string>();
  let chars = 0;
  const isTooMuch = (more: number) => {
    chars += more;
    return more > 0 && chars > GRAPH_LIMITS.readChars;
  };
  for (const [key, node] of Object.entries(graph.nodes)) if (isTooMuch(charsToRead(node))) nodes.add(key);
  for (const { id, condition } of graph.edges) if (isTooMuch(condition?.length ?? 0)) edges.add(id);
  return { chars, ofNode: (key) => !nodes.has(key), ofEdge: (id) => !edges.has(id) };
}

/** Characters to parse for the checks of a node. */
function charsToRead(node: WorkflowNode): number {
  const kind = getNodeKind(node.node_type);
  if (kind.executes === false) return 0;
  const settings = settingsOf(node);
  const planned = kind.fields.flatMap((field) => {
    const plan: PlanLike | undefined = field.as === "plan" ? settings[field.key] : undefined;
    return plan?.tasks ?? [];
  });
  const expressions = [
    ...(kind.expressions?.(node.config) ?? []).map(({ expression }) => expression),
    ...Object.values(node.input_mapping ?? {}),
    ...Object.values(node.output_mapping ?? {}),
    ...planned.map(({ condition }) => condition ?? ""),
    node.when ?? "",
  ];
  const templates = kind.templates?.(node.config) ?? [];
  return charsOf(expressions) + templates.reduce((sum, { template }) => sum + charsInBraces(template), 0);
}

export const charsOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + text.length, 0);

/** Characters of a template from each "{{" to its "}}". */
function charsInBraces(template: string): number {
  let chars = 0;
  for (let open = template.indexOf("{{"); open >= 0; ) {
    const close = template.indexOf("}}", open);
    if (close < 0) return chars + template.length - open;
    chars += close + 2 - open;
    open = template.indexOf("{{", close + 2);
  }
  return chars;
}
