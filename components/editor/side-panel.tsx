"use client";

import clsx from "clsx";
import { CircleAlert, CircleCheck, PanelLeftClose, Plus, TriangleAlert, Wrench } from "lucide-react";
import { useContext, useState } from "react";
import { PALETTE_DRAG } from "@/components/canvas/canvas-context";
import { KindIcon } from "@/components/canvas/kind-icon";
import { readingOrder } from "@/components/canvas/navigation";
import { RoleFace } from "@/components/roles/role-face";
import { IconButton } from "@/components/ui/icon-button";
import { Tabs } from "@/components/ui/tabs";
import { TextField } from "@/components/ui/text-field";
import { type AnyNodeKind, getNodeKind, nodeKinds } from "@/server/domain/nodes";
import type { Problem } from "@/server/domain/problems";
import type { RoleDefinition } from "@/server/domain/role";
import { type Choice, useEditorCommands, writeChoice } from "./actions";
import { useEditor, useEditorStore } from "./editor-store";
import { type SidePanel as Side, useUi, useUiStore } from "./ui-store";
import { ProblemsContext } from "./use-problems";

/** Left of the drawing: what can be added, what is there, and what is wrong. */
export function SidePanel({ roles }: { roles: readonly RoleDefinition[] }) {
  const side = useUi((ui) => ui.side);
  const ui = useUiStore();
  const problems = useContext(ProblemsContext);
  if (side === null) return null;
  return (
    <aside
      aria-label="Add, outline and problems"
      className="editor-side flex w-62 shrink-0 flex-col border-r border-line bg-surface max-md:absolute max-md:inset-y-0 max-md:left-0 max-md:z-20 max-md:w-72 max-md:shadow-3"
    >
      <Tabs<Side>
        label="Add, outline and problems"
        value={side}
        onValueChange={(next) => ui.setState({ side: next })}
        className="min-h-0 flex-1"
        listClassName="px-4"
        panelClassName="overflow-y-auto overscroll-contain"
        tabs={[
          { value: "add", label: "Add", content: <Palette roles={roles} /> },
          { value: "outline", label: "Outline", content: <Outline /> },
          {
            value: "problems",
            label: "Problems",
            badge: problems.length > 0 ? <Count problems={problems} /> : undefined,
            content: <ProblemList problems={problems} />,
          },
        ]}
      />
      <div className="flex justify-end border-t border-line p-1.5">
        <IconButton
          label="Hide this panel"
          size="sm"
          side="right"
          icon={<PanelLeftClose aria-hidden />}
          onClick={() => ui.setState({ side: null })}
        />
      </div>
    </aside>
  );
}

function Count({ problems }: { problems: readonly Problem[] }) {
  const hasErrors = problems.some(({ severity }) => severity === "error");
  return (
    <span
      className={clsx(
        "rounded-full px-1.5 text-xs leading-4.5 font-semibold tabular-nums",
        hasErrors ? "bg-failed/12 text-failed" : "bg-waiting/15 text-waiting",
      )}
    >
      {problems.length}
    </span>
  );
}

const groups: { group: AnyNodeKind["group"]; title: string }[] = [
  { group: "agents", title: "Agents" },
  { group: "flow", title: "Flow" },
  { group: "data", title: "Data" },
  { group: "notes", title: "Notes" },
];

/** What can be added: drag it onto the drawing, or click it to hang it on what is selected. */
function Palette({ roles }: { roles: readonly RoleDefinition[] }) {
  const [search, setSearch] = useState("");
  const wanted = search.trim().toLowerCase();
  const fits = (...words: string[]) => words.some((word) => word.toLowerCase().includes(wanted));
  const kinds = nodeKinds.filter(({ title, hint }) => fits(title, hint));
  const shownRoles = roles.filter(({ name, description }) => fits(name, description));
  return (
    <div className="flex flex-col gap-4 p-3">
      <TextField
        label="Search what to add"
        hideLabel
        placeholder="Search…"
        value={search}
        onValueChange={setSearch}
      />
      {groups.map(({ group, title }) => {
        const members = kinds.filter((kind) => kind.group === group);
        return members.length === 0 ? null : (
          <section key={group} aria-label={title}>
            <h3 className="mb-1 px-1 text-xs text-ink-3">{title}</h3>
            <ul className="flex flex-col">
              {members.map((kind) => (
                <li key={kind.type}>
                  <PaletteItem
                    choice={{ type: kind.type }}
                    title={kind.title}
                    hint={kind.hint}
                    icon={
                      <span className="grid size-8 place-items-center rounded-lg bg-sunken text-ink-2">
                        <KindIcon name={kind.icon} />
                      </span>
                    }
                  />
                </li>
              ))}
            </ul>
          </section>
        );
      })}
      {shownRoles.length > 0 && (
        <section aria-label="Roles">
          <h3 className="mb-1 px-1 text-xs text-ink-3">Roles</h3>
          <ul className="flex flex-col">
            {shownRoles.map(({ name, description, icon, color }) => (
              <li key={name}>
                <PaletteItem
                  choice={{ type: "agent_task", name, config: { required_role: name } }}
                  title={name}
                  hint={description}
                  icon={<RoleFace name={name} icon={icon} color={color} size={32} />}
                />
              </li>
            ))}
          </ul>
        </section>
      )}
      {kinds.length + shownRoles.length === 0 && (
        <p className="px-1 text-[13px] text-ink-2">Nothing found.</p>
      )}
    </div>
  );
}

function PaletteItem({
  choice,
  title,
  hint,
  icon,
}: {
  choice: Choice;
  title: string;
  hint: string;
  icon: React.ReactNode;
}) {
  const commands = useEditorCommands();
  return (
    <button
      type="button"
      draggable
      aria-label={`Add ${title}`}
      onDragStart={(event) => {
        event.dataTransfer.setData(PALETTE_DRAG, writeChoice(choice));
        event.dataTransfer.effectAllowed = "copy";
      }}
      onClick={() => commands.addSensibly(choice)}
      className="group/item flex w-full cursor-grab items-center gap-2.5 rounded-lg p-1.5 text-left hover:bg-ink/5 active:cursor-grabbing"
    >
      {icon}
      <span className="min-w-0 flex-1">
        <span className="block truncate text-[13px] font-medium">{title}</span>
        <span className="block truncate text-xs text-ink-3">{hint}</span>
      </span>
      <Plus aria-hidden className="size-3.5 shrink-0 text-ink-3 opacity-0 group-hover/item:opacity-100" />
    </button>
  );
}

/** The drawing as a list, in reading order: for screen readers, for phones, and for large drawings. */
function Outline() {
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
function ProblemList({ problems }: { problems: readonly Problem[] }) {
  const commands = useEditorCommands();
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
              onClick={() => problem.fix && commands.fix(problem.fix)}
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
