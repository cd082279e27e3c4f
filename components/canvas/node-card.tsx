import { Handle, type NodeProps, Position, useUpdateNodeInternals } from "@xyflow/react";
import { CircleAlert, Plus, TriangleAlert } from "lucide-react";
import { memo, useContext, useEffect, useRef, useState } from "react";
import { RoleFace } from "@/components/display/role-face";
import type { Port } from "@/components/forms/ports";
import { StatusMark } from "@/components/ui/status-mark";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, isAgentNode, isCrewNode, noteTextOf } from "@/server/domain/nodes";
import { type NamedAgents, TinyContext, useCanvas } from "./canvas-context";
import { type NodeRunView, useHasRun, useNodePeek, useNodeRun } from "./canvas-run-context";
import {
  BORDER,
  cardHandles,
  cardHeight,
  type FlowNode,
  type Mark,
  PLAIN_END,
  PLAIN_HEIGHT,
} from "./flow-mapping";
import { KindIcon } from "./kind-icon";

/** A node on the canvas: what it is, what it will do, what it reads and writes, and what it is doing now. */
export const NodeCard = memo(function NodeCard({ data: { node, ports, mark } }: NodeProps<FlowNode>) {
  const kind = getNodeKind(node.node_type);
  const run = useNodeRun(node.id);
  const hasRun = useHasRun();
  const isTiny = useContext(TinyContext);
  // The plain height is in canvas.css: a style of its own on each of hundreds of cards takes its time.
  const height = cardHeight(node, ports);
  return (
    <article
      aria-label={node.name || kind.title}
      className="node-card"
      data-shape={
        kind.hasEntry === false ? "start" : kind.hasExit === false ? "end" : kind.routes ? "router" : "task"
      }
      data-node={node.id}
      data-status={run?.status ?? "idle"}
      data-in-run={hasRun || undefined}
      data-problem={mark?.severity}
      style={isTiny && height !== PLAIN_HEIGHT ? { height } : undefined}
      tabIndex={-1}
    >
      {isTiny ? (
        <Plate node={node} ports={ports} run={run} />
      ) : (
        <Words node={node} ports={ports} mark={mark} run={run} />
      )}
    </article>
  );
});

interface InsideProps {
  node: WorkflowNode;
  ports: readonly Port[];
  run: NodeRunView | undefined;
}

/** A card whose words nobody could read: its state, and elements without a life of their own where lines begin and end. */
function Plate({ node, ports, run }: InsideProps) {
  return (
    <>
      {run && (
        <div className="node-head">
          <Marks mark={undefined} run={run} />
        </div>
      )}
      {cardHandles(node, ports).map(({ id, type, position, y }, at) => (
        <span
          key={at}
          className={`node-end ${type}`}
          data-handleid={id}
          data-handlepos={position}
          style={y === PLAIN_END ? undefined : { top: y - BORDER }}
        />
      ))}
    </>
  );
}

function Words({ node, ports, mark, run }: InsideProps & { mark: Mark | undefined }) {
  const kind = getNodeKind(node.node_type);
  const hasKeys = node.input_keys.length + node.optional_input_keys.length + node.output_keys.length > 0;
  useFreshPorts(node.id, ports);
  return (
    <>
      {kind.hasEntry !== false && (
        <Handle type="target" position={Position.Left} id="in" className="node-entry" />
      )}
      <header className="node-head">
        <span className="node-icon">
          <KindIcon name={kind.icon} />
        </span>
        <span className="node-words">
          <span className="node-name">{node.name || kind.title}</span>
          <Summary node={node} />
        </span>
        <Marks mark={mark} run={run} />
      </header>
      {hasKeys && <Keys node={node} />}
      <Ports node={node} ports={ports} />
      {run && (run.status === "running" || run.status === "waiting") && <Live node={node} run={run} />}
    </>
  );
}

/** React Flow measures where lines begin once; when a card's ways out change, it has to look again. */
function useFreshPorts(nodeId: string, ports: readonly Port[]) {
  const update = useUpdateNodeInternals();
  const ids = ports.map(({ id }) => id).join("\n");
  const measured = useRef(ids);
  useEffect(() => {
    if (measured.current === ids) return;
    measured.current = ids;
    update(nodeId);
  }, [ids, nodeId, update]);
}

/** Words on paper: a note is not part of any run. */
export const NoteCard = memo(function NoteCard({ data: { node } }: NodeProps<FlowNode>) {
  const text = noteTextOf(node);
  return (
    <article aria-label={node.name || "Note"} className="node-note" data-node={node.id} tabIndex={-1}>
      {node.name && node.name !== "Note" && <strong>{node.name}</strong>}
      <p>{text || <em>An empty note</em>}</p>
    </article>
  );
});

/** Who does a task: an agent of the library by its name and with its own role, else whoever has the role. */
function doerOf(node: WorkflowNode, agents: NamedAgents): { role: string; name?: string | undefined } {
  if (!isAgentNode(node)) return { role: "" };
  const { agent_ref, agent: copy, required_role } = node.config;
  if (!agent_ref) return { role: required_role };
  const found = agents.get(agent_ref);
  // In a run, the copy is what does it, whatever became of the agent since.
  return { role: (copy ?? found?.agent)?.role_name ?? "", name: found?.name };
}

