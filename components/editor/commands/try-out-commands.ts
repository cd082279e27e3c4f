import type { TryOutStore } from "@/components/run/try-out/try-out-store";
import { getNodeKind, isExecutable } from "@/server/domain/nodes";
import type { CommandContext } from "./command-context";

/** The commands for running a single node. */
export function tryOutCommands({
  graph,
  pickedNodes,
  tryOuts,
  ui,
  announce,
}: Pick<CommandContext, "graph" | "pickedNodes" | "ui" | "announce"> & { tryOuts: TryOutStore }) {
  /** Whether a node can run alone. */
  function canTry(nodeId: string): boolean {
    const node = graph().nodes[nodeId];
    if (!node || !isExecutable(node)) return false;
    const { begins, ends } = getNodeKind(node.node_type);
    return !begins && !ends;
  }
  /** The selected node, if exactly one is selected and it can run alone. */
  function picked(): string | null {
    const [id, ...others] = pickedNodes();
    return id !== undefined && others.length === 0 && canTry(id) ? id : null;
  }
  const open = (what: "run" | "try" | "pin", nodeId = picked()) => {
    if (nodeId === null) return announce("Select one node that can run on its own");
    ui.setState({ tryOut: { what, nodeId } });
  };
  return {
    canTry,
    /** Runs a node with its last inputs; asks for those that are not known. */
    tryNode: (nodeId?: string) => open("try", nodeId),
    canTryOut: () => picked() !== null,
    isPinned: () => tryOuts.getState().pins[picked() ?? ""] !== undefined,
    hasResult: () => tryOuts.getState().tries[picked() ?? ""] !== undefined,
    runNode: () => open("run"),
    pinOutput: () => open("pin"),
    runToHere() {
      const nodeId = picked();
      if (nodeId === null) return announce("Select one node that can run on its own");
      ui.setState({ runTo: nodeId, fresh: new Set(), isNew: false });
    },
    unpin() {
      const id = picked();
      if (id === null) return;
      tryOuts.unpin(id);
      announce(`Unpinned ${graph().nodes[id]?.name || id}`);
    },
    forgetResult() {
      const id = picked();
      if (id !== null) tryOuts.forget(id);
    },
  };
}
