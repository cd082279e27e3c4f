import { GRAPH_LIMITS } from "@/server/domain/base/sizes";
import type { Check } from "../check";
import { formatCount, nameOf } from "../names";

const SPLIT = "Move part of it into a sub-workflow: select nodes, then Extract to workflow.";

/** What is too large to run. */
export function checkSize({ graph, report, reading }: Check): void {
  const nodes = Object.keys(graph.nodes).length;
  const at = { kind: "workflow" as const };
  if (nodes > GRAPH_LIMITS.nodes)
    report.error(
      "E_GRAPH_TOO_LARGE",
      at,
      `This workflow has ${nodes} nodes; the maximum is ${GRAPH_LIMITS.nodes}. ${SPLIT}`,
    );
  if (graph.edges.length > GRAPH_LIMITS.edges)
    report.error(
      "E_GRAPH_TOO_LARGE",
      at,
      `This workflow has ${graph.edges.length} connections; the maximum is ${GRAPH_LIMITS.edges}. ${SPLIT}`,
    );
  let all = 0;
  for (const node of Object.values(graph.nodes)) {
    const size = sizeOf(node.config);
    all += size;
    if (size > GRAPH_LIMITS.configBytes)
      report.error(
        "E_NODE_TOO_LARGE",
        { kind: "node", id: node.id },
        `The settings of ${nameOf(node)} are ${Math.ceil(size / 1024)} KiB; the maximum is ${GRAPH_LIMITS.configBytes / 1024} KiB. Shorten them.`,
      );
  }
  if (all > GRAPH_LIMITS.graphBytes)
    report.error("E_GRAPH_TOO_LARGE", at, "The settings of all nodes exceed 2 MiB in total. Shorten them.");
  if (reading.chars > GRAPH_LIMITS.readChars)
    report.error(
      "E_GRAPH_TOO_LARGE",
      at,
      `The expressions and templates of this workflow have ${formatCount(reading.chars)} characters in total; only ${formatCount(GRAPH_LIMITS.readChars)} were checked. Shorten them, or split the workflow.`,
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
