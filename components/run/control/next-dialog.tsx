"use client";

import { useMutation } from "@tanstack/react-query";
import { Signpost } from "lucide-react";
import { useState } from "react";
import { FormDialog } from "@/components/forms/form-dialog";
import { useRun } from "@/components/run/run-context";
import { useTrpc } from "@/components/trpc";
import { Select, type SelectOption } from "@/components/ui/select";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { AboutNode } from "./about-node";
import { successorsOf } from "./ways-from";

const NOBODY: readonly { agent_id: string; role_name: string }[] = [];

/** Asks what is to come next: a node after this one, or an agent of its crew. */
export function NextDialog({ runId, node, activationId, onClose }: AboutNode) {
  const graph = useRun<WorkflowGraph | null>(({ head }) => head.graph, null);
  const members = useRun(({ head }) => head.crews[activationId]?.members ?? NOBODY, NOBODY);
  const options: SelectOption[] = [
    ...(graph ? successorsOf(graph, node.id) : []).map(({ id, name }) => ({
      value: `node ${id}`,
      label: name || id,
      hint: "Node",
    })),
    ...members.map(({ agent_id, role_name }) => ({
      value: `agent ${agent_id}`,
      label: agent_id,
      hint: `Agent, ${role_name}`,
    })),
  ];
  const [chosen, setChosen] = useState<string | null>(options[0]?.value ?? null);
  const override = useMutation(
    useTrpc().runs.override.mutationOptions({
      onSuccess: onClose,
      onError: () => {},
    }),
  );
  const submit = () => {
    if (chosen === null) return;
    const id = chosen.slice(chosen.indexOf(" ") + 1);
    const next = chosen.startsWith("agent ") ? { agent_id: id } : { to: id };
    override.mutate({ run_id: runId, activation_id: activationId, ...next });
  };
  return (
    <FormDialog
      title={`What comes after ${node.name || node.id}`}
      description="The run goes there, whatever would have been chosen."
      submit="Go there"
      icon={<Signpost aria-hidden />}
      mutation={override}
      onSubmit={submit}
      onClose={onClose}
    >
      <Select label="Next" options={options} value={chosen} onValueChange={setChosen} />
    </FormDialog>
  );
}
