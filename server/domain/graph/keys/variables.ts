import { expressionReads } from "@/server/domain/text/expression/expression";
import { templateReads } from "@/server/domain/text/template/template";
import { getNodeKind, type WorkflowNode } from "../../nodes";
import type { WorkflowGraph } from "../graph";
import { hasOwnVars, VARS } from "../run-input";

/** A variable that an expression or a template reads. */
export interface VariableRead {
  name: string;
  field: string;
  from: number;
  to: number;
}

/** The variables that an expression reads and needs. */
export const variablesInExpression = (field: string, text: string): VariableRead[] =>
  expressionReads(text).flatMap(({ variable, key, optional, from, to }) =>
    variable === VARS && !optional ? [{ name: key, field, from, to }] : [],
  );

/** The variables that the settings of a node read and need. */
export function variablesOfNode(node: WorkflowNode): VariableRead[] {
  const { templates, expressions } = getNodeKind(node.node_type);
  const mapped = (field: string, mapping: Record<string, string> = {}) =>
    Object.entries(mapping).flatMap(([key, text]) => variablesInExpression(`${field}.${key}`, text));
  return [
    ...(templates?.(node.config) ?? []).flatMap(({ field, template }) =>
      templateReads(template).flatMap(({ key, path: [, name], optional, from, to }) =>
        key === VARS && name !== undefined && !optional ? [{ name, field, from, to }] : [],
      ),
    ),
    ...(expressions?.(node.config) ?? []).flatMap(({ field, expression }) =>
      variablesInExpression(field, expression),
    ),
    ...mapped("input_mapping", node.input_mapping),
    ...mapped("output_mapping", node.output_mapping),
    ...(node.when === undefined ? [] : variablesInExpression("when", node.when)),
  ];
}

/** The names of the variables that a workflow reads, each once. */
export const variablesOf = (graph: WorkflowGraph): string[] =>
  hasOwnVars(graph)
    ? []
    : [
        ...new Set(
          [
            ...Object.values(graph.nodes).flatMap(variablesOfNode),
            ...graph.edges.flatMap(({ condition = "" }) => variablesInExpression("condition", condition)),
          ].map(({ name }) => name),
        ),
      ];
