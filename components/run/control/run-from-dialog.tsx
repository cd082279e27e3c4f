"use client";

import { useMutation } from "@tanstack/react-query";
import { GitBranch } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { useRun } from "@/components/run/run-context";
import { toApiError, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { SegmentedControl } from "@/components/ui/segmented-control";
import type { AboutNode } from "./about-node";

/** Asks how another run is to go on from just before a node, with all that was done until then. */
export function RunFromDialog({ runId, node, activationId, onClose }: AboutNode) {
  const router = useRouter();
  const workflowId = useRun<string | null>(({ head }) => head.run.workflow_id, null);
  const [graph, setGraph] = useState<"original" | "latest">("latest");
  const [trouble, setTrouble] = useState<string | null>(null);
  const name = node.name || node.id;
  const occurrence = Number(activationId.split("#")[1] ?? "1");
  const fork = useMutation(
    useTrpc().runs.fork.mutationOptions({
      onSuccess: ({ run_id }) => {
        onClose();
        router.push(workflowId === null ? `/runs/${run_id}` : `/workflows/${workflowId}/runs/${run_id}`);
      },
      onError: (error) => setTrouble(toApiError(error).message),
    }),
  );
  return (
    <Dialog
      open
      onOpenChange={(next) => next || onClose()}
      title={`Run from ${name}`}
      description={`Another run takes over all that was done before ${name}${occurrence > 1 ? `, time ${occurrence},` : ""} and goes on from there. This one stays as it is.`}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            icon={<GitBranch aria-hidden />}
            pending={fork.isPending}
            onClick={() => fork.mutate({ run_id: runId, at: { node_id: node.id, occurrence }, graph })}
          >
            Run from here
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 pt-1">
        <SegmentedControl
          label="Drawing"
          value={graph}
          onValueChange={setGraph}
          options={[
            { value: "latest", label: "As it is now" },
            { value: "original", label: "As it was then" },
          ]}
        />
        {trouble ? (
          <p role="alert" className="text-[13px] text-failed">
            {trouble}
          </p>
        ) : null}
      </div>
    </Dialog>
  );
}
