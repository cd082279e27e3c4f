import { isCrewNode } from "@/server/domain/nodes";
import type { CommandContext } from "./command-context";

export type PanelCommands = ReturnType<typeof panelCommands>;

/** Opens panels and dialogs: the inspector, a field in it, confirmations. */
export function panelCommands({ store, ui, announce, graph, pickedNodes }: CommandContext) {
  function goToField(field: string) {
    ui.setState(({ goTo }) => ({ isInspectorOpen: true, goTo: { field, nonce: (goTo?.nonce ?? 0) + 1 } }));
  }

  function openWorkflowSettings() {
    store.getState().select({});
    ui.setState({ isInspectorOpen: true });
  }

  function openFind() {
    ui.setState(({ find }) => ({ find: { nonce: (find?.nonce ?? 0) + 1 }, breakpoints: null }));
  }

  function rename() {
    const [id, ...others] = pickedNodes();
    if (id !== undefined && others.length === 0) goToField("name");
  }

  function pickedCrew(): string | null {
    const [id, ...others] = pickedNodes();
    if (id === undefined || others.length > 0) return null;
    return isCrewNode(graph().nodes[id]) ? id : null;
  }

  /** Asks to replace the selected crew by nodes. */
  function unfold() {
    const id = pickedCrew();
    if (id === null) return announce("Select one crew to expand");
    ui.setState({ unfold: id });
  }

  /** Asks to move the selected nodes into a new workflow. */
  function extract() {
    const nodes = pickedNodes();
    if (nodes.length === 0) return announce("Select nodes to extract");
    ui.setState({ extract: nodes });
  }

  return {
    goToField,
    openInspector: () => goToField(""),
    openWorkflowSettings,
    openFind,
    rename,
    pickedCrew,
    unfold,
    extract,
  };
}
