import { Handle, type NodeProps, Position } from "@xyflow/react";
import { Play } from "lucide-react";
import { Fragment, memo, type ReactNode, use, useContext, useState } from "react";
import { roleColor } from "@/components/display/role-face";
import type { Port } from "@/components/forms/ports";
import { defined } from "@/server/domain/base/defined";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, isAgentNode } from "@/server/domain/nodes";
import { silhouetteOf } from "@/server/domain/nodes/silhouette";
import { useBreakpointMark, useBreakpoints } from "../breakpoint-context";
import { BreakpointSign, breakpointId, CardBreakpoint } from "../breakpoint-dot";
import { CanvasContext, TinyContext, useCanvas } from "../canvas-context";
import { type NodeRunView, useNodeRunView, useRunParts } from "../canvas-run-context";
import type { FlowNode, Mark } from "../flow-mapping";
import type { Caption } from "./captions";
import { doerOf, NodeFace } from "./card-face";
import { Ports, useFreshPorts } from "./card-ports";
import { type CardSize, cardHeight, PLAIN_HEIGHT } from "./card-size";
import { shownStatus } from "./child-progress";
import { MarkIcon } from "./mark-icon";
import { PinMark, ResultCaption } from "./result-caption";
import { StaleMark, useStaleReason } from "./stale-mark";
import { type CardTry, TriesContext, useCardTry } from "./tried-context";

/** Shown under a card on hover: the keys of the state that the node reads and writes. */
function KeyCaption({ node }: { node: WorkflowNode }) {
  const reads = [...node.input_keys, ...node.optional_input_keys];
  const writes = node.output_keys;
  if (reads.length + writes.length === 0) return null;
  return (
    <dl className="node-slip node-keys">
      <Keys title="Reads" keys={reads} />
      <Keys title="Writes" keys={writes} />
    </dl>
  );
}

function Keys({ title, keys }: { title: string; keys: readonly string[] }) {
  if (keys.length === 0) return null;
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        {keys.map((key) => (
          <code key={key}>{key}</code>
        ))}
      </dd>
    </div>
  );
}

/** The actions of a node, above its card on hover and on focus. Each also has a shortcut and a menu item. */
export function CardTools({ nodeId, name }: { nodeId: string; name: string }) {
  const tries = useContext(TriesContext);
  const breakpoints = useBreakpoints();
  const mark = useBreakpointMark("node", nodeId);
  const tool = (label: string, title: string, content: ReactNode, run: () => void) => (
    <button
      type="button"
      tabIndex={-1}
      aria-label={label}
      title={title}
      onClick={(event) => {
        event.stopPropagation();
        run();
      }}
    >
      {content}
    </button>
  );
  const icons = { play: <Play aria-hidden size={13} />, breakpoint: <BreakpointSign variant="plain" /> };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a double-click on a tool does not open the card
    <div className="card-tools nodrag nopan" onDoubleClick={(event) => event.stopPropagation()}>
      {tries?.canTry(nodeId)
        ? tool(`Try ${name}`, "Try this node with its last inputs (Shift Enter)", <>{icons.play} Try</>, () =>
            tries.tryNode(nodeId),
          )
        : null}
      {breakpoints?.canHold(nodeId) && !mark
        ? tool(
            `Add breakpoint at ${name}`,
            "Pause runs before this node (F9)",
            <>{icons.breakpoint} Breakpoint</>,
            () => breakpoints.toggle({ kind: "node", id: nodeId }),
          )
        : null}
    </div>
  );
}

/** The card of a node: its kind, who does it, and its status in a run. */
export const NodeCard = memo(function NodeCard({ data }: NodeProps<FlowNode>) {
  const { node, ports, mark, grown, caption } = data;
  const kind = getNodeKind(node.node_type);
  const run = useNodeRunView(node.id);
  const hasRun = useRunParts() !== null;
  const breakpoint = useBreakpointMark("node", node.id);
  const isTiny = useContext(TinyContext);
  const tint = useTint(node);
  const [isPointedAt, setPointedAt] = useState(false);
  const [hasFocus, setFocus] = useState(false);
  return (
    <article
      aria-label={node.name || kind.title}
      aria-describedby={breakpoint ? breakpointId(node.id) : undefined}
      className="node-card"
      data-shape={silhouetteOf(node)}
      data-node={node.id}
      data-status={run ? shownStatus(run.status, run.children) : "idle"}
      data-only={run?.only}
      data-in-run={hasRun || undefined}
      data-paused={run?.isPausedHere || undefined}
      data-problem={mark?.severity}
      data-grown={grown ? true : undefined}
      style={cardStyle(isTiny ? cardHeight(node, ports) : PLAIN_HEIGHT, tint, grown)}
      tabIndex={-1}
      onPointerEnter={() => setPointedAt(true)}
      onPointerLeave={() => setPointedAt(false)}
      // A click also moves the focus, but then hover decides which tools to show.
      onFocus={({ target }) => setFocus(target.matches(":focus-visible"))}
      onBlur={() => setFocus(false)}
    >
      {(isPointedAt || hasFocus) && !isTiny ? (
        <CardTools nodeId={node.id} name={node.name || kind.title} />
      ) : null}
      {isTiny ? (
        <Plate node={node} run={run} />
      ) : (
        <CardContent {...{ node, ports, mark, run, grown, caption }} />
      )}
    </article>
  );
}, isSameData);

