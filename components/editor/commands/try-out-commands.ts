import type { TryOutStore } from "@/components/run/try-out/try-out-store";
import { getNodeKind, isExecutable } from "@/server/domain/nodes";
import type { CommandContext } from "./command-context";

/** What a person can try out with one node while drawing. */
export function tryOutCommands({
  graph,
  pickedNodes,
  tryOuts,
  ui,
  say,
}: Pick<CommandContext, "graph" | "pickedNodes" | "ui" | "say"> & { tryOuts: TryOutStore }) {
  /** The one picked node that does something by itself. */
  function picked(): string | null {
    const [id, ...others] = pickedNodes();
    const node = id === undefined ? undefined : graph().nodes[id];
    if (!node || others.length > 0 || !isExecutable(node)) return null;
    const { begins, ends } = getNodeKind(node.node_type);
    return begins || ends ? null : node.id;
  }
  const open = (what: "run" | "pin") => {
    const nodeId = picked();
    if (nodeId === null) return say("Select one node that does something by itself");
    ui.setState({ tryOut: { what, nodeId } });
  };
  return {
    canTryOut: () => picked() !== null,
    isPinned: () => tryOuts.getState().pins[picked() ?? ""] !== undefined,
    hasResult: () => tryOuts.getState().tries[picked() ?? ""] !== undefined,
    runNode: () => open("run"),
    pinOutput: () => open("pin"),
    runToHere() {
      const nodeId = picked();
      if (nodeId === null) return say("Select one node that does something by itself");
      ui.setState({ runTo: nodeId, fresh: new Set(), isNew: false });
    },
    unpin() {
      const id = picked();
      if (id === null) return;
      tryOuts.unpin(id);
      say(`${graph().nodes[id]?.name || id} is carried out again`);
    },
    forgetResult() {
      const id = picked();
      if (id !== null) tryOuts.forget(id);
    },
  };
}
