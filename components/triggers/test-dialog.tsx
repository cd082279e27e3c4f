"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useMemo } from "react";
import { FormDialog } from "@/components/forms/form-dialog";
import { InputFields, useInput } from "@/components/forms/schema/input-field";
import { toField, toValues } from "@/components/forms/schema/input-fields";
import { useInvalidate, useTrpc } from "@/components/trpc";
import { toast } from "@/components/ui/toasts";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { inputFields } from "@/server/domain/graph/run-input";
import { suggestedInput } from "@/server/domain/trigger/trigger-input";
import { plannedInput } from "./trigger-draft";
import type { Trigger } from "./trigger-kinds";

interface Props {
  trigger: Trigger;
  graph: WorkflowGraph;
  onClose: () => void;
}

/** Starts a run as a trigger would, with the input to enter. */
export function TestDialog({ trigger, graph, onClose }: Props) {
  const refresh = useInvalidate("triggers", "runs");
  const router = useRouter();
  const fields = useMemo(() => inputFields(graph), [graph]);
  const shown = useMemo(() => fields.map(toField), [fields]);
  const input = useInput(shown, () =>
    toValues(shown, trigger.kind === "schedule" ? plannedInput(trigger) : suggestedInput(fields)),
  );
  const test = useMutation(
    useTrpc().triggers.test.mutationOptions({
      onSuccess: ({ run_id }) => {
        onClose();
        toast(
          "Started a test run",
          run_id ? { action: { label: "Open", onSelect: () => router.push(`/runs/${run_id}`) } } : {},
        );
      },
      onError: () => {},
      onSettled: () => void refresh(),
    }),
  );
  return (
    <FormDialog
      title="Test trigger"
      description="Starts a run of the published version."
      submit="Start test"
      mutation={test}
      onSubmit={() => {
        const values = input.read();
        if (values) test.mutate({ trigger_id: trigger.id, input: values });
      }}
      onClose={onClose}
    >
      {fields.length > 0 ? <InputFields {...input.props} compact /> : null}
    </FormDialog>
  );
}
