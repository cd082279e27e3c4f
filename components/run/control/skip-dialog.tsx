"use client";

import { useMutation } from "@tanstack/react-query";
import { SkipForward } from "lucide-react";
import { useState } from "react";
import { FormDialog } from "@/components/forms/form-dialog";
import { exitLabels } from "@/components/forms/ports";
import { InputFields } from "@/components/forms/schema/input-field";
import { useTrpc } from "@/components/trpc";
import { Select } from "@/components/ui/select";
import { getNodeKind } from "@/server/domain/nodes";
import type { AboutNode } from "./about-node";
import { useGivenValues, useRunGraph } from "./use-given-values";

/** Asks for the output that a node is to have given, and goes on behind it. */
export function SkipDialog({ runId, node, activationId, onClose }: AboutNode) {
  const graph = useRunGraph();
  const given = useGivenValues(graph, node.output_keys);
  const labels = graph && getNodeKind(node.node_type).routes ? exitLabels(graph, node.id) : [];
  const [label, setLabel] = useState<string | null>(labels[0] ?? null);
  const skip = useMutation(
    useTrpc().runs.skip.mutationOptions({
      onSuccess: onClose,
      onError: () => {},
    }),
  );
  const submit = () => {
    const input = given.read();
    if (input === null) return;
    skip.mutate({
      run_id: runId,
      activation_id: activationId,
      output: input,
      ...(label && labels.length > 0 ? { labels: [label] } : {}),
    });
  };
  return (
    <FormDialog
      title={`Skip ${node.name || node.id}`}
      description="It is not carried out. The run goes on as if it had given what stands here."
      submit="Skip it"
      icon={<SkipForward aria-hidden />}
      mutation={skip}
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
      {given.isEmpty && labels.length === 0 ? (
        <p className="text-[13px] text-ink-2">It gives nothing, so nothing is asked.</p>
      ) : null}
      <InputFields {...given.fields} />
    </FormDialog>
  );
}
