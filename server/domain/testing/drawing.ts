import type { JsonObject } from "@/server/domain/base/values";
import { WorkflowGraph } from "@/server/domain/graph/graph";

/**
 * A graph in one line, for tests: `start > a > r; r yes> b > end; r no> c > end; c ?> a`.
 * Names decide kinds: start..., end..., r... is a router on `state.<name>`, w... waits 1 ms; others are transforms
 * that set a key of their own name. `x label> y` is a labelled edge, `x !> y` an error edge, `x else> y` a default.
 * `options`: settings by node id, merged over.
 */
export function draw(text: string, options: Record<string, JsonObject> = {}): WorkflowGraph {
  const nodes: Record<string, JsonObject> = {};
  const edges: JsonObject[] = [];
  const add = (id: string) => {
    nodes[id] ??= { id, name: id, ...kindOf(id), ...options[id] };
  };
  for (const chain of text
    .split(";")
    .map((part) => part.trim())
    .filter(Boolean)) {
    const tokens = chain.split(/\s+/);
    let from = tokens[0]!;
    add(from);
    for (let at = 1; at + 1 < tokens.length; at += 2) {
      const arrow = tokens[at]!.slice(0, -1);
      const to = tokens[at + 1]!;
      add(to);
      edges.push({
        id: `e${edges.length}`,
        source_node_id: from,
        target_node_id: to,
        ...(arrow === "!"
          ? { kind: "error" }
          : arrow === "else"
            ? { edge_label: "else", is_default: true }
            : arrow
              ? { edge_label: arrow }
              : {}),
      });
      from = to;
    }
  }
  return WorkflowGraph.parse({ graph_id: "drawing", nodes, edges, start_node_id: "start" });
}

function kindOf(id: string): JsonObject {
  if (id.startsWith("start")) return { node_type: "start", config: {} };
  if (id.startsWith("end")) return { node_type: "end", config: {} };
  if (id.startsWith("r"))
    return { node_type: "conditional_router", config: { kind: "value", value: `state.${id}`, mode: "all" } };
  if (id.startsWith("w")) return { node_type: "wait", config: { ms: 1 } };
  return { node_type: "transform", config: { set: { [id]: `"${id}"` } } };
}
