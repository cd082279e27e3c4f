"use client";

import { CircleAlert, CircleCheck, CircleDashed, TriangleAlert, Wrench } from "lucide-react";
import { NodeList } from "@/components/canvas/node-list";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { Fix } from "@/server/domain/problems/problems";
import { useEditorCommands } from "./commands";
import { useEditor, useEditorStore } from "./editor-store";
import { useUiStore } from "./ui-store";
import { useAllow } from "./use-grants";
import type { ShownProblem } from "./use-problems";

/** The drawing as a list beside it. */
export function Outline({ roles }: { roles: ReadonlyMap<string, RoleDefinition> }) {
  const graph = useEditor(({ doc }) => doc.graph);
  const selected = useEditor(({ selection }) => selection.nodes);
  const store = useEditorStore();
  const commands = useEditorCommands();
  const ui = useUiStore();
  if (Object.keys(graph.nodes).length === 0)
    return (
      <p className="p-4 text-[13px] text-ink-2">
        Nothing is drawn yet. Press <kbd className="font-sans font-semibold">N</kbd> to add a node.
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

/** What is wrong, with the way to its place and, where there is one, its repair. */
export function ProblemList({ problems }: { problems: readonly ShownProblem[] }) {
  const commands = useEditorCommands();
  const { change } = useAllow();
  // A grant belongs to this installation, not to the drawing: it is no step that could be undone.
  const repair = (fix: Fix) => (fix.kind === "allow" ? change({ allow: [fix.key] }) : void commands.fix(fix));
  const graph = useEditor(({ doc }) => doc.graph);
  if (problems.length === 0)
    return (
      <p className="flex items-center gap-2 p-4 text-[13px] text-ink-2">
        <CircleCheck aria-hidden className="size-4 text-completed" />
        No problems: this workflow can run.
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
          {problem.dismiss && (
            <button
              type="button"
              onClick={() => problem.dismiss && repair(problem.dismiss)}
              className="mb-1.5 ml-8 rounded-md px-2 py-0.5 text-xs text-ink-2 hover:bg-sunken hover:text-ink"
            >
              {problem.dismiss.label}
            </button>
          )}
          {problem.fix && (
            <button
              type="button"
              onClick={() => problem.fix && repair(problem.fix)}
              className="mb-1.5 ml-8 inline-flex items-center gap-1.5 rounded-md border border-line px-2 py-0.5 text-xs hover:border-line-strong hover:bg-sunken"
            >
              <Wrench aria-hidden className="size-3" />
              {problem.fix.label}
            </button>
          )}
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
