import {
  BaseEdge,
  EdgeLabelRenderer,
  type EdgeProps,
  getBezierPath,
  Position,
  useReactFlow,
} from "@xyflow/react";
import { Plus, X } from "lucide-react";
import { type MouseEvent, memo, type ReactNode, useContext } from "react";
import { useStore } from "zustand";
import { defined } from "@/server/domain/base/defined";
import type { WorkflowEdge } from "@/server/domain/graph/graph";
import { type BreakpointMark, useBreakpointMark, useBreakpoints } from "./breakpoint-context";
import { BreakpointSign } from "./breakpoint-dot";
import { TinyContext, useCanvas } from "./canvas-context";
import { useEdgeRun } from "./canvas-run-context";
import type { FlowEdge } from "./flow-mapping";
import { HoverContext } from "./hover";
import { ROW, type XY } from "./layout/places";
import { curvePoint, drawRoute, isForward } from "./layout/routes";

/** An edge with its label in the middle; on hover, buttons to insert a node or remove it. */
export const EdgeLine = memo(function EdgeLine(props: EdgeProps<FlowEdge>) {
  const { id, data, selected } = props;
  const run = useEdgeRun(id);
  const { path, x, y, isSteep } = draw(props);
  // A router's label is shown at its port already.
  const text = data ? edgeText(data.edge, props.sourceHandleId !== "out") : null;
  const isTiny = useContext(TinyContext);
  const hover = useContext(HoverContext);
  const isHovered = useStore(hover, ({ edgeId }) => edgeId === id);
  const breakpoint = useBreakpointMark("edge", id);
  return (
    <>
      <BaseEdge
        id={id}
        path={path}
        interactionWidth={24}
        className="edge-line"
        {...defined({ markerEnd: isTiny ? undefined : "url(#troupe-arrow)" })}
        data-status={run?.status ?? "none"}
        data-only={run?.only}
        data-kind={data?.edge.kind}
        data-problem={data?.mark?.severity}
      />
      {data?.mark && <title>{data.mark.text}</title>}
      {(selected || isHovered || (!isTiny && (text || breakpoint || (run && run.count > 1)))) && (
        <EdgeLabelRenderer>
          <Chip
            edgeId={id}
            text={text}
            x={x}
            y={y}
            isSteep={isSteep}
            count={run?.count ?? 0}
            data={data}
            breakpoint={breakpoint}
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
  isSteep: boolean;
  count: number;
  data: FlowEdge["data"];
  breakpoint: BreakpointMark | undefined;
  isActive: boolean;
}) {
  const { edgeId, text, x, y, isSteep, count, data, breakpoint, isActive } = props;
  const { editing } = useCanvas();
  const hover = useContext(HoverContext);
  const breakpoints = useBreakpoints();
  const { screenToFlowPosition } = useReactFlow();
  return (
    <>
      {(text || count > 1 || breakpoint) && (
        <div
          className="edge-chip"
          data-kind={data?.edge.kind}
          data-problem={data?.mark?.severity}
          data-edge={edgeId}
          style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
        >
          {text && <span>{text}</span>}
          {count > 1 && <span className="edge-count">×{count}</span>}
          {breakpoint && (
            <span className="edge-breakpoint" title={`Breakpoint: ${breakpoint.text}`}>
              <BreakpointSign variant={breakpoint.variant} />
              <span className="sr-only">Breakpoint: {breakpoint.text}</span>
            </span>
          )}
        </div>
      )}
      {editing && isActive && (
        // Next to the edge, never on it: a click on the edge selects it.
        // biome-ignore lint/a11y/noStaticElementInteractions: the pointer over it only lights its edge up
        <div
          className="edge-tools nodrag nopan"
          data-steep={isSteep || undefined}
          onMouseEnter={() => hover.getState().enter(edgeId)}
          onMouseLeave={() => hover.getState().leave(edgeId)}
          style={{ translate: `${x}px ${y}px` }}
        >
          <EdgeTool
            label="Insert node"
            onClick={(event) => {
              const client = { x: event.clientX, y: event.clientY };
              editing.onInsertOn(edgeId, { client, flow: screenToFlowPosition(client) });
            }}
          >
            <Plus aria-hidden size={15} />
          </EdgeTool>
          {breakpoints && (
            <EdgeTool
              isPressed={!!breakpoint}
              label={breakpoint ? "Remove breakpoint" : "Add breakpoint"}
              title={breakpoint ? undefined : "Add breakpoint (F9)"}
              onClick={() => breakpoints.toggle({ kind: "edge", id: edgeId })}
            >
              <BreakpointSign variant={breakpoint?.variant ?? "plain"} />
            </EdgeTool>
          )}
          <EdgeTool label="Remove connection" onClick={() => editing.onRemoveEdge(edgeId)}>
            <X aria-hidden size={15} />
          </EdgeTool>
        </div>
      )}
    </>
  );
}

function EdgeTool(props: {
  label: string;
  /** The label, if absent. */
  title?: string | undefined;
  isPressed?: boolean;
  onClick: (event: MouseEvent) => void;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-pressed={props.isPressed}
      aria-label={props.label}
      title={props.title ?? props.label}
      onClick={(event) => {
        event.stopPropagation();
        props.onClick(event);
      }}
    >
      {props.children}
    </button>
  );
}

/** The text on an edge: its label and condition. */
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

interface Drawing {
  path: string;
  /** Its middle, for the label. */
  x: number;
  y: number;
  /** It runs rather up and down there. */
  isSteep: boolean;
}

/** A curve, or the route around cards if it fits the current ends. */
function draw({ sourceX, sourceY, targetX, targetY, data }: EdgeProps<FlowEdge>): Drawing {
  const from = { x: sourceX, y: sourceY };
  const to = { x: targetX, y: targetY };
  const known = data?.route;
  if (known && isNear(known[0], from) && isNear(known.at(-1), to))
    return drawRoute([from, ...known.slice(1, -1), to]);
  // While a card is dragged: what leads back goes round below.
  if (!isForward({ from, to })) return drawRoute(aroundBelow(from, to));
  const [path, x, y] = getBezierPath({
    sourceX,
    sourceY,
    targetX,
    targetY,
    sourcePosition: Position.Right,
    targetPosition: Position.Left,
  });
  const [before, after] = [curvePoint({ from, to }, 0.45), curvePoint({ from, to }, 0.55)];
  const isSteep = Math.abs(after.y - before.y) > Math.abs(after.x - before.x);
  return { path, x, y, isSteep };
}

const isNear = (a: XY | undefined, b: XY) =>
  a !== undefined && Math.abs(a.x - b.x) < 3 && Math.abs(a.y - b.y) < 3;

function aroundBelow(from: XY, to: XY): XY[] {
  const isApart = Math.abs(to.y - from.y) > ROW - 8;
  const y = isApart ? (from.y + to.y) / 2 : Math.max(from.y, to.y) + BACK_DROP;
  const [right, left] = [from.x + TURN, to.x - TURN];
  return [from, { x: right, y: from.y }, { x: right, y }, { x: left, y }, { x: left, y: to.y }, to];
}

const BACK_DROP = 72;
const TURN = 24;
