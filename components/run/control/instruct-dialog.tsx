"use client";

import { useMutation } from "@tanstack/react-query";
import { Send } from "lucide-react";
import { useState } from "react";
import { FormDialog } from "@/components/forms/form-dialog";
import { useRun } from "@/components/run/run-context";
import { useTrpc } from "@/components/trpc";
import { Select, type SelectOption } from "@/components/ui/select";
import { TextArea } from "@/components/ui/text-area";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { InstructionTarget } from "@/server/domain/run/commands/instructions";
import { agentsOfNode } from "@/server/domain/run/node-agents";

/** Tells the agents of a run something: all of them, those of a node, or one. */
export function InstructDialog({
  runId,
  target,
  onClose,
}: {
  runId: string;
  /** Whom it is for at first. */
  target: InstructionTarget;
  onClose: () => void;
}) {
  const graph = useRun<WorkflowGraph | null>(({ head }) => head.graph, null);
  const [to, setTo] = useState(() => keyOf(target));
  const [text, setText] = useState("");
  const [wasTried, setTried] = useState(false);
  const instruct = useMutation(
    useTrpc().runs.inject.mutationOptions({
      onSuccess: onClose,
      onError: () => {},
    }),
  );
  const submit = () => {
    setTried(true);
    if (text.trim() !== "") instruct.mutate({ run_id: runId, target: targetOf(to), text });
  };
  return (
    <FormDialog
      title="Message agents"
      description="Agents read it before their next model call, until the end of the run. An agent that is answering now is asked again."
      submit="Send"
      icon={<Send aria-hidden />}
      mutation={instruct}
      error={wasTried && text.trim() === "" ? "Enter a message." : null}
      sticky
      onSubmit={submit}
      onClose={onClose}
    >
      <Select label="To" options={graph ? targetsIn(graph) : []} value={to} onValueChange={setTo} />
      <TextArea label="Message" rows={4} value={text} onValueChange={setText} />
    </FormDialog>
  );
}

const RUN = "run";

function keyOf(target: InstructionTarget): string {
  if ("node_id" in target) return `node ${target.node_id}`;
  return "agent_id" in target ? `agent ${target.agent_id}` : RUN;
}

function targetOf(key: string): InstructionTarget {
  const id = key.slice(key.indexOf(" ") + 1);
  if (key.startsWith("node ")) return { node_id: id };
  return key.startsWith("agent ") ? { agent_id: id } : { run: true };
}

/** Everybody, each node that asks a model, and each agent that is not all of its node. */
function targetsIn({ nodes }: WorkflowGraph): SelectOption[] {
  const asking = Object.values(nodes).filter((node) => agentsOfNode(node).length > 0);
  const agents = new Set(asking.flatMap((node) => (agentsOfNode(node).length > 1 ? agentsOfNode(node) : [])));
  return [
    { value: RUN, label: "All agents of the run" },
    ...asking.map(({ id, name }) => ({ value: `node ${id}`, label: name || id, hint: "Node" })),
    ...[...agents].map((id) => ({ value: `agent ${id}`, label: id, hint: "Agent" })),
  ];
}
