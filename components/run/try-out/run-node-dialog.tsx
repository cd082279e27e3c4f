"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { Play } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { FormDialog } from "@/components/forms/form-dialog";
import { InputFields, useInput } from "@/components/forms/schema/input-field";
import { type InputField, readInput, toField, toValues } from "@/components/forms/schema/input-fields";
import { readRejection } from "@/components/run/read-rejection";
import { useTrpc } from "@/components/trpc";
import type { JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { graphOfNode } from "@/server/domain/graph/only-node";
import { inputFields } from "@/server/domain/graph/run-input";
import { makeOf, type TryOutStore } from "./try-out-store";

export interface RunNodeProps {
  workflowId: string;
  graph: WorkflowGraph;
  node: WorkflowNode;
  store: TryOutStore;
  /** Runs before the start: saves the workflow. False: it could not be saved. */
  beforeStart: () => Promise<boolean>;
  /** Runs without asking if the last inputs are all that the node needs. */
  isDirect?: boolean;
  onClose: () => void;
}

/** Asks what one node is to begin with, and runs it by itself. */
export function RunNodeDialog(props: RunNodeProps) {
  const { workflowId, graph, node } = props;
  const [fields] = useState(() => {
    const alone = graphOfNode(graph, node.id);
    return alone ? inputFields(alone).map(toField) : [];
  });
  const keys = fields.map(({ key }) => key);
  const last = useQuery({
    ...useTrpc().runs.nodeResult.queryOptions({ workflow_id: workflowId, node_id: node.id, keys }),
    gcTime: 0,
    retry: false,
  });
  return last.isPending ? null : <Asking {...props} fields={fields} last={last.data ?? null} />;
}

function Asking({
  workflowId,
  node,
  store,
  beforeStart,
  isDirect = false,
  onClose,
  fields,
  last,
}: RunNodeProps & { fields: InputField[]; last: { input: JsonObject } | null }) {
  const given = last?.input ?? store.getState().tries[node.id]?.input;
  const initial = () => toValues(fields, given ?? {});
  const entered = useInput(fields, initial);
  const [formError, setFormError] = useState<string | null>(null);
  const [isAsking, setAsking] = useState(
    () => !isDirect || (fields.length > 0 && !given) || readInput(fields, initial()).errors.length > 0,
  );
  const start = useMutation(
    useTrpc().runs.startNode.mutationOptions({
      onError(error) {
        setAsking(true);
        const { message, errors: inputErrors, problems } = readRejection(error);
        entered.setErrors(inputErrors);
        const ofField = inputErrors.filter(({ key }) => fields.some((field) => field.key === key));
        setFormError(
          problems[0]?.message ?? (ofField.length > 0 ? null : (inputErrors[0]?.message ?? message)),
        );
      },
    }),
  );
  const submit = async () => {
    setFormError(null);
    const state = entered.read();
    if (!state) return;
    if (!(await beforeStart())) {
      setAsking(true);
      return setFormError("Couldn't save the workflow, so the node didn't run. Try again.");
    }
    start.mutate(
      { workflow_id: workflowId, node_id: node.id, state },
      {
        onSuccess({ run_id }) {
          const begun = { run_id, at: Date.now(), input: state, output: null, made_of: makeOf(node) };
          store.put(node.id, { ...begun, status: "running" });
          onClose();
        },
      },
    );
  };
  const isBegun = useRef(false);
  useEffect(() => {
    if (isAsking || isBegun.current) return;
    isBegun.current = true;
    void submit();
  });
  if (!isAsking) return null;
  return (
    <FormDialog
      sticky
      title={`Try ${node.name || node.id}`}
      description="Runs only this node, with these inputs. The result appears on the canvas."
      submit="Try this node"
      icon={<Play aria-hidden />}
      mutation={{ isPending: start.isPending, error: formError }}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      {fields.length === 0 ? <p className="text-[13px] text-ink-2">This node has no inputs.</p> : null}
      {fields.length > 0 && given ? (
        <p className="text-[13px] text-ink-2">Filled in with its last inputs.</p>
      ) : null}
      <InputFields {...entered.props} />
    </FormDialog>
  );
}
