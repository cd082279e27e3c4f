"use client";

import { useMutation } from "@tanstack/react-query";
import { Signpost } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useRun } from "@/components/run/run-context";
import { toApiError, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Select, type SelectOption } from "@/components/ui/select";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { AboutNode } from "./about-node";
import { waysFrom } from "./ways-from";

const FORM = "next-form";
const NOBODY: readonly { agent_id: string; role_name: string }[] = [];

/** Asks what is to come next: a node after this one, or an agent of its crew. */
export function NextDialog({ runId, node, activationId, onClose }: AboutNode) {
  const graph = useRun<WorkflowGraph | null>(({ head }) => head.graph, null);
  const members = useRun(({ head }) => head.crews[activationId]?.members ?? NOBODY, NOBODY);
  const options: SelectOption[] = [
    ...(graph ? waysFrom(graph, node.id) : []).map(({ id, name }) => ({
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
  const [trouble, setTrouble] = useState<string | null>(null);
  const override = useMutation(
    useTrpc().runs.override.mutationOptions({
      onSuccess: onClose,
      onError: (error) => setTrouble(toApiError(error).message),
    }),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTrouble(null);
    if (chosen === null) return;
    const id = chosen.slice(chosen.indexOf(" ") + 1);
    const next = chosen.startsWith("agent ") ? { agent_id: id } : { to: id };
    override.mutate({ run_id: runId, activation_id: activationId, ...next });
  };
  return (
    <Dialog
      open
      onOpenChange={(next) => next || onClose()}
      title={`What comes after ${node.name || node.id}`}
      description="The run goes there, whatever would have been chosen."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={FORM}
            variant="primary"
            icon={<Signpost aria-hidden />}
            pending={override.isPending}
          >
            Go there
          </Button>
        </>
      }
    >
      <form id={FORM} noValidate onSubmit={submit} className="flex flex-col gap-4 pt-1">
        <Select label="Next" options={options} value={chosen} onValueChange={setChosen} />
        {trouble ? (
          <p role="alert" className="text-[13px] text-failed">
            {trouble}
          </p>
        ) : null}
      </form>
    </Dialog>
  );
}
