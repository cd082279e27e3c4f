"use client";

import { useQuery } from "@tanstack/react-query";
import { Pin } from "lucide-react";
import { useState } from "react";
import { FormDialog } from "@/components/forms/form-dialog";
import { exitLabels } from "@/components/forms/ports";
import { JsonField } from "@/components/forms/schema/json-field";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Select } from "@/components/ui/input/select";
import { defined } from "@/server/domain/base/defined";
import { isObject } from "@/server/domain/base/guards";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind } from "@/server/domain/nodes";
import { makeOf, type Tried, type TryOutStore } from "./try-out-store";

export interface PinProps {
  workflowId: string;
  graph: WorkflowGraph;
  node: WorkflowNode;
  store: TryOutStore;
  onClose: () => void;
}

/** Asks for the output that a node is to give in runs from the editor, as it gave it last or written here. */
export function PinDialog(props: PinProps) {
  const { workflowId, node, store } = props;
  const { pins, tries } = store.getState();
  const tried = tries[node.id];
  const known: Partial<Tried> | undefined =
    pins[node.id] ?? (tried?.output ? { ...tried, output: tried.output } : undefined);
  const last = useQuery({
    ...useTrpc().runs.nodeResult.queryOptions({ workflow_id: workflowId, node_id: node.id }),
    enabled: !known,
    gcTime: 0,
    retry: false,
  });
  if (known) return <Asking {...props} from={known} />;
  if (last.isPending) return null;
  const { output, labels, input } = last.data ?? {};
  return (
    <Asking
      {...props}
      from={{ ...defined({ input, output: output || undefined, labels: labels || undefined }) }}
    />
  );
}

function Asking({ graph, node, store, onClose, from }: PinProps & { from: Partial<Tried> }) {
  const isRouter = getNodeKind(node.node_type).routes === true;
  const labels = isRouter ? exitLabels(graph, node.id) : [];
  const [output, setOutput] = useState<JsonObject>(() => from.output ?? emptyOutput(node));
  const [error, setError] = useState<string | null>(null);
  const [label, setLabel] = useState<string | null>(from.labels?.[0] ?? labels[0] ?? null);
  const isPinned = store.getState().pins[node.id] !== undefined;
  return (
    <FormDialog
      sticky
      title={`Pin output of ${node.name || node.id}`}
      description="Editor runs use this output instead of running the node. Runs started by the API, the CLI or a trigger ignore it."
      submit="Pin"
      icon={<Pin aria-hidden />}
      isIncomplete={error !== null}
      actions={
        isPinned ? (
          <Button
            variant="ghost"
            className="mr-auto"
            onClick={() => {
              store.unpin(node.id);
              onClose();
            }}
          >
            Unpin
          </Button>
        ) : null
      }
      onSubmit={() => {
        store.pin(node.id, {
          at: Date.now(),
          input: from.input ?? {},
          output,
          ...defined({ labels: isRouter && label ? [label] : undefined }),
          made_of: makeOf(node),
        });
        onClose();
      }}
      onClose={onClose}
    >
      {isRouter ? (
        <Select
          label="Route"
          options={labels.map((value) => ({ value, label: value }))}
          value={label}
          onValueChange={setLabel}
        />
      ) : null}
      <JsonField
        label="Output"
        hint={from.output ? "Last output; edit as needed" : "One entry per output key"}
        value={output}
        onChange={(value) => {
          if (isObject(value)) setOutput(value);
        }}
        check={(value) => (isObject(value) ? null : "Output must be a JSON object.")}
        onErrorChange={setError}
      />
    </FormDialog>
  );
}

const emptyOutput = ({ output_keys }: WorkflowNode): JsonObject =>
  Object.fromEntries(output_keys.map((key): [string, Json] => [key, ""]));
