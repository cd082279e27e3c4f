import { type BreakpointMark, useBreakpointMark, useBreakpoints } from "./breakpoint-context";

/** The icon of a breakpoint: pause bars, a question mark if it has a condition, hollow if it is disabled. */
export function BreakpointSign({ variant }: { variant: BreakpointMark["variant"] }) {
  return <span aria-hidden className="breakpoint-sign" data-look={variant} />;
}

/** The breakpoint at the corner of a card. */
export function CardBreakpoint({ nodeId, name }: { nodeId: string; name: string }) {
  const breakpoints = useBreakpoints();
  const mark = useBreakpointMark("node", nodeId);
  if (!breakpoints || !mark) return null;
  return (
    <button
      type="button"
      id={breakpointId(nodeId)}
      tabIndex={-1}
      className="card-breakpoint nodrag nopan"
      aria-pressed
      aria-label={`Breakpoint on ${name}: ${mark.text}`}
      title={`Remove breakpoint: ${mark.text}`}
      onClick={(event) => {
        event.stopPropagation();
        breakpoints.toggle({ kind: "node", id: nodeId });
      }}
      onDoubleClick={(event) => event.stopPropagation()}
    >
      <BreakpointSign variant={mark.variant} />
    </button>
  );
}

/** The element that says which breakpoint a card has. */
export const breakpointId = (nodeId: string) => `breakpoint-of-${nodeId}`;
