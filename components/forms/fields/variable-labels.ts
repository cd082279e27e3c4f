import { hasOwnVars, VARS } from "@/server/domain/graph/run-input";
import type { FormScope } from "../form-scope";

/** The variables as expressions and templates name them. */
export const variableLabels = ({ graph, variables = [] }: FormScope): string[] =>
  hasOwnVars(graph) ? [] : variables.map((name) => `${VARS}.${name}`);
