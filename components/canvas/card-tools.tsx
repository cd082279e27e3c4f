import { Play } from "lucide-react";
import { useContext } from "react";
import { useBreakpointMark, useBreakpoints } from "./breakpoint-context";
import { BreakpointSign } from "./breakpoint-dot";
import { TriesContext } from "./tried-context";

/** Above a card that is pointed at or has the keyboard: what can be done with its node. All of it has a key and a menu entry. */
export function CardTools({ nodeId, name }: { nodeId: string; name: string }) {
  const tries = useContext(TriesContext);
  const breakpoints = useBreakpoints();
  const canTry = tries?.canTry(nodeId);
  const mark = useBreakpointMark("node", nodeId);
  const canHold = !mark && breakpoints?.canHold(nodeId);
  if (!canTry && !canHold) return null;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a double-click on a tool does not open the card
    <div className="card-tools nodrag nopan" onDoubleClick={(event) => event.stopPropagation()}>
      {canTry ? (
        <button
          type="button"
          tabIndex={-1}
          aria-label={`Try ${name}`}
          title="Try this node with its last inputs (Shift Enter)"
          onClick={(event) => {
            event.stopPropagation();
            tries?.tryNode(nodeId);
          }}
        >
          <Play aria-hidden size={13} /> Try
        </button>
      ) : null}
      {canHold ? (
        <button
          type="button"
          tabIndex={-1}
          aria-label={`Set a breakpoint at ${name}`}
          title="Pause runs before this node (F9)"
          onClick={(event) => {
            event.stopPropagation();
            breakpoints?.toggle({ kind: "node", id: nodeId });
          }}
        >
          <BreakpointSign look="plain" /> Breakpoint
        </button>
      ) : null}
    </div>
  );
}
