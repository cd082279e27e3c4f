"use client";

import clsx from "clsx";
import { type ReactNode, useMemo } from "react";
import { formatDuration } from "@/components/display/format";
import { StatusMark } from "@/components/display/status-mark";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, noteTextOf } from "@/server/domain/nodes";
import { silhouetteOf } from "@/server/domain/nodes/silhouette";
import { plainText } from "@/server/domain/text/plain-text";
import { useBreakpointMark } from "./breakpoint-context";
import { BreakpointSign } from "./breakpoint-dot";
import { CanvasContext, type NamedAgents, useCanvas } from "./canvas-context";
import { type CanvasRun, CanvasRunContext, useNodeRunView } from "./canvas-run-context";
import { type Caption, captionsOf } from "./cards/captions";
import { doerOf, NodeFace } from "./cards/card-face";
import { describeProgress, shownStatus } from "./cards/child-progress";
import { MarkIcon } from "./cards/mark-icon";
import { StaleMark, useStaleReason } from "./cards/stale-mark";
import { useCardTry } from "./cards/tried-context";
import type { Mark } from "./flow-mapping";
import { readingOrder } from "./navigation";
import "./canvas.css";

export interface NodeListProps {
  graph: WorkflowGraph;
  roles?: ReadonlyMap<string, RoleDefinition>;
  agents?: NamedAgents;
  /** Names of the workflows that nodes run, by id. */
  workflows?: ReadonlyMap<string, string> | undefined;
  /** The run whose states it shows. */
  run?: CanvasRun | null;
  marks?: ReadonlyMap<string, Mark> | undefined;
  selected: ReadonlySet<string>;
  onPick: (nodeId: string) => void;
  onOpen?: (nodeId: string) => void;
  /** The content below a node's row. */
  under?: (nodeId: string) => ReactNode;
}

const NO_ROLES: ReadonlyMap<string, RoleDefinition> = new Map();
const NO_AGENTS: NamedAgents = new Map();

/** The nodes as a list, in reading order: for phones, screen readers and large workflows. */
export function NodeList(props: NodeListProps) {
  const {
    graph,
    roles = NO_ROLES,
    agents = NO_AGENTS,
    run = null,
    marks,
    selected,
    onPick,
    onOpen,
    workflows,
  } = props;
  const canvas = useMemo(() => ({ editing: null, roles, agents }), [roles, agents]);
  const order = useMemo(() => readingOrder(graph), [graph]);
  const captions = useMemo(() => captionsOf(graph, workflows), [graph, workflows]);
  return (
    <CanvasContext.Provider value={canvas}>
      <CanvasRunContext.Provider value={run}>
        <ol aria-label="Nodes in reading order" className="node-list flex flex-col gap-0.5 p-2">
          {order.map((id) => {
            const node = graph.nodes[id];
            return node ? (
              <li key={id} data-shape={silhouetteOf(node)}>
                <button
                  type="button"
                  aria-current={selected.has(id) || undefined}
                  onClick={() => onPick(id)}
                  onDoubleClick={() => onOpen?.(id)}
                  className={clsx(
                    "flex w-full items-start gap-2.5 rounded-lg px-2 py-2 text-left text-[13px] hover:bg-ink/5 pointer-coarse:min-h-14",
                    selected.has(id) && "bg-accent-soft hover:bg-accent-soft",
                  )}
                >
                  <NodeFace node={node} size={32} />
                  <ItemContent graph={graph} node={node} caption={captions.get(id)} />
                  <State nodeId={id} mark={marks?.get(id)} />
                </button>
                {props.under?.(id)}
              </li>
            ) : null;
          })}
        </ol>
      </CanvasRunContext.Provider>
    </CanvasContext.Provider>
  );
}

/** The name, who does it, and its result in the run, or the next nodes. */
function ItemContent({
  graph,
  node,
  caption,
}: {
  graph: WorkflowGraph;
  node: WorkflowNode;
  caption: Caption | undefined;
}) {
  const { agents } = useCanvas();
  const run = useNodeRunView(node.id);
  const kind = getNodeKind(node.node_type);
  const note = noteTextOf(node);
  const text = run?.error ?? run?.summary;
  const facts = [
    ...(run?.durationMs === undefined ? [] : [formatDuration(run.durationMs)]),
    ...(run?.cost ? [run.cost] : []),
    ...(run?.children ? [describeProgress(run.children)] : []),
  ];
  const outgoing = run ? [] : graph.edges.filter(({ source_node_id }) => source_node_id === node.id);
  return (
    <span className="min-w-0 flex-1">
      <span className="block font-medium [overflow-wrap:anywhere]">{node.name || kind.title}</span>
      <span className="block text-xs text-ink-2 [overflow-wrap:anywhere]">
        {note === undefined
          ? (doerOf(node, agents).name ?? caption?.summary ?? kind.summary(node.config, node))
          : plainText(note)}
        {caption?.owner === undefined ? null : ` · Runs in ${caption.owner}`}
      </span>
      {text && (
        <span className={clsx("mt-0.5 line-clamp-2 text-xs", run?.error ? "text-failed" : "text-ink")}>
          {text}
        </span>
      )}
      {facts.length > 0 && <span className="block text-xs text-ink-2 tabular-nums">{facts.join(" · ")}</span>}
      {outgoing.map((edge) => (
        <span key={edge.id} className="block text-xs text-ink-3 [overflow-wrap:anywhere]">
          <span aria-hidden>→ </span>
          <span className="sr-only">leads to </span>
          {edge.edge_label ? `${edge.edge_label}: ` : edge.kind === "error" ? "on error: " : ""}
          {graph.nodes[edge.target_node_id]?.name || edge.target_node_id}
        </span>
      ))}
    </span>
  );
}

function State({ nodeId, mark }: { nodeId: string; mark: Mark | undefined }) {
  const run = useNodeRunView(nodeId);
  const breakpoint = useBreakpointMark("node", nodeId);
  const tried = useCardTry(nodeId);
  const stale = useStaleReason(nodeId) ?? tried?.stale ?? undefined;
  return (
    <span className="flex shrink-0 items-center gap-1.5 pt-0.5">
      {breakpoint && (
        <span title={`Breakpoint: ${breakpoint.text}`} className="inline-flex">
          <BreakpointSign variant={breakpoint.variant} />
          <span className="sr-only">Breakpoint: {breakpoint.text}</span>
        </span>
      )}
      {stale !== undefined && <StaleMark reason={stale} />}
      {mark && <MarkIcon mark={mark} />}
      {run && run.status !== "idle" && <StatusMark status={shownStatus(run.status, run.children)} />}
    </span>
  );
}
