import { fieldKey } from "@/components/editor/use-problems";
import type { Hit } from "@/server/domain/graph/search/search";
import type { Fix } from "@/server/domain/problems/fixes";
import type { Problem } from "@/server/domain/problems/problems";
import type { CommandContext } from "./command-context";
import type { PanelCommands } from "./panel-commands";

/** Goes to a place of the workflow: selects it and moves the view. */
export function navigationCommands(
  { store, ui, view, announce, graph, focus }: CommandContext,
  { goToField }: Pick<PanelCommands, "goToField">,
) {
  function showNode(id: string) {
    store.getState().select({ nodes: [id] });
    view.center(id);
    focus(id);
  }

  /** The place of a problem, with its field. */
  function goTo(problem: Problem) {
    const { kind, id, field } = problem.at;
    if (kind === "node" && id) {
      store.getState().select({ nodes: [id] });
      view.center(id);
    } else if (kind === "edge" && id) {
      const edge = graph().edges.find((known) => known.id === id);
      store.getState().select({ edges: [id] });
      if (edge) view.fit([edge.source_node_id, edge.target_node_id]);
    } else store.getState().select({});
    if (field) goToField(field);
    else ui.setState({ isInspectorOpen: true });
    announce(problem.message);
  }

  /** The place of a hit; `isFor`: whether its field is gone to, too. */
  function showHit({ kind, id, field }: Hit["at"], isFor: "looking" | "writing") {
    const edge = kind === "edge" ? graph().edges.find((known) => known.id === id) : undefined;
    if (kind === "node" && id !== undefined) {
      store.getState().select({ nodes: [id] });
      view.center(id);
    } else if (edge) {
      store.getState().select({ edges: [edge.id] });
      view.fit([edge.source_node_id, edge.target_node_id]);
    } else store.getState().select({});
    if (isFor === "writing") goToField(field);
  }

  return { showNode, goTo, showHit };
}

/** The commands for problems: when to show them, and how to fix them. */
export function problemCommands({ store, ui, announce }: Pick<CommandContext, "store" | "ui" | "announce">) {
  return {
    /** A field was left: its problems may be shown. */
    leaveField(id: string, field: string) {
      ui.setState(({ left }) => ({ left: new Set(left).add(fieldKey(id, field)) }));
    },
    /** The workflow is about to run: from now on missing parts are errors. */
    callDue() {
      ui.setState({ fresh: new Set(), isNew: false });
    },
    async fix(repair: Fix) {
      const { applyFix } = await import("@/server/domain/problems/problems");
      store.getState().edit({ id: "fix", label: repair.label, apply: applyFix }, repair);
      announce(`Done: ${repair.label}`);
    },
  };
}
