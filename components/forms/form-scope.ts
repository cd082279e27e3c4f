import { createContext, useContext } from "react";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import type { AvailableKey } from "@/server/domain/problems/problems";

/** What the fields of a form may refer to. */
export interface FormScope {
  graph: WorkflowGraph;
  /** The node that the form is about; null for the workflow itself. */
  node: WorkflowNode | null;
  /** Keys that can exist when this node begins. */
  keys: readonly AvailableKey[];
  roles: readonly RoleDefinition[];
  /** Changes the drawing around the node as one step back; absent where there is none to change. */
  change?: (label: string, apply: (graph: WorkflowGraph) => WorkflowGraph) => void;
}

export const FormScopeContext = createContext<FormScope | null>(null);

export function useFormScope(): FormScope {
  const scope = useContext(FormScopeContext);
  if (!scope) throw new Error("A form field belongs inside a form.");
  return scope;
}

/** Names of nodes that a key comes from, for a hint beside it. */
export function writersOf(scope: FormScope, { from, certain }: AvailableKey): string {
  const names = from.map((id) => scope.graph.nodes[id]?.name || id).join(", ");
  return certain ? names : `${names}${names ? ", " : ""}not on every way`;
}