function Summary({ node }: { node: WorkflowNode }) {
  const { roles, agents } = useCanvas();
  const { role, name } = doerOf(node, agents);
  const text = name ?? getNodeKind(node.node_type).summary(node.config, node);
  const members = isCrewNode(node) ? (node.config.crew?.agents ?? []) : [];
  return (
    <span className="node-summary">
      {role && <Face name={role} role={roles.get(role)} />}
      {members.length > 0 && (
        <span className="node-crew">
          {members.slice(0, 3).map(({ agent_id, role_name }) => (
            <Face key={agent_id} name={role_name} role={roles.get(role_name)} />
          ))}
        </span>
      )}
      <span className="node-summary-text">{text}</span>
    </span>
  );
}

function Face({ name, role }: { name: string; role: RoleDefinition | undefined }) {
  return <RoleFace name={name} icon={role?.icon} color={role?.color} size={18} className="node-face" />;
}

function Marks({ mark, run }: { mark: Mark | undefined; run: NodeRunView | undefined }) {
  return (
    <span className="node-marks">
      {run && run.count > 1 && (
        <span className="node-count" title={`Ran ${run.count} times`}>
          ×{run.count}
        </span>
      )}
      {run?.attempt !== undefined && run.attempt > 1 && (
        <span className="node-count" title={`Attempt ${run.attempt}`}>
          try {run.attempt}
        </span>
      )}
      {mark && (
        <span className="node-problem" data-severity={mark.severity} title={mark.text}>
          {mark.severity === "error" ? (
            <CircleAlert aria-hidden size={15} />
          ) : (
            <TriangleAlert aria-hidden size={15} />
          )}
          <span className="sr-only">{mark.text}</span>
        </span>
      )}
      {run && run.status !== "idle" && <StatusMark status={run.status} />}
    </span>
  );
}

function Keys({ node }: { node: WorkflowNode }) {
  const reads = [...node.input_keys, ...node.optional_input_keys];
  // One line for both sides: two keys in all, or one of each.
  const shown =
    reads.length + node.output_keys.length <= 2 || reads.length * node.output_keys.length === 0 ? 2 : 1;
  return (
    <div className="node-keys">
      <KeyList keys={reads} shown={shown} title={`Reads ${reads.join(", ")}`} />
      {reads.length > 0 && node.output_keys.length > 0 && (
        <span aria-hidden className="node-arrow">
          →
        </span>
      )}
      <KeyList
        keys={node.output_keys}
        shown={shown}
        title={`Writes ${node.output_keys.join(", ")}`}
        isWrite
      />
    </div>
  );
}

interface KeyListProps {
  keys: readonly string[];
  shown: number;
  title: string;
  isWrite?: boolean;
}

function KeyList({ keys, shown, title, isWrite }: KeyListProps) {
  if (keys.length === 0) return null;
  return (
    <span className="node-key-list" title={title} data-write={isWrite || undefined}>
      {keys.slice(0, shown).map((key) => (
        <code key={key}>{key}</code>
      ))}
      {keys.length > shown && <span>+{keys.length - shown}</span>}
    </span>
  );
}

/** One way out sits in the middle of the card; several are rows, each with its words. */
function Ports({ node, ports }: { node: WorkflowNode; ports: readonly Port[] }) {
  const isRouter = !!getNodeKind(node.node_type).routes;
  const rows = ports.filter((port) => isRouter || port.kind !== "out");
  const plain = isRouter ? undefined : ports.find((port) => port.kind === "out");
  return (
    <>
      {plain && <PortHandle node={node} port={plain} />}
      {rows.length > 0 && (
        <ul className="node-exits">
          {rows.map((port) => (
            <li
              key={port.id}
              data-kind={port.kind}
              data-default={port.isDefault || undefined}
              data-unoffered={!port.isOffered || undefined}
            >
              <span>{port.title}</span>
              <PortHandle node={node} port={port} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function PortHandle({ node, port }: { node: WorkflowNode; port: Port }) {
  const { editing } = useCanvas();
  const title = port.kind === "out" ? "next" : port.title;
  return (
    <>
      <Handle
        type="source"
        position={Position.Right}
        id={port.id}
        className="node-port"
        data-kind={port.kind}
      />
      {editing && !port.isConnected && (
        <button
          type="button"
          tabIndex={-1}
          aria-label={`Add a node after ${node.name}${port.kind === "out" ? "" : `, way "${title}"`}`}
          className="node-add nodrag nopan"
          onClick={(event) => {
            event.stopPropagation();
            editing.onAddFrom(node.id, port.id, null);
          }}
        >
          <Plus aria-hidden size={13} />
        </button>
      )}
    </>
  );
}

/** What a running node is writing, or what a waiting one waits for: hangs below the card, so that nothing moves. */
function Live({ node, run }: { node: WorkflowNode; run: NodeRunView }) {
  const peek = useNodePeek(node.id);
  if (run.status === "waiting") return <Waiting run={run} />;
  if (!peek) return null;
  return (
    <p className="node-peek" aria-hidden>
      {peek.slice(-80)}
    </p>
  );
}

/** What a waiting node waits for; said of a held run, too, which waits for nothing. */
export function Waiting({ run: { waiting, isHeld } }: { run: NodeRunView }) {
  const until = isHeld || waiting?.until === undefined ? null : new Date(waiting.until).getTime();
  const left = useSecondsUntil(until);
  if (isHeld) return <p className="node-peek">Held: does not go on by itself</p>;
  if (left === null) return waiting ? <p className="node-peek">Waiting: {waiting.for}</p> : null;
  return <p className="node-peek">{left > 0 ? `Goes on in ${clock(left)}` : "Goes on now"}</p>;
}

function useSecondsUntil(until: number | null): number | null {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (until === null) return;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [until]);
  return until === null ? null : Math.max(0, Math.ceil((until - now) / 1000));
}

function clock(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} min`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
