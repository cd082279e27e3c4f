import { expressionReads } from "@/server/domain/text/expression/expression";
import { templateReads } from "@/server/domain/text/template/template";
import { getNodeKind, type WorkflowNode, writtenKeys } from "../../nodes";
import type { WorkflowGraph } from "../graph";
import { inputFields } from "../run-input";
import { stateProperties } from "./state-properties";

/** The key under which a run's state has the variables. */
export const VARS = "vars";

/** Whether a workflow has its own state key of that name: then it means what it always meant, and there are no variables. */
export const hasOwnVars = (graph: WorkflowGraph): boolean =>
  Object.hasOwn(stateProperties(graph), VARS) ||
  inputFields(graph).some(({ key }) => key === VARS) ||
  Object.values(graph.nodes).some((node) => writtenKeys(node).includes(VARS));

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
