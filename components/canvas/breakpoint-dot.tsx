import { type BreakpointMark, useBreakpointMark, useBreakpoints } from "./breakpoint-context";

/** The sign of a breakpoint: full, with bars where it has a condition, hollow where it is off. */
export function BreakpointSign({ look }: { look: BreakpointMark["look"] }) {
  return <span aria-hidden className="breakpoint-sign" data-look={look} />;
}

/** On the corner of a card: its breakpoint, or where to set one when it is pointed at. */
export function CardBreakpoint({ nodeId, name }: { nodeId: string; name: string }) {
  const breakpoints = useBreakpoints();
  const mark = useBreakpointMark("node", nodeId);
  if (!breakpoints || (!mark && !breakpoints.canHold(nodeId))) return null;
  const title = mark ? `Breakpoint: ${mark.text}. Click to remove it` : "Set a breakpoint (F9)";
  return (
    <button
      type="button"
      id={breakpointId(nodeId)}
      tabIndex={-1}
      className="card-breakpoint nodrag nopan"
      aria-pressed={!!mark}
      aria-label={mark ? `Breakpoint of ${name}: ${mark.text}` : `Set a breakpoint at ${name}`}
      title={title}
      onClick={(event) => {
        event.stopPropagation();
        breakpoints.toggle({ kind: "node", id: nodeId });
      }}
      onDoubleClick={(event) => event.stopPropagation()}
    >
      <BreakpointSign look={mark?.look ?? "plain"} />
    </button>
  );
}

/** The element that says which breakpoint a card has. */
export const breakpointId = (nodeId: string) => `breakpoint-of-${nodeId}`;
