"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { FormDialog } from "@/components/forms/form-dialog";
import { FormParts } from "@/components/forms/form-parts";
import { InputFields, useInput } from "@/components/forms/schema/input-field";
import { useRun } from "@/components/run/run-context";
import { useTrpcClient } from "@/components/trpc";
import type { JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { CommandForm, Entered } from "./command-forms";
import { stateField } from "./state-edit";

/** Asks for what a command to a run takes, and sends it. */
export function CommandDialog({ form, onClose }: { form: CommandForm; onClose: () => void }) {
  const { title, description, submit, icon, parts, keys } = form;
  const graph = useRun<WorkflowGraph | null>(({ head }) => head.graph, null);
  const client = useTrpcClient();
  const [entered, setEntered] = useState<Entered>(form.initial);
  const [missing, setMissing] = useState<string | null>(null);
  const values = useInput(keys.map((key) => stateField(graph, key)));
  const command = useMutation({
    mutationFn: (input: JsonObject) => form.send(client, entered, input),
    onSuccess: onClose,
    onError: () => {},
  });
  const send = () => {
    const input = values.read();
    const isMissing = form.required !== undefined && !entered.text?.trim();
    setMissing(isMissing ? (form.required ?? null) : null);
    if (input && !isMissing) command.mutate(input);
  };
  return (
    <FormDialog
      {...{ title, description, submit, icon, onClose }}
      mutation={command}
      error={missing}
      sticky={keys.length > 0 || form.required !== undefined}
      onSubmit={send}
    >
      {parts.length + keys.length === 0 ? <p className="text-[13px] text-ink-2">{form.nothing}</p> : null}
      {form.before}
      <FormParts parts={parts} value={entered} onChange={setEntered} />
      <InputFields {...values.props} />
      {form.after ? <p className="text-[13px] text-ink-2">{form.after(entered)}</p> : null}
    </FormDialog>
  );
}
