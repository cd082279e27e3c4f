import { startTransition, useEffect } from "react";
import { whenSettled } from "@/components/ui/when-idle";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { findProblems, type Problem } from "@/server/domain/problems/problems";
import { useProblemContext } from "./use-problem-context";

const PAUSE_MS = 180;

export interface ProblemFinderProps {
  graph: WorkflowGraph;
  roles: readonly RoleDefinition[];
  onFound: (problems: readonly Problem[]) => void;
}

/** Looks for the problems of a drawing in the pauses of drawing it. It loads after the drawing, with all that it asks of. */
export function ProblemFinder({ graph, roles, onFound }: ProblemFinderProps) {
  const context = useProblemContext(graph);
  useEffect(() => {
    const check = () => startTransition(() => onFound(findProblems(graph, roles, undefined, context)));
    return whenSettled(check, PAUSE_MS);
  }, [graph, roles, context, onFound]);
  return null;
}
