"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { type Answers, toApiError, useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import type { FormPart } from "@/server/domain/base/form";
import { parseJson } from "@/server/domain/base/json";
import { type Json, StateKey } from "@/server/domain/base/values";
import { FormDialog } from "./form-dialog";
import { FormParts } from "./form-parts";

type Variable = Answers["variables"]["list"][number];

/** The variables that runs of a workflow read, or those of the installation (null). */
export const useVariables = (workflowId: string | null) =>
  useQuery(useTrpc().variables.list.queryOptions(workflowId === null ? {} : { workflow_id: workflowId }));

/** Adds, changes and deletes variables of the installation (null) or of a workflow. */
export function Variables({ workflowId }: { workflowId: string | null }) {
  const { data, error } = useVariables(workflowId);
  const addition = useDialog((close) => <VariableForm {...{ workflowId }} saved={null} onClose={close} />);
  if (error) return <p className="text-[13px] text-failed">{toApiError(error).message}</p>;
  return (
    <>
      <ul aria-label="Variables" className="divide-y divide-line empty:hidden">
        {data?.map((variable) => (
          <Row key={variable.name} {...{ variable, workflowId }} />
        ))}
      </ul>
      <Button
        size="sm"
        variant="ghost"
        className="self-start"
        icon={<Plus aria-hidden />}
        onClick={addition.open}
      >
        Add variable
      </Button>
      {addition.dialog}
    </>
  );
}

function Row({ variable, workflowId }: { variable: Variable; workflowId: string | null }) {
  const { name, value, workflow_id } = variable;
  const trpc = useTrpc();
  const refresh = useInvalidate("variables");
  const done = { onSettled: () => void refresh() };
  const remove = useMutation(trpc.variables.remove.mutationOptions(done));
  const removeOwn = useMutation(trpc.variables.removeOfWorkflow.mutationOptions(done));
  const editing = useDialog((close) => <VariableForm {...{ workflowId }} saved={variable} onClose={close} />);
  const isInherited = workflow_id !== workflowId;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
      <span className="min-w-0 flex-1 basis-40">
        <span className="block truncate font-mono text-[13px] font-medium">{name}</span>
        <span className="line-clamp-2 block text-[13px] text-ink-2 [overflow-wrap:anywhere]">
          {asText(value)}
          {isInherited ? " (from Settings)" : ""}
        </span>
      </span>
      <Button
        size="sm"
        variant="ghost"
        aria-label={`${isInherited ? "Replace" : "Edit"} ${name}`}
        onClick={editing.open}
      >
        {isInherited ? "Replace" : "Edit"}
      </Button>
      {isInherited ? null : (
        <Button
          size="sm"
          variant="ghost"
          aria-label={`Delete ${name}`}
          onClick={() =>
            workflowId === null
              ? remove.mutate({ name })
              : removeOwn.mutate({ workflow_id: workflowId, name })
          }
        >
          Delete
        </Button>
      )}
      {editing.dialog}
    </li>
  );
}

interface Draft {
  name: string;
  value: string;
}

const NAME: FormPart<Draft> = { key: "name", label: "Name", as: "text", isMono: true, empty: "" };
const VALUE: FormPart<Draft> = {
  key: "value",
  label: "Value",
  as: "multiline",
  empty: "",
  hint: "Text, or JSON such as 5, true or [1, 2]",
};

function VariableForm({
  workflowId,
  saved,
  onClose,
}: {
  workflowId: string | null;
  saved: Variable | null;
  onClose: () => void;
}) {
  const trpc = useTrpc();
  const refresh = useInvalidate("variables");
  const [draft, setDraft] = useState<Draft>({
    name: saved?.name ?? "",
    value: saved ? asText(saved.value) : "",
  });
  const done = {
    onSuccess: async () => {
      await refresh();
      onClose();
    },
  };
  const set = useMutation(trpc.variables.set.mutationOptions(done));
  const setOwn = useMutation(trpc.variables.setOfWorkflow.mutationOptions(done));
  const wrong = StateKey.safeParse(draft.name).error?.issues[0]?.message;
  return (
    <FormDialog
      title={saved ? `Edit “${saved.name}”` : "Add variable"}
      submit={saved ? "Save" : "Add variable"}
      mutation={workflowId === null ? set : setOwn}
      isIncomplete={wrong !== undefined}
      onSubmit={() => {
        const entered = { name: draft.name, value: asValue(draft.value) };
        if (workflowId === null) set.mutate(entered);
        else setOwn.mutate({ workflow_id: workflowId, ...entered });
      }}
      onClose={onClose}
    >
      <FormParts
        parts={saved ? [VALUE] : [NAME, VALUE]}
        value={draft}
        onChange={setDraft}
        errors={wrong && draft.name !== "" ? { name: wrong } : undefined}
      />
    </FormDialog>
  );
}

/** The entered text as a value: JSON if it parses, otherwise text. */
function asValue(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** A value as text for the field; text that would parse as JSON is quoted. */
const asText = (value: Json): string =>
  typeof value === "string" && asValue(value) === value ? value : JSON.stringify(value);
