import {
  type VariableRead,
  variablesInExpression,
  variablesOfNode,
} from "@/server/domain/graph/keys/variables";
import { hasOwnVars } from "@/server/domain/graph/run-input";
import type { Check } from "../check";
import { nameOf } from "../names";

/** Reports variables that are read but don't exist. */
export function checkVariables({ graph, report, reading, here: { variables } }: Check): void {
  if (!variables) return;
  if (hasOwnVars(graph)) {
    if (variables.size > 0)
      report.advice(
        "W_OWN_VARS",
        { kind: "workflow" },
        'This workflow has its own state key "vars", so it can\'t read variables. Rename the key to use them.',
      );
    return;
  }
  const check = (who: string, at: { kind: "node" | "edge"; id: string }, reads: readonly VariableRead[]) => {
    const unknown = new Map(
      reads.filter(({ name }) => !variables.has(name)).map((read) => [read.name, read]),
    );
    for (const { name, ...place } of unknown.values())
      report.warning(
        "W_UNKNOWN_VARIABLE",
        { ...at, ...place },
        `${who} reads the variable ${name}, which doesn't exist. Add it in the workflow's settings or in Settings.`,
      );
  };
  for (const [id, node] of Object.entries(graph.nodes))
    if (reading.ofNode(id)) check(nameOf(node), { kind: "node", id }, variablesOfNode(node));
  for (const { id, condition } of graph.edges)
    if (condition !== undefined && reading.ofEdge(id))
      check("This connection", { kind: "edge", id }, variablesInExpression("condition", condition));
}
