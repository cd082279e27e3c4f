import {
  type BreakpointPlace,
  type BreakpointStore,
  isAt,
} from "@/components/run/breakpoints/breakpoint-store";
import { isExecutable } from "@/server/domain/nodes";
import type { CommandContext } from "./command-context";

/** The breakpoint commands of the editor. */
export function breakpointCommands({
  graph,
  pickedNodes,
  pickedEdges,
  breakpoints,
  ui,
  announce,
}: Pick<CommandContext, "graph" | "pickedNodes" | "pickedEdges" | "ui" | "announce"> & {
  breakpoints: BreakpointStore;
}) {
  /** The places of the selection where a breakpoint can be set. */
  const places = (): BreakpointPlace[] => [
    ...pickedNodes().flatMap((id) => {
      const node = graph().nodes[id];
      return node && isExecutable(node) ? [{ kind: "node" as const, id }] : [];
    }),
    ...pickedEdges().map((id) => ({ kind: "edge" as const, id })),
  ];
  const at = (place: BreakpointPlace) => breakpoints.getState().list.filter((one) => isAt(one, place));
  const nameOf = ({ kind, id }: BreakpointPlace) =>
    kind === "edge" ? "the connection" : graph().nodes[id]?.name || id;

  function toggleAt(place: BreakpointPlace) {
    const now = breakpoints.toggle(place);
    announce(
      now === "set" ? `Breakpoint added at ${nameOf(place)}` : `Breakpoint removed from ${nameOf(place)}`,
    );
  }

  /** Several at once: those without one get one; where all have one, all lose it. */
  function toggleBreakpoint() {
    const all = places();
    if (all.length === 0) return announce("Select a node or connection to add a breakpoint");
    const bare = all.filter((place) => at(place).length === 0);
    for (const place of bare.length > 0 ? bare : all) toggleAt(place);
    if (all.length > 1)
      announce(`Breakpoints ${bare.length > 0 ? "added" : "removed"}: ${bare.length || all.length}`);
  }

  function switchBreakpoints() {
    const here = places().flatMap(at);
    if (here.length === 0) return announce("No breakpoint here. Press F9 to add one.");
    const enabled = here.every((one) => one.enabled === false);
    for (const { id } of here) breakpoints.set(id, { enabled });
    announce(`${here.length === 1 ? "Breakpoint" : "Breakpoints"} ${enabled ? "enabled" : "disabled"}`);
  }

  function openBreakpoints(place: BreakpointPlace | null = null) {
    ui.setState((state) => ({
      breakpoints: { at: place, nonce: (state.breakpoints?.nonce ?? 0) + 1 },
      find: null,
    }));
  }

  /** Opens the breakpoint of the selection, after setting one if there is none. */
  function editBreakpoint() {
    const [place] = places();
    if (!place) return announce("Select a node or connection to add a breakpoint");
    if (at(place).length === 0) toggleAt(place);
    openBreakpoints(place);
  }

  return {
    toggleBreakpoint,
    toggleBreakpointAt: toggleAt,
    switchBreakpoints,
    openBreakpoints: () => openBreakpoints(),
    editBreakpoint,
    hasBreakpoint: () => places().some((place) => at(place).length > 0),
  };
}
