"use client";

import { CircleAlert, CircleCheck, CircleDashed, TriangleAlert } from "lucide-react";
import { NodeList } from "@/components/canvas/node-list";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { useEditorCommands } from "../commands";
import { useEditor, useEditorStore } from "../editing/editor-store";
import { ProblemActions } from "../problem-actions";
import { useUiStore } from "../ui-store";
import type { ShownProblem } from "../use-problems";

/** The outline of the workflow. */
export function Outline({ roles }: { roles: ReadonlyMap<string, RoleDefinition> }) {
  const graph = useEditor(({ doc }) => doc.graph);
  const selected = useEditor(({ selection }) => selection.nodes);
  const store = useEditorStore();
  const commands = useEditorCommands();
  const ui = useUiStore();
  if (Object.keys(graph.nodes).length === 0)
    return (
      <p className="p-4 text-[13px] text-ink-2">
        No nodes yet. Press <kbd className="font-sans font-semibold">N</kbd> to add a node.
      </p>
    );
  return (
    <NodeList
      graph={graph}
      roles={roles}
      selected={selected}
      onPick={(id) => {
        store.getState().select({ nodes: [id] });
        commands.view.center(id);
      }}
      onOpen={() => ui.setState({ isInspectorOpen: true })}
    />
  );
}

/** The problems, linked to their places, with fixes. */
export function ProblemList({ problems }: { problems: readonly ShownProblem[] }) {
  const commands = useEditorCommands();
  const graph = useEditor(({ doc }) => doc.graph);
  if (problems.length === 0)
    return (
      <p className="flex items-center gap-2 p-4 text-[13px] text-ink-2">
        <CircleCheck aria-hidden className="size-4 text-completed" />
        No problems. Ready to run.
      </p>
    );
  const wrong = problems.filter(({ isToDo }) => !isToDo);
  const toDo = problems.filter(({ isToDo }) => isToDo);
  const list = (label: string, shown: readonly ShownProblem[]) => (
    <ul aria-label={label} className="flex flex-col gap-1">
      {shown.map((problem) => (
        <li
          key={`${problem.code} ${problem.at.id ?? ""} ${problem.at.field ?? ""} ${problem.message}`}
          className="rounded-lg hover:bg-ink/4"
        >
          <button
            type="button"
            onClick={() => commands.goTo(problem)}
            className="flex w-full items-start gap-2 px-2 pt-2 pb-1.5 text-left text-[13px]"
          >
            {problem.isToDo ? (
              <CircleDashed aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-3" />
            ) : problem.severity === "error" ? (
              <CircleAlert aria-label="Error" className="mt-0.5 size-4 shrink-0 text-failed" />
            ) : (
              <TriangleAlert aria-label="Warning" className="mt-0.5 size-4 shrink-0 text-waiting" />
            )}
            <span className="min-w-0">
              {problem.at.kind === "node" && problem.at.id && (
                <span className="block truncate text-xs text-ink-3">{graph.nodes[problem.at.id]?.name}</span>
              )}
              {problem.message}
            </span>
          </button>
          <ProblemActions problem={problem} className="mb-2 ml-8" />
        </li>
      ))}
    </ul>
  );
  return (
    <div className="flex flex-col gap-3 p-2">
      {wrong.length > 0 ? list("Problems", wrong) : null}
      {toDo.length > 0 ? (
        <section aria-label="To do">
          <h3 className="px-2 pb-1 text-xs text-ink-3">To do</h3>
          {list("To do", toDo)}
        </section>
      ) : null}
    </div>
  );
}
