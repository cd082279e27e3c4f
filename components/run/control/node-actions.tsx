"use client";

import { GitBranch } from "lucide-react";
import dynamic from "next/dynamic";
import { useRun, useRunActivation, useRunList, useRunViewStore } from "@/components/run/run-context";
import { useRunPage } from "@/components/run/run-page-context";
import { Button } from "@/components/ui/button";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { isCrewNode } from "@/server/domain/nodes";
import { TeamButton } from "../team/team-button";
import { type CommandForm, isAhead, NODE_COMMANDS, type NodeCommand } from "./command-forms";
import { RetryButton } from "./retry-button";
import { useIsActive } from "./use-control";

const CommandDialog = dynamic(() => import("./command-dialog").then((m) => m.CommandDialog), { ssr: false });
const ForkDialog = dynamic(() => import("../fork/fork-dialog").then((m) => m.ForkDialog), { ssr: false });

/** The commands for a node of a run; nothing if none applies. */
export function NodeActions({
  node,
  activationId,
}: {
  node: WorkflowNode;
  activationId: string | undefined;
}) {
  const offers = useOffers(node, activationId);
  const command = useDialog((close, form: CommandForm) => <CommandDialog form={form} onClose={close} />);
  if (!offers) return null;
  const { runId, activation_id, head, commands, canRetry, hasTeam, canFork } = offers;
  const open = ({ form }: NodeCommand) =>
    command.open(form({ run_id: runId, head: head(), node, activation_id }));
  return (
    <div role="toolbar" aria-label={`Actions for ${node.name || node.id}`} className="flex flex-wrap gap-2">
      {commands.map((one) => (
        <Button key={one.label} size="sm" icon={one.icon} onClick={() => open(one)}>
          {one.label}
        </Button>
      ))}
      {canRetry ? <RetryButton size="sm" activationId={activation_id} /> : null}
      {hasTeam ? <TeamButton nodeId={node.id} /> : null}
      {canFork ? <ForkHere runId={runId} activationId={activation_id} /> : null}
      {command.dialog}
    </div>
  );
}

/** What can be done about an execution of a node; null if nothing. */
function useOffers(node: WorkflowNode, activationId: string | undefined) {
  const page = useRunPage();
  const store = useRunViewStore();
  const isActive = useIsActive();
  const isPast = useRun(({ cursor }) => cursor !== null, false);
  const isAlone = useRun(({ head }) => head.run.only_node !== undefined, false);
  const activation = useRunActivation(activationId);
  const activation_id = activationId ?? "";
  const applying = useCommands(node, activation_id);
  const hasTeam = useRun(({ head }) => isCrewNode(node) && isAhead({ head, activation_id }), false);
  if (!page || !store || !activation || isPast) return null;
  const commands = isActive && !page.held ? applying : [];
  const canRetry = activation.ends_run === true || activation.waiting?.for === "retry";
  const canFork = activation.started_at !== undefined && !isAlone;
  if (commands.length === 0 && !canRetry && !hasTeam && !canFork) return null;
  const head = () => store.view.getState().head;
  return { runId: page.runId, activation_id, head, commands, canRetry, hasTeam, canFork };
}

function ForkHere({ runId, activationId }: { runId: string; activationId: string }) {
  const { open, dialog } = useDialog((close) => (
    <ForkDialog runId={runId} activationId={activationId} onClose={close} />
  ));
  return (
    <>
      <Button size="sm" icon={<GitBranch aria-hidden />} onClick={open}>
        Fork from here…
      </Button>
      {dialog}
    </>
  );
}

/** The commands that apply to a node now. */
function useCommands(node: WorkflowNode, activation_id: string): NodeCommand[] {
  const labels = useRunList<string>(({ head }) =>
    NODE_COMMANDS.filter(({ applies }) => applies({ head, node, activation_id })).map(({ label }) => label),
  );
  return NODE_COMMANDS.filter(({ label }) => labels.includes(label));
}
