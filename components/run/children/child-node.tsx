"use client";

import { CornerLeftUp, ExternalLink } from "lucide-react";
import { useState } from "react";
import { PageLink } from "@/components/ui/page-link";
import { Spinner } from "@/components/ui/spinner";
import { NodeView } from "../node/node-view";
import { useRun } from "../run-context";
import { ChildRunProvider } from "./child-run";
import { runHref } from "./child-runs";
import type { PickedNode } from "./child-stage";

/** The part of a node in a child run, in the panel of the run around it. */
export function ChildNode({ picked: { runId, nodeId } }: { picked: PickedNode }) {
  return (
    <ChildRunProvider runId={runId}>
      <Loaded runId={runId} nodeId={nodeId} />
    </ChildRunProvider>
  );
}

function Loaded({ runId, nodeId }: PickedNode) {
  const [activation, setActivation] = useState<string | null>(null);
  const isEmpty = useRun(({ lastSeq }) => lastSeq === 0, true);
  const where = useRun(({ head: { run } }) => {
    const item = run.parent?.item;
    return item === undefined ? run.workflow_name : `${run.workflow_name} › item ${item + 1}`;
  }, "");
  if (isEmpty) return <Spinner label="Loading run…" className="m-4" />;
  return (
    <>
      <p className="flex items-center gap-1.5 border-b border-line px-4 py-2 text-[13px] text-ink-2">
        <CornerLeftUp aria-hidden className="size-3.5 shrink-0 text-ink-3" />
        <span className="min-w-0 flex-1 truncate">{where}</span>
        <PageLink
          href={runHref(runId)}
          className="inline-flex shrink-0 items-center gap-1 font-medium text-accent hover:text-accent-hover"
        >
          Open run
          <ExternalLink aria-hidden className="size-3.5" />
        </PageLink>
      </p>
      <NodeView nodeId={nodeId} pickedActivation={activation} onPickActivation={setActivation} />
    </>
  );
}
