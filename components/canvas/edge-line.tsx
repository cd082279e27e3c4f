import {
  BaseEdge,
  EdgeLabelRenderer,
  type EdgeProps,
  getBezierPath,
  Position,
  useReactFlow,
} from "@xyflow/react";
import { Plus, X } from "lucide-react";
import { memo, useContext } from "react";
import { useStore } from "zustand";
import type { WorkflowEdge } from "@/server/domain/graph/graph";
import { TinyContext, useCanvas } from "./canvas-context";
import { useEdgeRun } from "./canvas-run-context";
import type { FlowEdge } from "./flow-mapping";
import { HoverContext } from "./hover";

/** A line from node to node, with its words in the middle, and ways to insert or remove when pointed at. */
export const EdgeLine = memo(function EdgeLine(props: EdgeProps<FlowEdge>) {
  const { id, data, selected } = props;
  const run = useEdgeRun(id);
  const { path, x, y } = line(props);
  // A router's label already stands at its port.
  const text = data ? edgeText(data.edge, props.sourceHandleId !== "out") : null;
  const isTiny = useContext(TinyContext);
  const hover = useContext(HoverContext);
  const isHovered = useStore(hover, ({ edgeId }) => edgeId === id);
  return (
    <>
      <BaseEdge
        id={id}
        path={path}
        interactionWidth={24}
        className="edge-line"
        {...(isTiny ? {} : { markerEnd: "url(#troupe-arrow)" })}
        data-status={run?.status ?? "none"}
        data-kind={data?.edge.kind}
        data-problem={data?.mark?.severity}
      />
      {(selected || isHovered || (!isTiny && (text || data?.mark || (run && run.count > 1)))) && (
        <EdgeLabelRenderer>
          <Chip
            edgeId={id}
            text={text}
            x={x}
            y={y}
            count={run?.count ?? 0}
            data={data}
            isActive={!!selected || isHovered}
          />
        </EdgeLabelRenderer>
      )}
    </>
  );
});

function Chip(props: {
  edgeId: string;
  text: string | null;
  x: number;
  y: number;
  count: number;
  data: FlowEdge["data"];
  isActive: boolean;
}) {
  const { edgeId, text, x, y, count, data, isActive } = props;
  const { editing } = useCanvas();
  const hover = useContext(HoverContext);
  const { screenToFlowPosition } = useReactFlow();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the pointer over it only lights its edge up
    <div
      className="edge-chip nodrag nopan"
      data-kind={data?.edge.kind}
      data-problem={data?.mark?.severity}
      data-edge={edgeId}
      data-active={isActive || undefined}
      onMouseEnter={() => hover.getState().enter(edgeId)}
      onMouseLeave={() => hover.getState().leave(edgeId)}
      style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
      title={data?.mark?.text}
    >
      {text && <span>{text}</span>}
      {count > 1 && <span className="edge-count">×{count}</span>}
      {editing && isActive && (
        <>
          <button
            type="button"
            tabIndex={-1}
            aria-label="Insert a node here"
            onClick={(event) => {
              event.stopPropagation();
              const client = { x: event.clientX, y: event.clientY };
              editing.onInsertOn(edgeId, { client, flow: screenToFlowPosition(client) });
            }}
          >
            <Plus aria-hidden size={13} />
          </button>
          <button
            type="button"
            tabIndex={-1}
            aria-label="Remove this connection"
            onClick={(event) => {
              event.stopPropagation();
              editing.onRemoveEdge(edgeId);
            }}
          >
            <X aria-hidden size={13} />
          </button>
        </>
      )}
    </div>
  );
}

/** The words on a line: its label and its condition. */
export function edgeText(edge: WorkflowEdge, isLabelShown = false): string | null {
  const label = isLabelShown ? null : edge.edge_label || null;
  const condition = edge.condition || edge.condition_name || null;
  const parts = [
    label,
    condition ? `if ${condition}` : null,
    edge.is_default && !edge.edge_label ? "otherwise" : null,
  ];
  const text = parts.filter((part) => part !== null).join(" · ");
  return text.length > 40 ? `${text.slice(0, 39)}…` : text || null;
}

const BACK_DROP = 96;
const TURN = 32;

/** Forward lines are soft curves; a line back to something on the left goes round below, so that loops read as loops. */
function line({ sourceX, sourceY, targetX, targetY }: EdgeProps<FlowEdge>): {
  path: string;
  x: number;
  y: number;
} {
  if (targetX > sourceX - 24) {
    const [path, x, y] = getBezierPath({
      sourceX,
      sourceY,
      targetX,
      targetY,
      sourcePosition: Position.Right,
      targetPosition: Position.Left,
      curvature: 0.3,
    });
    return { path, x, y };
  }
  // Far apart in height: through the gap between the rows. Else round below both cards.
  const isApart = Math.abs(targetY - sourceY) > 150;
  const low = isApart ? (sourceY + targetY) / 2 : Math.max(sourceY, targetY) + BACK_DROP;
  const r = 18;
  const out = low > sourceY ? r : -r;
  const back = targetY > low ? r : -r;
  const right = sourceX + TURN;
  const left = targetX - TURN;
  const path = [
    `M ${sourceX} ${sourceY}`,
    `L ${right - r} ${sourceY} Q ${right} ${sourceY} ${right} ${sourceY + out}`,
    `L ${right} ${low - out} Q ${right} ${low} ${right - r} ${low}`,
    `L ${left + r} ${low} Q ${left} ${low} ${left} ${low + back}`,
    `L ${left} ${targetY - back} Q ${left} ${targetY} ${left + r} ${targetY}`,
    `L ${targetX} ${targetY}`,
  ].join(" ");
  return { path, x: (sourceX + targetX) / 2, y: low };
}
