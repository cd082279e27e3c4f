"use client";

import { useMutation } from "@tanstack/react-query";
import { Radio } from "lucide-react";
import { useState } from "react";
import { InputFields } from "@/components/forms/input-field";
import { type InputError, type InputValues, readInput, toField } from "@/components/forms/input-fields";
import { useRun } from "@/components/run/run-context";
import { toApiError, useTrpc } from "@/components/trpc";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { stateProperties } from "@/server/domain/graph/state-properties";
import { getNodeKind } from "@/server/domain/nodes";
import { CommandDialog } from "./command-dialog";

/** Sends a run the signal that nodes of it wait for, with the values that they give on. */
export function SignalDialog({
  runId,
  name,
  onClose,
}: {
  runId: string;
  /** Of the signal. */
  name: string;
  onClose: () => void;
}) {
  const graph = useRun<WorkflowGraph | null>(({ head }) => head.graph, null);
  const known = graph ? stateProperties(graph) : {};
  const fields = keysOf(graph, name).map((key) =>
    toField({ key, schema: (Object.hasOwn(known, key) ? known[key] : undefined) ?? {}, required: true }),
  );
  const [values, setValues] = useState<InputValues>({});
  const [errors, setErrors] = useState<readonly InputError[]>([]);
  const [trouble, setTrouble] = useState<string | null>(null);
  const signal = useMutation(
    useTrpc().runs.signal.mutationOptions({
      onSuccess: onClose,
      onError: (error) => setTrouble(toApiError(error).message),
    }),
  );
  const submit = () => {
    setTrouble(null);
    const read = readInput(fields, values);
    setErrors(read.errors);
    if (read.errors.length > 0) return;
    signal.mutate({ run_id: runId, name, data: fields.length === 0 ? null : read.input });
  };
  return (
    <CommandDialog
      title={`Send the signal “${name}”`}
      description="Whoever waits for it goes on with what stands here. Where nobody waits yet, it is kept for the first that does."
      send="Send"
      icon={<Radio aria-hidden />}
      isPending={signal.isPending}
      trouble={trouble}
      sticky={fields.length > 0}
      onSubmit={submit}
      onClose={onClose}
    >
      {fields.length === 0 ? <p className="text-[13px] text-ink-2">It brings no values along.</p> : null}
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

/** The values that the nodes give on which wait for the signal. */
function keysOf(graph: WorkflowGraph | null, name: string): string[] {
  const waiting = Object.values(graph?.nodes ?? {}).filter(
    (node) => getNodeKind(node.node_type).signal?.(node.config) === name,
  );
  return [...new Set(waiting.flatMap(({ output_keys }) => output_keys))];
}
