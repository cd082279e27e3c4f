"use client";

import { GitBranch } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { useRun, useRunActivation } from "@/components/run/run-context";
import { useRunPage } from "@/components/run/run-page-context";
import { Button } from "@/components/ui/button";
import type { WorkflowNode } from "@/server/domain/graph/graph";

const RunFromDialog = dynamic(() => import("./run-from-dialog").then((m) => m.RunFromDialog), { ssr: false });

/** What a person can do about one time that a node ran. */
export function NodeActions({
  node,
  activationId,
}: {
  node: WorkflowNode;
  activationId: string | undefined;
}) {
  const page = useRunPage();
  const hasBegun = useRunActivation(activationId)?.started_at !== undefined;
  const isAlone = useRun(({ head }) => head.run.only_node !== undefined, false);
  const [isOpen, setOpen] = useState(false);
  if (!page || activationId === undefined || !hasBegun || isAlone) return null;
  return (
    <div
      role="toolbar"
      aria-label={`What can be done about ${node.name || node.id}`}
      className="flex flex-wrap gap-2"
    >
      <Button size="sm" icon={<GitBranch aria-hidden />} onClick={() => setOpen(true)}>
        Run from here…
      </Button>
      {isOpen ? (
        <RunFromDialog {...{ node, activationId }} runId={page.runId} onClose={() => setOpen(false)} />
      ) : null}
    </div>
  );
}
