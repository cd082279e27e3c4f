"use client";

import { useMutation } from "@tanstack/react-query";
import { SkipForward } from "lucide-react";
import { useState } from "react";
import { InputFields } from "@/components/forms/input-field";
import { type InputError, type InputValues, readInput, toField } from "@/components/forms/input-fields";
import { exitLabels } from "@/components/forms/ports";
import { useRun } from "@/components/run/run-context";
import { toApiError, useTrpc } from "@/components/trpc";
import { Select } from "@/components/ui/select";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { stateProperties } from "@/server/domain/graph/state-properties";
import { getNodeKind } from "@/server/domain/nodes";
import type { AboutNode } from "./about-node";
import { CommandDialog } from "./command-dialog";

/** Asks for the output that a node is to have given, and goes on behind it. */
export function SkipDialog({ runId, node, activationId, onClose }: AboutNode) {
  const graph = useRun<WorkflowGraph | null>(({ head }) => head.graph, null);
  const known = graph ? stateProperties(graph) : {};
  const fields = node.output_keys.map((key) =>
    toField({ key, schema: (Object.hasOwn(known, key) ? known[key] : undefined) ?? {}, required: true }),
  );
  const labels = graph && getNodeKind(node.node_type).routes ? exitLabels(graph, node.id) : [];
  const [label, setLabel] = useState<string | null>(labels[0] ?? null);
  const [values, setValues] = useState<InputValues>({});
  const [errors, setErrors] = useState<readonly InputError[]>([]);
  const [trouble, setTrouble] = useState<string | null>(null);
  const skip = useMutation(
    useTrpc().runs.skip.mutationOptions({
      onSuccess: onClose,
      onError: (error) => setTrouble(toApiError(error).message),
    }),
  );
  const submit = () => {
    setTrouble(null);
    const read = readInput(fields, values);
    setErrors(read.errors);
    if (read.errors.length > 0) return;
    skip.mutate({
      run_id: runId,
      activation_id: activationId,
      output: read.input,
      ...(label && labels.length > 0 ? { labels: [label] } : {}),
    });
  };
  return (
    <CommandDialog
      title={`Skip ${node.name || node.id}`}
      description="It is not carried out. The run goes on as if it had given what stands here."
      send="Skip it"
      icon={<SkipForward aria-hidden />}
      isPending={skip.isPending}
      trouble={trouble}
      sticky
      onSubmit={submit}
      onClose={onClose}
    >
      {labels.length > 0 ? (
        <Select
          label="Way on"
          options={labels.map((value) => ({ value, label: value }))}
          value={label}
          onValueChange={setLabel}
        />
      ) : null}
      {fields.length === 0 && labels.length === 0 ? (
        <p className="text-[13px] text-ink-2">It gives nothing, so nothing is asked.</p>
      ) : null}
      <InputFields
        autoFocus
        {...{ fields, values, errors }}
        onChange={(next, left) => {
          setValues(next);
          setErrors(left);
        }}
      />
    </CommandDialog>
  );
}
