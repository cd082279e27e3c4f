import { parallelWrites } from "@/server/domain/graph/data-flow";
import type { Check } from "../check";
import { named } from "../names";

/** Keys that two nodes may write at the same time. */
export function checkParallelWrites({ graph, analysis, report }: Check): void {
  for (const { key, nodes } of parallelWrites(graph, analysis))
    report.warning(
      "W_PARALLEL_WRITE",
      { kind: "node", id: nodes[1], field: "output_keys" },
      `${named(graph, nodes[0])} and ${named(graph, nodes[1])} can run at the same time and both write "${key}"; only one of the two values stays. Use two keys, or say how the values combine.`,
      { kind: "set_reducer", key, reducer: "append", label: "Keep both in a list" },
    );
}
