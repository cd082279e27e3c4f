import type { BreakpointMark, CanvasBreakpoints } from "@/components/canvas/breakpoint-context";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { breakpointLimits, breakpointTitle } from "./breakpoint-labels";
import { type BreakpointPlace, type BreakpointStore, isAt, type KeptBreakpoint } from "./breakpoint-store";

/** Breakpoints as the canvas wants them: the same object as long as nothing changed at that node or edge. */
export function newCanvasBreakpoints(
  store: BreakpointStore,
  graph: () => WorkflowGraph,
  onToggle: (place: BreakpointPlace) => void,
): CanvasBreakpoints {
  const marks = new Map<string, BreakpointMark>();
  const markOf = (place: BreakpointPlace): BreakpointMark | undefined => {
    const here = store.getState().list.filter((one) => isAt(one, place));
    if (here.length === 0) return undefined;
    const next = {
      variant: variantOf(here),
      text: here.map((one) => describeBreakpoint(one, graph())).join("; "),
    };
    const key = `${place.kind} ${place.id}`;
    const known = marks.get(key);
    if (known?.variant === next.variant && known.text === next.text) return known;
    marks.set(key, next);
    return next;
  };
  return {
    subscribe: (listener) => store.subscribe(listener),
    node: (id) => markOf({ kind: "node", id }),
    edge: (id) => markOf({ kind: "edge", id }),
    canHold: (id) => graph().nodes[id] !== undefined,
    toggle: onToggle,
  };
}

/** Before Review, if state.n == 2 */
export function describeBreakpoint(one: KeptBreakpoint, graph: WorkflowGraph): string {
  const limits = breakpointLimits(one);
  const text = `${breakpointTitle(one, graph)}${limits ? `, ${limits}` : ""}`;
  return one.enabled === false ? `${text} (off)` : text;
}

/** An enabled, unconditional breakpoint decides; hollow only if all are disabled. */
export function variantOf(here: readonly KeptBreakpoint[]): BreakpointMark["variant"] {
  const on = here.filter(({ enabled }) => enabled !== false);
  if (on.length === 0) return "disabled";
  return on.some((one) => breakpointLimits(one) === "") ? "plain" : "conditional";
}