/** The plain height is in canvas.css: hundreds of cards render faster without a style of their own. */
function cardStyle(height: number, tint: string | undefined, grown: CardSize | undefined) {
  const hasOwnHeight = !grown && height !== PLAIN_HEIGHT;
  if (!hasOwnHeight && !tint && !grown) return undefined;
  return {
    ...defined({ height: hasOwnHeight ? height : undefined, "--tint": tint || undefined }),
    ...grown,
  };
}

/** Ignores the position: cards that are dragged don't render again. */
export function isSameData(before: NodeProps<FlowNode>, after: NodeProps<FlowNode>): boolean {
  return before.data === after.data;
}

/** The color of the role that does it. Other cards don't read the roles, so they don't render again when roles load. */
function useTint(node: WorkflowNode): string | undefined {
  if (!isAgentNode(node)) return undefined;
  const { roles, agents } = use(CanvasContext);
  const { role } = doerOf(node, agents);
  return role ? roleColor(role, roles.get(role)?.color) : undefined;
}

interface InsideProps {
  node: WorkflowNode;
  ports: readonly Port[];
  run: NodeRunView | undefined;
  grown: CardSize | undefined;
}

/** A card too small for readable text: only its status. It has no handles, so that hundreds render quickly. */
function Plate({ node, run }: Pick<InsideProps, "node" | "run">) {
  return (
    <>
      {run && (
        <div className="node-head">
          <Marks mark={undefined} run={run} stale={undefined} />
        </div>
      )}
      <PlateBreakpoint nodeId={node.id} />
    </>
  );
}

function PlateBreakpoint({ nodeId }: { nodeId: string }) {
  const mark = useBreakpointMark("node", nodeId);
  return mark ? (
    <span className="card-breakpoint" id={breakpointId(nodeId)}>
      <BreakpointSign variant={mark.variant} />
      <span className="sr-only">Breakpoint: {mark.text}</span>
    </span>
  ) : null;
}

function CardContent({
  node,
  ports,
  mark,
  run,
  grown,
  caption,
}: InsideProps & { mark: Mark | undefined; caption: Caption | undefined }) {
  const kind = getNodeKind(node.node_type);
  const { agents } = useCanvas();
  const parts = useRunParts();
  const tried = useCardTry(node.id);
  const stale = useStaleReason(node.id) ?? tried?.stale ?? undefined;
  const name = node.name || kind.title;
  const text = doerOf(node, agents).name ?? caption?.summary ?? kind.summary(node.config, node);
  useFreshPorts(node.id, ports, grown);
  return (
    <>
      {kind.hasEntry !== false && (
        <Handle type="target" position={Position.Left} id="in" className="node-entry" />
      )}
      <header className="node-head">
        <NodeFace node={node} />
        <span className="node-words">
          <span className="node-name" title={name}>
            {breakable(name)}
          </span>
          {text !== name && <span className="node-summary">{breakable(text)}</span>}
        </span>
      </header>
      <Marks mark={mark} run={run} tried={tried} stale={stale} />
      {caption?.owner === undefined ? null : <span className="node-owner">Runs in {caption.owner}</span>}
      <CardBreakpoint nodeId={node.id} name={name} />
      <Ports node={node} ports={ports} />
      {grown && parts?.Inside ? (
        <>
          <parts.Inside node={node} />
          {run?.children?.total === undefined ? null : <parts.Slip node={node} run={run} isBrief />}
        </>
      ) : parts && run ? (
        <parts.Slip node={node} run={run} />
      ) : tried ? (
        <ResultCaption tried={tried} />
      ) : (
        <KeyCaption node={node} />
      )}
    </>
  );
}

/** A name that breaks after underscores rather than within a word. */
function breakable(name: string) {
  return name.split(/(?<=_)(?=[^_])/).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

/** The badges on the corner of a card, where they leave room for its name. */
function Marks({
  mark,
  run,
  tried,
  stale,
}: {
  mark: Mark | undefined;
  run: NodeRunView | undefined;
  tried?: CardTry | undefined;
  stale: string | undefined;
}) {
  const parts = useRunParts();
  return (
    <span className="node-marks">
      {run && run.count > 1 && (
        <span className="node-count" title={`Ran ${run.count} times`}>
          ×{run.count}
        </span>
      )}
      {run?.attempt !== undefined && run.attempt > 1 && (
        <span className="node-count" title={`Attempt ${run.attempt}`}>
          attempt {run.attempt}
        </span>
      )}
      {tried?.from === "pin" && <PinMark isStale={tried.stale !== null} />}
      {stale !== undefined && <StaleMark reason={stale} />}
      {mark && <MarkIcon mark={mark} />}
      {parts && run && run.status !== "idle" && (
        <parts.Status status={shownStatus(run.status, run.children)} />
      )}
    </span>
  );
}
