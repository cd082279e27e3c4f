"use client";

import { GitBranch } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import type { ForkGraph } from "@/server/domain/run/lineage";
import type { AboutNode } from "./about-node";
import { DrawingChoice, ForkRefused } from "./fork-parts";
import { RecordedNote } from "./recorded-note";
import { useFork } from "./use-fork";

/** Asks how another run is to go on from just before a node, with all that was done until then. */
export function RunFromDialog({ runId, node, activationId, onClose }: AboutNode) {
  const [graph, setGraph] = useState<ForkGraph>("latest");
  const name = node.name || node.id;
  const occurrence = Number(activationId.split("#")[1] ?? "1");
  const { fork, isPending, refusal } = useFork(onClose);
  return (
    <Dialog
      open
      onOpenChange={(next) => next || onClose()}
      title={`Run from ${name}`}
      description={`A new run takes over everything before ${name}${occurrence > 1 ? `, run ${occurrence},` : ""} and continues from there. This run does not change.`}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            icon={<GitBranch aria-hidden />}
            pending={isPending}
            onClick={() => fork({ run_id: runId, at: { node_id: node.id, occurrence }, graph })}
          >
            Run from here
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 pt-1">
        <RecordedNote runId={runId} before="fork" />
        <DrawingChoice value={graph} onChange={setGraph} />
        <ForkRefused refusal={refusal} />
      </div>
    </Dialog>
  );
}
