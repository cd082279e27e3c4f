import { createContext, startTransition, useContext, useEffect, useState } from "react";
import type { Mark } from "@/components/canvas/flow-mapping";
import { whenIdle } from "@/components/ui/when-idle";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { Problem, ProblemContext } from "@/server/domain/problems/problems";

const PAUSE_MS = 180;

const NONE: readonly Problem[] = [];

/** The problems of a drawing, looked for in the pauses of drawing it; the code that looks loads after the drawing. */
export function useProblems(
  graph: WorkflowGraph,
  roles: readonly RoleDefinition[] | undefined,
  { isPriceKnown, isToolKnown, library, withheld }: ProblemContext,
): readonly Problem[] {
  const [problems, setProblems] = useState(NONE);
  useEffect(() => {
    if (!roles) return;
    let isLatest = true;
    const look = async () => {
      const { findProblems } = await import("@/server/domain/problems/problems");
      const here = { isPriceKnown, isToolKnown, library, withheld };
      if (isLatest) startTransition(() => setProblems(findProblems(graph, roles, undefined, here)));
    };
    let callOff = () => {};
    const timer = setTimeout(() => {
      callOff = whenIdle(() => void look());
    }, PAUSE_MS);
    return () => {
      isLatest = false;
      clearTimeout(timer);
      callOff();
    };
  }, [graph, roles, isPriceKnown, isToolKnown, library, withheld]);
  return problems;
}

/** The worst problem of each node and edge, for its mark on the drawing. */
export function marksOf(problems: readonly Problem[]): Map<string, Mark> {
  const marks = new Map<string, Mark>();
  for (const { severity, message, at } of problems) {
    if (at.id === undefined) continue;
    const known = marks.get(at.id);
    if (!known) marks.set(at.id, { severity, text: message });
    else if (known.severity === "warning" && severity === "error")
      marks.set(at.id, { severity, text: message });
  }
  return marks;
}

export const ProblemsContext = createContext<readonly Problem[]>([]);

/** The problems of one node, edge or of the workflow itself. */
export function useProblemsAt(kind: Problem["at"]["kind"], id?: string): readonly Problem[] {
  const problems = useContext(ProblemsContext);
  return problems.filter(({ at }) => at.kind === kind && at.id === id);
}
