"use client";

import { useMutation } from "@tanstack/react-query";
import { Radio } from "lucide-react";
import { FormDialog } from "@/components/forms/form-dialog";
import { InputFields } from "@/components/forms/schema/input-field";
import { useTrpc } from "@/components/trpc";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { getNodeKind } from "@/server/domain/nodes";
import { useGivenValues, useRunGraph } from "./use-given-values";

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
  const graph = useRunGraph();
  const given = useGivenValues(graph, keysOf(graph, name));
  const signal = useMutation(
    useTrpc().runs.signal.mutationOptions({
      onSuccess: onClose,
      onError: () => {},
    }),
  );
  const submit = () => {
    const input = given.read();
    if (input === null) return;
    signal.mutate({ run_id: runId, name, data: given.isEmpty ? null : input });
  };
  return (
    <FormDialog
      title={`Send the signal “${name}”`}
      description="Whoever waits for it goes on with what stands here. Where nobody waits yet, it is kept for the first that does."
      submit="Send"
      icon={<Radio aria-hidden />}
      mutation={signal}
      sticky={!given.isEmpty}
      onSubmit={submit}
      onClose={onClose}
    >
      {given.isEmpty ? <p className="text-[13px] text-ink-2">It brings no values along.</p> : null}
      <InputFields {...given.fields} />
    </FormDialog>
  );
}

/** The values that the nodes give on which wait for the signal. */
function keysOf(graph: WorkflowGraph | null, name: string): string[] {
  const waiting = Object.values(graph?.nodes ?? {}).filter(
    (node) => getNodeKind(node.node_type).signal?.(node.config) === name,
  );
  return [...new Set(waiting.flatMap(({ output_keys }) => output_keys))];
}
