import type { NodeBase } from "@/server/domain/nodes";
import { useEditorStore } from "../editing/editor-store";
import { edits } from "../editing/edits";
import type { ShownProblem } from "../use-problems";

/** Changes of the node itself; quick typing into one field is one step back. */
export function useSetNode(id: string) {
  const store = useEditorStore();
  return (patch: Partial<Omit<NodeBase, "id">>) =>
    store
      .getState()
      .edit(edits.setNode, { id, patch }, { mergeKey: `${id} ${Object.keys(patch).join(" ")}` });
}

/** What does not keep a field from working, nor something inside it, and is still to be known. */
export function warningsAt(problems: readonly ShownProblem[], field: string): ShownProblem[] {
  return problems.filter(
    ({ at, isToDo, severity }) => !isToDo && severity !== "error" && isIn(at.field, field),
  );
}

/** What keeps a field from working, or something inside it; what nobody has got to yet is not wrong. */
export function mistakeAt(problems: readonly ShownProblem[], field: string): string | undefined {
  return problems.find(({ at, isToDo, severity }) => !isToDo && severity === "error" && isIn(at.field, field))
    ?.message;
}

const isIn = (at: string | undefined, field: string) => at === field || at?.startsWith(`${field}.`) === true;
