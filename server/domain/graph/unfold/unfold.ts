import type { CrewConfig } from "@/server/domain/crew/crew";
import { customPatterns } from "@/server/domain/crew/pattern";
import { isCrewNode } from "@/server/domain/nodes";
import type { WorkflowGraph } from "../graph";
import { drawSteps } from "./unfold-steps";
import { drawTasks } from "./unfold-tasks";
import { Unfolded, type Unfolding } from "./unfolded";

/**
 * Expands a crew task into equivalent nodes: the steps of its custom pattern, each with a router, or the tasks of its
 * plan. Incoming connections lead to the first of them, and outgoing ones follow each end, where a node sets the crew's
 * output keys. `crew`: the crew itself, also if the node only names it.
 */
export function unfoldCrew(graph: WorkflowGraph, nodeId: string, crew: CrewConfig | undefined): Unfolding {
  const node = graph.nodes[nodeId];
  if (!isCrewNode(node)) return { reason: "Only crews can be expanded into nodes." };
  if (!crew) return { reason: "This node has no crew yet. Add its agents first." };
  const [pattern] = crew.process === "custom" ? customPatterns(crew.collaboration_patterns) : [];
  if (pattern) {
    const work = new Unfolded(graph, node, crew);
    drawSteps(work, pattern);
    return work.done();
  }
  const { plan } = node.config;
  if (crew.process !== "sequential" && crew.process !== "parallel")
    return {
      reason:
        crew.process === "custom"
          ? "This crew has no pattern yet. Add its steps first."
          : "This crew decides at run time which agent is next. Only step patterns and written plans can be expanded into nodes.",
    };
  if (!plan || plan.tasks.length === 0 || crew.planning)
    return {
      reason: "This crew writes its plan at run time. Only a written plan can be expanded into nodes.",
    };
  const work = new Unfolded(graph, node, crew);
  drawTasks(work, plan);
  return work.done();
}
