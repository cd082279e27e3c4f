import { Handle, Position, useUpdateNodeInternals } from "@xyflow/react";
import { Plus } from "lucide-react";
import { useEffect, useRef } from "react";
import type { Port } from "@/components/forms/ports";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind } from "@/server/domain/nodes";
import { useCanvas } from "../canvas-context";
import type { CardSize } from "./card-size";

/** A single output is in the middle of the card; several are rows with labels. */
export function Ports({ node, ports }: { node: WorkflowNode; ports: readonly Port[] }) {
  const { editing } = useCanvas();
  const isRouter = !!getNodeKind(node.node_type).routes;
  // The stub that offers another connection has no state in a run.
  const rows = ports.filter(
    ({ kind, isConnected }) => kind !== "out" || (isRouter && (editing || isConnected)),
  );
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
          aria-label={`Add node after ${node.name}${port.kind === "out" ? "" : `, route “${title}”`}`}
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

/** React Flow measures handles once; it must measure again if a card's outputs or size change. */
export function useFreshPorts(nodeId: string, ports: readonly Port[], grown: CardSize | undefined) {
  const update = useUpdateNodeInternals();
  const ids = [...ports.map(({ id }) => id), grown?.width, grown?.height].join("\n");
  const measured = useRef(ids);
  useEffect(() => {
    if (measured.current === ids) return;
    measured.current = ids;
    update(nodeId);
  }, [ids, nodeId, update]);
}
