import type { NodeBase } from "@/server/domain/nodes";
import { useEditorStore } from "./editor-store";
import { edits } from "./edits";
import type { ShownProblem } from "./use-problems";

/** Changes of the node itself; quick typing into one field is one step back. */
export function useSetNode(id: string) {
  const store = useEditorStore();
  return (patch: Partial<Omit<NodeBase, "id">>) =>
    store
      .getState()
      .edit(edits.setNode, { id, patch }, { mergeKey: `${id} ${Object.keys(patch).join(" ")}` });
}

/** The worst of what is wrong with a field, or with something inside it; what nobody has got to yet is not wrong. */
export function errorAt(problems: readonly ShownProblem[], field: string): string | undefined {
  const found = problems.filter(
    ({ at, isToDo }) => !isToDo && (at.field === field || at.field?.startsWith(`${field}.`)),
  );
  return (found.find(({ severity }) => severity === "error") ?? found[0])?.message;
}
