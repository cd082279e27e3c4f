"use client";

import { useMutation } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { FormDialog } from "@/components/forms/form-dialog";
import { FormParts } from "@/components/forms/form-parts";
import { InputFields, useInput } from "@/components/forms/schema/input-field";
import { toField, toValues } from "@/components/forms/schema/input-fields";
import { SecretDialog } from "@/components/forms/secret-dialog";
import { useCallableWorkflows } from "@/components/forms/use-callable-workflows";
import { useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { CheckboxGroup } from "@/components/ui/input/checkbox-group";
import { Field } from "@/components/ui/input/field";
import { Picker } from "@/components/ui/input/picker";
import { TextField } from "@/components/ui/input/text-field";
import { useConfirm } from "@/components/ui/overlay/use-confirm";
import { toast } from "@/components/ui/toasts";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { inputFields, type RunInputField } from "@/server/domain/graph/run-input";
import { suggestedInput } from "@/server/domain/trigger/trigger-input";
import {
  configOf,
  draftErrors,
  draftOf,
  NEW_TRIGGER,
  passwordOf,
  plannedInput,
  TRIGGER_FORMS,
  type TriggerDraft,
} from "./trigger-draft";
import { TRIGGER_LABELS, type Trigger } from "./trigger-kinds";

interface Props {
  workflowId: string;
  graph: WorkflowGraph;
  kind: Trigger["kind"];
  /** The trigger to change; absent: a new one. */
  trigger?: Trigger;
  onClose: () => void;
}

/** The settings of a trigger. Shows the address of a new webhook once. */
export function TriggerDialog({ workflowId, graph, kind, trigger, onClose }: Props) {
  const trpc = useTrpc();
  const refresh = useInvalidate("triggers");
  const [draft, setDraft] = useState<TriggerDraft>(() =>
    trigger
      ? draftOf(trigger)
      : { ...NEW_TRIGGER, time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone },
  );
  const fields = useMemo(() => inputFields(graph), [graph]);
  const shown = useMemo(() => fields.map(toField), [fields]);
  const planned = useInput(shown, () => toValues(shown, plannedInput(trigger)));
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [address, setAddress] = useState<string | null>(null);
  const done = async (saved: { url: string | null }) => {
    await refresh();
    if (kind === "webhook" && saved.url !== null) setAddress(saved.url);
    else onClose();
  };
  const create = useMutation(trpc.triggers.create.mutationOptions({ onSuccess: done, onError: () => {} }));
  const save = useMutation(
    trpc.triggers.save.mutationOptions({ onSuccess: () => done({ url: null }), onError: () => {} }),
  );
  const keys = fields.map(({ key }) => key);
  const submit = () => {
    const input = kind === "schedule" ? planned.read() : {};
    if (!input) return;
    const config = configOf(kind, draft, input);
    const found = draftErrors(kind, config);
    setErrors(found);
    if (Object.keys(found).length > 0) return;
    const secrets = kind === "webhook" && draft.secret !== "" ? { secrets: [draft.secret] } : {};
    const password = kind === "form" ? passwordOf(draft, trigger) : undefined;
    if (trigger) save.mutate({ trigger_id: trigger.id, config, ...secrets, password });
    else create.mutate({ workflow_id: workflowId, kind, config, ...secrets, password });
  };
  if (address !== null)
    return (
      <SecretDialog
        what="address"
        secret={address}
        command={draft.signature === "none" ? commandFor(address, fields) : undefined}
        description="Whoever has it can start runs of this workflow's published version."
        onClose={onClose}
      />
    );
  return (
    <FormDialog
      title={trigger ? `Edit ${TRIGGER_LABELS[kind].label.toLowerCase()}` : TRIGGER_LABELS[kind].label}
      description={TRIGGER_LABELS[kind].hint}
      submit={trigger ? "Save" : "Add trigger"}
      mutation={trigger ? save : create}
      isIncomplete={
        (kind === "workflow" && !draft.workflow_id) ||
        (kind === "form" && draft.has_password && draft.password === "" && !trigger?.has_password)
      }
      actions={
        trigger && (kind === "webhook" || kind === "form") ? (
          // The address of a form page stays visible in the list.
          <ReplaceAddress id={trigger.id} onReplaced={kind === "form" ? onClose : setAddress} />
        ) : undefined
      }
      sticky
      onSubmit={submit}
      onClose={onClose}
    >
      <FormParts
        parts={TRIGGER_FORMS[kind]}
        value={draft}
        onChange={setDraft}
        errors={errors}
        now={{
          secret: { placeholder: trigger?.has_secret ? "Keeps the stored secret" : undefined },
          password: { placeholder: trigger?.has_password ? "Keeps the stored password" : undefined },
        }}
        slots={{
          inputs:
            kind === "schedule" ? (
              <InputFields {...planned.props} compact />
            ) : (
              <Expressions {...{ kind, keys, draft, errors }} onChange={setDraft} />
            ),
          trusted: <TrustedInputs keys={keys} draft={draft} onChange={setDraft} />,
          workflow: <EndedWorkflow self={workflowId} draft={draft} onChange={setDraft} />,
        }}
      />
    </FormDialog>
  );
}

interface PartProps {
  draft: TriggerDraft;
  onChange: (draft: TriggerDraft) => void;
}

/** An expression for each input. If all are empty, inputs are filled by name. */
function Expressions({
  kind,
  keys,
  draft,
  errors,
  onChange,
}: PartProps & { kind: Trigger["kind"]; keys: string[]; errors: Readonly<Record<string, string>> }) {
  if (keys.length === 0) return null;
  const source = kind === "webhook" ? "body" : "output";
  return (
    <Field
      label="Inputs"
      hint={`Expressions over ${kind === "webhook" ? "body, headers and query" : "output, error, status and run_id"}. If all are empty, ${source} keys match by name.`}
      group
    >
      {keys.map((key) => (
        <TextField
          key={key}
          label={key}
          mono
          placeholder={`${source}.${key}`}
          value={draft.input[key] ?? ""}
          error={errors[`input.${key}`]}
          onValueChange={(text) => onChange({ ...draft, input: { ...draft.input, [key]: text } })}
        />
      ))}
    </Field>
  );
}

function TrustedInputs({ keys, draft, onChange }: PartProps & { keys: string[] }) {
  if (keys.length === 0) return null;
  return (
    <CheckboxGroup
      label="Trusted inputs"
      hint="They count as your own words: data may be sent where they say"
      className="grid grid-cols-2 gap-2"
      options={keys.map((key) => ({ value: key, label: key }))}
      value={draft.trusted_keys}
      onValueChange={(trusted_keys) => onChange({ ...draft, trusted_keys: [...trusted_keys] })}
    />
  );
}

function EndedWorkflow({ self, draft, onChange }: PartProps & { self: string }) {
  const workflows = useCallableWorkflows();
  return (
    <Picker
      label="Workflow"
      placeholder="Choose a workflow…"
      searchPlaceholder="Search workflows…"
      options={(workflows ?? [])
        .filter(({ id }) => id !== self)
        .map(({ id, name }) => ({ value: id, label: name }))}
      value={draft.workflow_id ?? null}
      onValueChange={(workflow_id) => onChange({ ...draft, workflow_id })}
    />
  );
}

function ReplaceAddress({ id, onReplaced }: { id: string; onReplaced: (url: string) => void }) {
  const refresh = useInvalidate("triggers");
  const replace = useMutation(
    useTrpc().triggers.replaceKey.mutationOptions({
      onSuccess: ({ url }) => {
        void refresh();
        toast("Replaced the address");
        onReplaced(url);
      },
    }),
  );
  const confirmation = useConfirm({
    danger: true,
    title: "Replace the address?",
    description: "The old address stops working immediately.",
    confirm: "Replace address",
    onConfirm: () => replace.mutateAsync({ trigger_id: id }),
  });
  return (
    <>
      <Button variant="ghost" className="sm:mr-auto" onClick={confirmation.open}>
        Replace address
      </Button>
      {confirmation.dialog}
    </>
  );
}

/** A command that starts a run by an unsigned webhook. */
function commandFor(url: string, fields: readonly RunInputField[]): string {
  const body = { ...Object.fromEntries(fields.map(({ key }) => [key, "…"])), ...suggestedInput(fields) };
  const quoted = JSON.stringify(body).replaceAll("'", "'\\''");
  return `curl ${url} -H 'content-type: application/json' -d '${quoted}'`;
}
