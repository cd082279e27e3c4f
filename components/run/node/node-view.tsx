"use client";

import clsx from "clsx";
import { MousePointerClick, Pencil } from "lucide-react";
import Link from "next/link";
import { useMemo, useState } from "react";
import { captionsOf } from "@/components/canvas/cards/captions";
import { shownStatus } from "@/components/canvas/cards/child-progress";
import { StatusMark } from "@/components/display/status-mark";
import { EmptyState } from "@/components/ui/empty-state";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { findNodeKind } from "@/server/domain/nodes";
import { NodeActions } from "../control/node-actions";
import { StaleNote } from "../result/stale-note";
import { useRun, useRunActivation, useRunList, useRunNode } from "../run-context";
import { useWorkflowNames } from "../run-drawing";
import { ActivationDetail } from "./activation-detail";

const MANY = 12;

/** 1 2 3 …: the executions of the node; the latest is shown until another is selected. */
function ActivationPicker({
  ids,
  shown,
  isLatest,
  onPick,
}: {
  ids: readonly string[];
  shown: string | undefined;
  isLatest: boolean;
  onPick: (id: string | null) => void;
}) {
  const [isWhole, setWhole] = useState(false);
  const first = isWhole || ids.length <= MANY ? 0 : ids.length - MANY;
  return (
    <div role="radiogroup" aria-label="Node runs" className="flex flex-wrap items-center gap-1">
      {first > 0 ? (
        <button
          type="button"
          className={clsx(chip, "border-line text-ink-2")}
          onClick={() => setWhole(true)}
          aria-label="Show all node runs"
        >
          1…{first}
        </button>
      ) : null}
      {ids.slice(first).map((id, at) => (
        <TurnChip
          key={id}
          id={id}
          turn={first + at + 1}
          isShown={id === shown}
          onPick={() => onPick(id === ids.at(-1) ? null : id)}
        />
      ))}
      {isLatest ? null : (
        <button
          type="button"
          onClick={() => onPick(null)}
          className="ml-1 text-xs font-medium text-accent hover:text-accent-hover"
        >
          Latest
        </button>
      )}
    </div>
  );
}

const chip =
  "inline-flex h-7 min-w-7 items-center justify-center gap-1 rounded-md border px-1.5 text-xs tabular-nums pointer-coarse:h-9 pointer-coarse:min-w-9";

function TurnChip({
  id,
  turn,
  isShown,
  onPick,
}: {
  id: string;
  turn: number;
  isShown: boolean;
  onPick: () => void;
}) {
  const status = useRun(({ state }) => state.activations[id]?.status ?? "idle", "idle" as const);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a row of small buttons, one of them on
    <button
      type="button"
      role="radio"
      aria-checked={isShown}
      aria-label={`Run ${turn}`}
      onClick={onPick}
      className={clsx(
        chip,
        isShown ? "border-accent bg-accent-soft text-ink" : "border-line text-ink-2 hover:border-line-strong",
      )}
    >
      {turn}
      {status === "completed" ? null : <StatusMark status={status} size="sm" className="scale-75" />}
    </button>
  );
}

/** One node's part in the run: input, work, output. */
export function NodeView({
  nodeId,
  pickedActivation,
  onPickActivation,
}: {
  nodeId: string | null;
  /** Null: the latest one. */
  pickedActivation: string | null;
  onPickActivation: (id: string | null) => void;
}) {
  const node = useRun<WorkflowNode | undefined>(
    ({ head }) => (nodeId ? head.graph.nodes[nodeId] : undefined),
    undefined,
  );
  if (!nodeId || !node)
    return (
      <EmptyState icon={<MousePointerClick />} title="No node selected">
        Select a node to see its input, steps and output.
      </EmptyState>
    );
  return (
    <NodeDetail
      key={nodeId}
      node={node}
      pickedActivation={pickedActivation}
      onPickActivation={onPickActivation}
    />
  );
}

function NodeDetail({
  node,
  pickedActivation,
  onPickActivation,
}: {
  node: WorkflowNode;
  pickedActivation: string | null;
  onPickActivation: (id: string | null) => void;
}) {
  const kind = findNodeKind(node.node_type);
  const graph = useRun<WorkflowGraph | null>(({ head }) => head.graph, null);
  const workflows = useWorkflowNames();
  const summary = useMemo(
    () => (graph ? captionsOf(graph, workflows).get(node.id)?.summary : undefined),
    [graph, workflows, node.id],
  );
  const seen = useRunNode(node.id);
  const isPast = useRun(({ cursor }) => cursor !== null, false);
  const ids = useRunList<string>(({ state }) =>
    Array.from({ length: state.nodes[node.id]?.count ?? 0 }, (_, at) => `${node.id}#${at + 1}`),
  );
  const shown = pickedActivation && ids.includes(pickedActivation) ? pickedActivation : ids.at(-1);
  const activation = useRunActivation(shown);
  const workflowId = useRun<string | null>(({ state }) => state.run.workflow_id, null);
  return (
    <article aria-label={`${node.name || node.id} in this run`} className="flex flex-col gap-5 p-4">
      <header className="flex flex-col gap-2">
        <div className="flex items-center gap-2">
          <h2 className="min-w-0 flex-1 truncate text-base font-semibold">{node.name || node.id}</h2>
          <StatusMark
            status={shownStatus(activation?.status ?? seen?.status ?? "idle", activation?.children)}
            withWord
            isPast={isPast}
          />
        </div>
        <p className="flex items-center gap-2 text-[13px] text-ink-2">
          <span className="min-w-0 flex-1 truncate">
            {kind ? `${kind.title}: ${summary ?? kind.summary(node.config, node)}` : node.node_type}
          </span>
          {workflowId ? (
            <Link
              href={`/workflows/${workflowId}?node=${encodeURIComponent(node.id)}`}
              className="inline-flex shrink-0 items-center gap-1 text-xs text-ink-3 hover:text-accent"
            >
              <Pencil aria-hidden className="size-3" />
              Edit
            </Link>
          ) : null}
        </p>
        {ids.length > 1 ? (
          <ActivationPicker
            ids={ids}
            shown={shown}
            isLatest={pickedActivation === null}
            onPick={onPickActivation}
          />
        ) : null}
      </header>
      <NodeActions node={node} activationId={shown} />
      <StaleNote nodeId={node.id} />
      {activation ? (
        <ActivationDetail node={node} activation={activation} />
      ) : (
        <p className="text-[13px] text-ink-2">
          {seen?.status === "skipped"
            ? "This node was skipped: another branch was taken."
            : "Not reached yet."}
        </p>
      )}
    </article>
  );
}
