import { hasOwnVars, VARS } from "@/server/domain/graph/run-input";
import type { FormScope } from "../form-scope";

/** Variables by their names in expressions and templates. */
export const variableLabels = ({ graph, variables = [] }: FormScope): string[] =>
  hasOwnVars(graph) ? [] : variables.map((name) => `${VARS}.${name}`);
