import { createContext, useContext } from "react";
import type { Mark } from "@/components/canvas/flow-mapping";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { Problem } from "@/server/domain/problems/problems";
import type { EditorUi } from "./ui-store";

/** Before anybody looked. */
export const NO_PROBLEMS: readonly Problem[] = [];

/** A problem as shown: what no one has filled in yet is a to-do, not an error. */
export interface ShownProblem extends Problem {
  isToDo: boolean;
}

/**
 * Marks problems that are only to-dos: on a node that was just added, those of a field until it is left; in a new workflow,
 * all until it is to run.
 */
export function shownProblems(
  problems: readonly Problem[],
  graph: WorkflowGraph,
  { fresh, left, isNew }: Pick<EditorUi, "fresh" | "left" | "isNew">,
): ShownProblem[] {
  const isFresh = (id: string | undefined) => id !== undefined && (isNew || fresh.has(id));
  const edges = new Map(graph.edges.map((edge) => [edge.id, edge]));
  return problems.map((problem) => {
    const { kind, id, field } = problem.at;
    const edge = kind === "edge" && id !== undefined ? edges.get(id) : undefined;
    const isToDo =
      kind === "node"
        ? isFresh(id) && !left.has(fieldKey(id ?? "", field ?? ""))
        : kind === "workflow"
          ? isNew
          : edge !== undefined && (isFresh(edge.source_node_id) || isFresh(edge.target_node_id));
    return { ...problem, isToDo };
  });
}

/** A field of a node, also for what lies inside of it. */
export const fieldKey = (id: string, field: string) => `${id} ${field.split(".")[0]}`;

/** The worst problem of each node and edge, for its mark on the canvas. */
export function marksOf(problems: readonly ShownProblem[]): Map<string, Mark> {
  const marks = new Map<string, Mark>();
  const rank = { error: 2, warning: 1, todo: 0 };
  for (const { severity, message, at, isToDo } of problems) {
    if (at.id === undefined) continue;
    const mark: Mark = isToDo ? { severity: "todo", text: `To do: ${message}` } : { severity, text: message };
    const known = marks.get(at.id);
    if (!known || rank[mark.severity] > rank[known.severity]) marks.set(at.id, mark);
  }
  return marks;
}

export const ProblemsContext = createContext<readonly ShownProblem[]>([]);

/** The problems of one node, edge or of the workflow itself. */
export function useProblemsAt(kind: Problem["at"]["kind"], id?: string): readonly ShownProblem[] {
  const problems = useContext(ProblemsContext);
  return problems.filter(({ at }) => at.kind === kind && at.id === id);
}
