import { Play } from "lucide-react";
import { type ReactNode, useContext } from "react";
import { useBreakpointMark, useBreakpoints } from "../breakpoint-context";
import { BreakpointSign } from "../breakpoint-dot";
import { TriesContext } from "./tried-context";

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
            `Set a breakpoint at ${name}`,
            "Pause runs before this node (F9)",
            <>{icons.breakpoint} Breakpoint</>,
            () => breakpoints.toggle({ kind: "node", id: nodeId }),
          )
        : null}
    </div>
  );
}
