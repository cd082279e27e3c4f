import { createContext, useContext } from "react";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import type { AvailableKey } from "@/server/domain/problems/problems";

/** The context of the fields of a form. */
export interface FormScope {
  graph: WorkflowGraph;
  /** The id of the workflow, if it is saved. */
  workflowId?: string;
  /** The node in the form; null for the workflow itself. */
  node: WorkflowNode | null;
  /** Keys that can exist when this node starts. */
  keys: readonly AvailableKey[];
  roles: readonly RoleDefinition[];
  /** Names of the variables that its runs read; absent while they are unknown. */
  variables?: readonly string[] | undefined;
  /** Changes the graph in one undoable step; absent if there is no graph to change. */
  change?: (label: string, apply: (graph: WorkflowGraph) => WorkflowGraph) => void;
}

export const FormScopeContext = createContext<FormScope | null>(null);

export function useFormScope(): FormScope {
  const scope = useContext(FormScopeContext);
  if (!scope) throw new Error("A form field belongs inside a form.");
  return scope;
}

/** The names of the nodes that write a key, for a hint. */
export function writersOf(scope: FormScope, { from, certain }: AvailableKey): string {
  const names = from.map((id) => scope.graph.nodes[id]?.name || id).join(", ");
  return certain ? names : `${names}${names ? ", " : ""}not on every path`;
}
