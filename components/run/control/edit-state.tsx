"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { InputFields, useInput } from "@/components/forms/schema/input-field";
import { toValues } from "@/components/forms/schema/input-fields";
import { ErrorText } from "@/components/page/error-text";
import { useRun } from "@/components/run/run-context";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Form } from "@/components/ui/input/form";
import { TextField } from "@/components/ui/input/text-field";
import { type Json, type JsonSchema, StateKey } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { stateField } from "./state-edit";

/** What the form calls the value: a key that is still being written is no name for it. */
const VALUE = "value";

/** A field for one key of the state, by its schema in the workflow; JSON if it has none. */
export function EditKey({
  runId,
  name,
  value,
  onDone,
}: {
  runId: string;
  /** Null: a new one. */
  name: string | null;
  value: Json | undefined;
  onDone: () => void;
}) {
  const graph = useRun<WorkflowGraph | null>(({ head }) => head.graph, null);
  const [key, setKey] = useState(name ?? "");
  const isThere = useRun(({ head }) => Object.hasOwn(head.state, key), false);
  const field = stateField(graph, key, schemaOf(value), VALUE);
  const entered = useInput([field], () => (value === undefined ? {} : toValues([field], { [VALUE]: value })));
  const edit = useMutation(
    useTrpc().runs.editState.mutationOptions({
      onSuccess: onDone,
      onError: () => {},
    }),
  );
  const keyError = keyErrorOf(key, name === null && isThere);
  const save = () => {
    if (keyError) return;
    const given = entered.read()?.[VALUE];
    if (given !== undefined) edit.mutate({ run_id: runId, set: { [key]: given }, remove: [] });
  };
  return (
    <Form
      onSubmit={save}
      aria-label={name === null ? "Add key" : `Edit ${name}`}
      className="flex flex-col gap-3"
    >
      {name === null ? (
        <TextField
          label="Key"
          mono
          autoFocus
          value={key}
          error={key === "" ? undefined : keyError}
          onValueChange={setKey}
        />
      ) : null}
      <InputFields compact autoFocus={name !== null} {...entered.props} />
      <ErrorText error={edit.error} />
      <div className="flex flex-wrap gap-2">
        <Button
          type="submit"
          size="sm"
          variant="primary"
          pending={edit.isPending}
          disabled={keyError !== undefined}
        >
          {name === null ? "Add" : "Save"}
        </Button>
        <Button size="sm" onClick={onDone}>
          Cancel
        </Button>
        {name === null ? null : (
          <Button
            size="sm"
            variant="danger"
            className="ml-auto"
            disabled={edit.isPending}
            onClick={() => edit.mutate({ run_id: runId, set: {}, remove: [name] })}
          >
            Remove
          </Button>
        )}
      </div>
    </Form>
  );
}

/** The error of a key's name; undefined if there is none. */
function keyErrorOf(key: string, isTaken: boolean): string | undefined {
  if (isTaken) return "This key already exists. Edit its value instead.";
  return StateKey.safeParse(key).error?.issues[0]?.message;
}

/** What a value is, where the workflow does not say. */
export function schemaOf(value: Json | undefined): JsonSchema {
  if (typeof value === "string") return { type: "string" };
  if (typeof value === "number") return { type: "number" };
  if (typeof value === "boolean") return { type: "boolean" };
  return {};
}
