import { type Analysis, analyse } from "@/server/domain/graph/analysis";
import type { WorkflowEdge, WorkflowGraph } from "@/server/domain/graph/graph";
import { type Check, type NamedRole, Report } from "./check";
import { checkCalls } from "./checks/calls";
import { checkCycles } from "./checks/cycles";
import { checkEdges } from "./checks/edges";
import { checkEnds } from "./checks/ends";
import { checkKeys } from "./checks/keys";
import { checkLoopKeys } from "./checks/loop-keys";
import { checkNodes } from "./checks/nodes";
import { checkRouters } from "./checks/routers";
import { checkSize } from "./checks/size";
import { checkVariables } from "./checks/variables";
import { checkWithheld } from "./checks/withheld";
import { checkLibrary, checkParallelWrites, checkPrices, checkStateSchema } from "./checks/workflow";
import type { Problem, ProblemContext } from "./problem";
import { planReading } from "./reading";

export { type AvailableKey, keysAvailableAt } from "@/server/domain/graph/keys/data-flow";
export { applyFix, type Fix } from "./fixes";
export type { Problem, ProblemContext } from "./problem";

/** The checks of a workflow, in this order. */
const CHECKS: readonly ((check: Check) => void)[] = [
  checkSize,
  checkEnds,
  checkEdges,
  checkNodes,
  checkLibrary,
  checkCalls,
  checkRouters,
  checkCycles,
  checkKeys,
  checkLoopKeys,
  checkVariables,
  checkParallelWrites,
  checkStateSchema,
  checkPrices,
  checkWithheld,
];

/** The problems of a workflow: first the errors, then the warnings, each in the order of the checks. */
export function findProblems(
  graph: WorkflowGraph,
  roles: readonly NamedRole[],
  known?: Analysis,
  here: ProblemContext = {},
): Problem[] {
  const report = new Report(new Set(graph.dismissed_advice));
  const check: Check = {
    graph,
    analysis: known ?? analyse(graph),
    report,
    outgoing: outgoingOf(graph),
    reading: planReading(graph),
    roles,
    roleByName: new Map(roles.map((role) => [role.name, role])),
    here,
  };
  for (const checkOne of CHECKS) checkOne(check);
  return report.problems.sort((a, b) => Number(a.severity === "warning") - Number(b.severity === "warning"));
}

/** Edges between nodes that exist, by source. */
function outgoingOf(graph: WorkflowGraph): Map<string, WorkflowEdge[]> {
  const outgoing = new Map<string, WorkflowEdge[]>();
  for (const edge of graph.edges) {
    if (!graph.nodes[edge.source_node_id] || !graph.nodes[edge.target_node_id]) continue;
    const list = outgoing.get(edge.source_node_id);
    if (list) list.push(edge);
    else outgoing.set(edge.source_node_id, [edge]);
  }
  return outgoing;
}

/** Whether anything in it stops a run. */
export const hasErrors = (problems: readonly Problem[]): boolean =>
  problems.some(({ severity }) => severity === "error");
