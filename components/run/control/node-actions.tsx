"use client";

import { GitBranch, MessageSquarePlus, Radio, Signpost, SkipForward } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { useRun, useRunActivation } from "@/components/run/run-context";
import { useRunPage } from "@/components/run/run-page-context";
import { Button } from "@/components/ui/button";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, isCrewNode } from "@/server/domain/nodes";
import { agentsOfNode } from "@/server/domain/run/node-agents";
import { RetryButton } from "./retry-button";
import { TeamButton } from "./team-button";
import { useIsActive } from "./use-control";
import { successorsOf } from "./ways-from";

const SkipDialog = dynamic(() => import("./skip-dialog").then((m) => m.SkipDialog), { ssr: false });
const InstructDialog = dynamic(() => import("./instruct-dialog").then((m) => m.InstructDialog), {
  ssr: false,
});
const SignalDialog = dynamic(() => import("./signal-dialog").then((m) => m.SignalDialog), { ssr: false });
const NextDialog = dynamic(() => import("./next-dialog").then((m) => m.NextDialog), { ssr: false });
const ForkDialog = dynamic(() => import("./fork-dialog").then((m) => m.ForkDialog), { ssr: false });

/** What a person can do about a node while its run is under way; nothing where none of it fits. */
export function NodeActions({
  node,
  activationId,
}: {
  node: WorkflowNode;
  activationId: string | undefined;
}) {
  const page = useRunPage();
  const isActive = useIsActive();
  const isPast = useRun(({ cursor }) => cursor !== null, false);
  const isAlone = useRun(({ head }) => head.run.only_node !== undefined, false);
  const activation = useRunActivation(activationId);
  const isPaused = useRun(({ head }) => head.run.paused_at !== undefined, false);
  const branchCount = useRun(({ head }) => successorsOf(head.graph, node.id).length, 0);
  const hasCrew = useRun(({ head }) => head.crews[activationId ?? ""]?.status === "running", false);
  const [open, setOpen] = useState<"skip" | "from" | "instruct" | "next" | "signal" | null>(null);
  if (!page || !activationId || !activation || isPast) return null;
  const { begins, ends, signal: signalOf } = getNodeKind(node.node_type);
  const signal = signalOf?.(node.config);
  const canSignal = isActive && !page.held && !!signal && isAhead(activation.status);
  const canSkip = isActive && !page.held && !begins && !ends && isAhead(activation.status);
  const canRetry = activation.ends_run === true || activation.waiting?.for === "retry";
  // Where only one way leads on there is nothing to choose, but in a crew.
  const canChoose =
    isActive &&
    !page.held &&
    (isAhead(activation.status) || (isPaused && activation.status === "completed")) &&
    (branchCount > 1 || (hasCrew && isAhead(activation.status)));
  const close = () => setOpen(null);
  const props = { runId: page.runId, node, activationId, onClose: close };
  const offers = [
    canSignal ? (
      <Button key="signal" size="sm" icon={<Radio aria-hidden />} onClick={() => setOpen("signal")}>
        Send signal…
      </Button>
    ) : null,
    canSkip ? (
      <Button key="skip" size="sm" icon={<SkipForward aria-hidden />} onClick={() => setOpen("skip")}>
        Skip…
      </Button>
    ) : null,
    canRetry ? <RetryButton key="retry" size="sm" activationId={activationId} /> : null,
    isActive && !page.held && agentsOfNode(node).length > 0 ? (
      <Button
        key="instruct"
        size="sm"
        icon={<MessageSquarePlus aria-hidden />}
        onClick={() => setOpen("instruct")}
      >
        Message…
      </Button>
    ) : null,
    canChoose ? (
      <Button key="next" size="sm" icon={<Signpost aria-hidden />} onClick={() => setOpen("next")}>
        Next…
      </Button>
    ) : null,
    isCrewNode(node) && isAhead(activation.status) ? <TeamButton key="team" nodeId={node.id} /> : null,
    activation.started_at !== undefined && !isAlone ? (
      <Button key="from" size="sm" icon={<GitBranch aria-hidden />} onClick={() => setOpen("from")}>
        Run from here…
      </Button>
    ) : null,
  ].filter(Boolean);
  if (offers.length === 0) return null;
  return (
    <div
      role="toolbar"
      aria-label={`What can be done about ${node.name || node.id}`}
      className="flex flex-wrap gap-2"
    >
      {offers}
      {open === "skip" ? <SkipDialog {...props} /> : null}
      {open === "instruct" ? (
        <InstructDialog runId={page.runId} target={{ node_id: node.id }} onClose={close} />
      ) : null}
      {open === "signal" && signal ? <SignalDialog runId={page.runId} name={signal} onClose={close} /> : null}
      {open === "next" ? <NextDialog {...props} /> : null}
      {open === "from" ? <ForkDialog {...props} /> : null}
    </div>
  );
}

/** Whether a node has yet to end. */
const isAhead = (status: string) => status === "ready" || status === "running" || status === "waiting";
