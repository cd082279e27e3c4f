import { useState } from "react";
import {
  type InputError,
  type InputField,
  type InputValues,
  readInput,
  toField,
} from "@/components/forms/schema/input-fields";
import { useRun } from "@/components/run/run-context";
import type { JsonObject, JsonSchema } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { stateProperties } from "@/server/domain/graph/state-properties";

/** The field for a state key, by the schema that the workflow declares; `otherwise`: the schema if it declares none. */
export function stateField(
  graph: WorkflowGraph | null,
  key: string,
  otherwise: JsonSchema = {},
  name = key,
): InputField {
  const declared = graph ? stateProperties(graph) : {};
  const around = graph?.global_state_schema;
  const schema = (Object.hasOwn(declared, key) ? declared[key] : undefined) ?? otherwise;
  return toField({ key: name, schema, required: true, ...(around ? { around } : {}) });
}

/** The drawing of the run that is shown. */
export const useRunGraph = () => useRun<WorkflowGraph | null>(({ head }) => head.graph, null);

/**
 * Values for keys of the run's state, as a person enters them in place of a node. `fields` goes to InputFields; `read`
 * gives them, and null where something is wrong, which then stands at its field.
 */
export function useGivenValues(graph: WorkflowGraph | null, keys: readonly string[]) {
  const [values, setValues] = useState<InputValues>({});
  const [errors, setErrors] = useState<readonly InputError[]>([]);
  const fields = keys.map((key) => stateField(graph, key));
  const onChange = (next: InputValues, left: readonly InputError[]) => {
    setValues(next);
    setErrors(left);
  };
  const read = (): JsonObject | null => {
    const given = readInput(fields, values);
    setErrors(given.errors);
    return given.errors.length > 0 ? null : given.input;
  };
  return { fields: { fields, values, errors, onChange }, isEmpty: fields.length === 0, read };
}
