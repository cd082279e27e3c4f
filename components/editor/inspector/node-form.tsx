import type { ReactNode } from "react";
import { FormParts, type FormPartsProps } from "@/components/forms/form-parts";
import { keysOf } from "@/server/domain/base/guards";
import type { NodeBase } from "@/server/domain/nodes";
import { useEditorStore } from "../editing/editor-store";
import { edits } from "../editing/edits";
import { FieldWarnings } from "../problem-actions";
import type { ShownProblem } from "../use-problems";

/** Changes the node itself; quick typing into one field is one undo step. */
export function useSetNode(id: string) {
  const store = useEditorStore();
  return (patch: Partial<Omit<NodeBase, "id">>) =>
    store
      .getState()
      .edit(edits.setNode, { id, patch }, { mergeKey: `${id} ${Object.keys(patch).join(" ")}` });
}

/** A form of settings that every node has. */
export function NodeParts<S extends string = never>({
  node,
  ...form
}: Omit<FormPartsProps<NodeBase, S>, "value" | "onChange" | "frame"> & { node: NodeBase }) {
  const set = useSetNode(node.id);
  return (
    <FormParts<NodeBase, S>
      {...form}
      value={node}
      onChange={(next) => {
        const changed = keysOf({ ...node, ...next }).filter((key) => next[key] !== node[key]);
        set(Object.fromEntries(changed.map((key) => [key, next[key]])));
      }}
      frame={(key, field) => <FieldFrame field={key.split(".")[0] ?? key}>{field}</FieldFrame>}
    />
  );
}

/** The place of a field, to which problems lead, with the warnings about it. */
export function FieldFrame({
  field,
  problems = [],
  className,
  children,
}: {
  field: string;
  problems?: readonly ShownProblem[];
  className?: string;
  children: ReactNode;
}) {
  return (
    <div data-field={field} className={className}>
      {children}
      <FieldWarnings problems={warningsAt(problems, field)} />
    </div>
  );
}

/** The warnings about a field or something inside it. */
export function warningsAt(problems: readonly ShownProblem[], field: string): ShownProblem[] {
  return problems.filter(
    ({ at, isToDo, severity }) => !isToDo && severity !== "error" && isIn(at.field, field),
  );
}

/** The error of a field or its content; a field that is still to be filled in has none. */
export function mistakeAt(problems: readonly ShownProblem[], field: string): string | undefined {
  return problems.find(({ at, isToDo, severity }) => !isToDo && severity === "error" && isIn(at.field, field))
    ?.message;
}

const isIn = (at: string | undefined, field: string) => at === field || at?.startsWith(`${field}.`) === true;
