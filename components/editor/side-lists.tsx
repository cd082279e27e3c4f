"use client";

import clsx from "clsx";
import { CircleAlert, CircleCheck, TriangleAlert, Wrench } from "lucide-react";
import { KindIcon } from "@/components/canvas/kind-icon";
import { readingOrder } from "@/components/canvas/navigation";
import { getNodeKind } from "@/server/domain/nodes";
import type { Fix, Problem } from "@/server/domain/problems/problems";
import { useEditorCommands } from "./commands";
import { useEditor, useEditorStore } from "./editor-store";
import { useUiStore } from "./ui-store";
import { useAllow } from "./use-grants";

/** The drawing as a list, in reading order: for screen readers, for phones, and for large drawings. */
export function Outline() {
  const graph = useEditor(({ doc }) => doc.graph);
  const selected = useEditor(({ selection }) => selection.nodes);
  const store = useEditorStore();
  const commands = useEditorCommands();
  const ui = useUiStore();
  const order = readingOrder(graph);
  if (order.length === 0)
    return (
      <p className="p-4 text-[13px] text-ink-2">
        Nothing is drawn yet. Press <kbd className="font-sans font-semibold">N</kbd> to add a node.
      </p>
    );
  return (
    <ol aria-label="Nodes in reading order" className="flex flex-col p-2">
      {order.map((id) => {
        const node = graph.nodes[id];
        if (!node) return null;
        const kind = getNodeKind(node.node_type);
        const ways = graph.edges.filter(({ source_node_id }) => source_node_id === id);
        return (
          <li key={id}>
            <button
              type="button"
              aria-current={selected.has(id) || undefined}
              onClick={() => {
                store.getState().select({ nodes: [id] });
                commands.view.center(id);
              }}
              onDoubleClick={() => ui.setState({ isInspectorOpen: true })}
              className={clsx(
                "flex w-full items-start gap-2 rounded-lg px-2 py-1.5 text-left text-[13px] hover:bg-ink/5",
                selected.has(id) && "bg-accent-soft hover:bg-accent-soft",
              )}
            >
              <span className="mt-0.5 text-ink-3">
                <KindIcon name={kind.icon} size={14} />
              </span>
              <span className="min-w-0 flex-1">
                <span className="block truncate font-medium">{node.name || kind.title}</span>
                {ways.map((edge) => (
                  <span key={edge.id} className="block truncate text-xs text-ink-3">
                    <span aria-hidden>→ </span>
                    <span className="sr-only">leads to </span>
                    {edge.edge_label ? `${edge.edge_label}: ` : edge.kind === "error" ? "on error: " : ""}
                    {graph.nodes[edge.target_node_id]?.name || edge.target_node_id}
                  </span>
                ))}
              </span>
            </button>
          </li>
        );
      })}
    </ol>
  );
}

/** What is wrong, with the way to its place and, where there is one, its repair. */
export function ProblemList({ problems }: { problems: readonly Problem[] }) {
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
  return (
    <ul aria-label="Problems" className="flex flex-col gap-1 p-2">
      {problems.map((problem) => (
        <li
          key={`${problem.code} ${problem.at.id ?? ""} ${problem.at.field ?? ""} ${problem.message}`}
          className="rounded-lg hover:bg-ink/4"
        >
          <button
            type="button"
            onClick={() => commands.goTo(problem)}
            className="flex w-full items-start gap-2 px-2 pt-2 pb-1.5 text-left text-[13px]"
          >
            {problem.severity === "error" ? (
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
}
