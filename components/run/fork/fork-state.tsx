"use client";

import { useState } from "react";
import { InputFields } from "@/components/forms/schema/input-field";
import { readField, toValues } from "@/components/forms/schema/input-fields";
import { JsonField } from "@/components/forms/schema/json-field";
import { Button } from "@/components/ui/button";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { schemaOf } from "../control/edit-state";
import { describePatch, isState, patchOf, stateError, stateField } from "../control/state-edit";

interface EditedState {
  graph: WorkflowGraph;
  /** The recorded state at that moment. */
  state: JsonObject;
  /** The state the fork starts with; undefined while it is invalid. */
  edited: JsonObject | undefined;
  onChange: (edited: JsonObject | undefined) => void;
}

/** The state that a fork starts with: one field per value, or all of it as JSON. */
export function ForkState(props: EditedState) {
  const { state, edited, onChange } = props;
  const [isJson, setJson] = useState(false);
  const patch = edited ? patchOf(state, edited) : null;
  return (
    <section aria-label="State" className="flex flex-col gap-3">
      {isJson ? (
        <JsonField
          label="State"
          error={edited === undefined ? "Enter {} to remove all values." : undefined}
          value={edited}
          onChange={(value) => onChange(isState(value) ? value : undefined)}
          check={(value) => stateError(state, value)}
          onErrorChange={(error) => error === null || onChange(undefined)}
        />
      ) : (
        <StateFields {...props} />
      )}
      <div className="flex flex-wrap items-center gap-2">
        <p className="min-w-0 flex-1 text-[13px] text-ink-2">{describePatch(patch)}</p>
        <Button size="sm" variant="ghost" disabled={edited === undefined} onClick={() => setJson(!isJson)}>
          {isJson ? "Edit as fields" : "Edit as JSON"}
        </Button>
      </div>
    </section>
  );
}

function StateFields({ graph, state, edited, onChange }: EditedState) {
  const [base] = useState(edited ?? state);
  const [fields] = useState(() =>
    Object.entries(base).map(([key, value]) => stateField(graph, key, valueSchema(value))),
  );
  const [initial] = useState(() => toValues(fields, base));
  const [values, setValues] = useState(initial);
  // Untouched values stay unchanged, whatever their schema says; an empty field removes its value.
  const read = (entered: typeof values) =>
    fields.map((field) => {
      const { key } = field;
      const value = entered[key] ?? "";
      const { value: given, message } =
        value === initial[key]
          ? { value: base[key], message: undefined }
          : readField({ ...field, isRequired: false }, value);
      return { key, value: given, message };
    });
  return (
    <InputFields
      compact
      fields={fields}
      values={values}
      errors={read(values).flatMap(({ key, message }) => (message === undefined ? [] : [{ key, message }]))}
      onChange={(next) => {
        setValues(next);
        const all = read(next);
        onChange(
          all.some(({ message }) => message !== undefined)
            ? undefined
            : Object.fromEntries(
                all.flatMap(({ key, value }) => (value === undefined ? [] : [[key, value]])),
              ),
        );
      }}
    />
  );
}

/** The schema of a field: lists and objects are edited as JSON, everything else by its type. */
const valueSchema = (value: Json | undefined): JsonSchema =>
  typeof value === "object" && value !== null
    ? { type: Array.isArray(value) ? "array" : "object" }
    : schemaOf(value);
