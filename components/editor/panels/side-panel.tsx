"use client";

import clsx from "clsx";
import { PanelLeftClose, Plus } from "lucide-react";
import dynamic from "next/dynamic";
import { type KeyboardEvent, useContext, useEffect, useMemo, useRef, useState } from "react";
import { PALETTE_DRAG } from "@/components/canvas/canvas-context";
import { KindIcon } from "@/components/canvas/cards/kind-icon";
import { RoleFace } from "@/components/display/role-face";
import { IconButton } from "@/components/ui/icon-button";
import { TextField } from "@/components/ui/input/text-field";
import { Tabs } from "@/components/ui/tabs";
import { NARROW, useMedia } from "@/components/ui/use-media";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { type AnyNodeKind, nodeKinds } from "@/server/domain/nodes";
import { useEditorCommands } from "../commands";
import { type Choice, writeChoice } from "../editing/choice";
import { type SidePanel as Side, useUi, useUiStore } from "../ui-store";
import { ProblemsContext, type ShownProblem } from "../use-problems";

/** Loads the lists behind the first tab. */
export const loadSideLists = () => import("./side-lists");
const Outline = dynamic(() => loadSideLists().then((m) => m.Outline));
const ProblemList = dynamic(() => loadSideLists().then((m) => m.ProblemList));

/** The side panel: palette, outline and problems. */
export function SidePanel({ roles }: { roles: readonly RoleDefinition[] }) {
  const side = useUi((ui) => ui.side);
  const ui = useUiStore();
  const problems = useContext(ProblemsContext);
  const rolesByName = useMemo(() => new Map(roles.map((role) => [role.name, role])), [roles]);
  useOneOnPhones();
  if (side === null) return null;
  return (
    <aside
      aria-label="Side panel"
      className="editor-side flex w-62 shrink-0 flex-col border-r border-line bg-surface max-md:absolute max-md:inset-y-0 max-md:left-0 max-md:z-20 max-md:w-72 max-md:shadow-3"
    >
      <Tabs<Side>
        label="Side panel"
        value={side}
        onValueChange={(next) => ui.setState({ side: next })}
        className="min-h-0 flex-1"
        listClassName="px-4"
        panelClassName="overflow-y-auto overscroll-contain"
        tabs={[
          { value: "add", label: "Add", content: <Palette roles={roles} /> },
          { value: "outline", label: "Outline", content: <Outline roles={rolesByName} /> },
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
          label="Hide panel"
          size="sm"
          side="right"
          icon={<PanelLeftClose aria-hidden />}
          onClick={() => ui.setState({ side: null })}
        />
      </div>
    </aside>
  );
}

/** On phones this panel and the settings would cover each other: whichever was opened last is there. */
function useOneOnPhones() {
  const isNarrow = useMedia(NARROW);
  const isOpen = useUi((ui) => ui.side !== null);
  const hasSettings = useUi((ui) => ui.isInspectorOpen);
  const wasOpen = useRef(false);
  const ui = useUiStore();
  useEffect(() => {
    if (isNarrow && isOpen && hasSettings)
      ui.setState(wasOpen.current ? { side: null } : { isInspectorOpen: false });
    wasOpen.current = isOpen;
  }, [isNarrow, isOpen, hasSettings, ui]);
}

function Count({ problems }: { problems: readonly ShownProblem[] }) {
  const wrong = problems.filter(({ isToDo }) => !isToDo);
  const hasErrors = wrong.some(({ severity }) => severity === "error");
  return (
    <span
      className={clsx(
        "rounded-full px-1.5 text-xs leading-4.5 font-semibold tabular-nums",
        hasErrors
          ? "bg-failed/12 text-failed"
          : wrong.length > 0
            ? "bg-waiting/15 text-waiting-ink"
            : "bg-ink/8 text-ink-2",
      )}
    >
      {wrong.length || problems.length}
    </span>
  );
}

const groups: { group: AnyNodeKind["group"]; title: string }[] = [
  { group: "agents", title: "Agents" },
  { group: "people", title: "People" },
  { group: "flow", title: "Flow" },
  { group: "data", title: "Data" },
  { group: "notes", title: "Notes" },
];

/** The palette: drag a node to the canvas, or click to add it after the selection. */
function Palette({ roles }: { roles: readonly RoleDefinition[] }) {
  const [search, setSearch] = useState("");
  const [at, setAt] = useState<string | null>(null);
  const wanted = search.trim().toLowerCase();
  const fits = (...texts: string[]) => texts.some((word) => word.toLowerCase().includes(wanted));
  const kinds = nodeKinds.filter(({ title, hint }) => fits(title, hint));
  const shownRoles = roles.filter(({ name, description }) => fits(name, description));
  const list = useRef<HTMLDivElement>(null);
  const [first] = [...kinds.map(({ type }) => type), ...shownRoles.map(({ name }) => `role ${name}`)];
  const stop = at === null || !isShown(at, kinds, shownRoles) ? first : at;
  return (
    <div ref={list} data-palette-list className="flex flex-col gap-4 p-3">
      <TextField
        label="Search nodes and roles"
        hideLabel
        placeholder="Search…"
        value={search}
        onValueChange={setSearch}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown") return;
          event.preventDefault();
          list.current?.querySelector<HTMLElement>("[data-palette]")?.focus();
        }}
      />
      {groups.map(({ group, title }) => {
        const members = kinds.filter((kind) => kind.group === group);
        return members.length === 0 ? null : (
          <section key={group} aria-label={title}>
            <h2 className="mb-1 px-1 text-xs text-ink-3">{title}</h2>
            <ul className="flex flex-col">
              {members.map((kind) => (
                <li key={kind.type}>
                  <PaletteItem
                    choice={{ type: kind.type }}
                    isStop={stop === kind.type}
                    onStop={() => setAt(kind.type)}
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
          <h2 className="mb-1 px-1 text-xs text-ink-3">Roles</h2>
          <ul className="flex flex-col">
            {shownRoles.map(({ name, description, icon, color }) => (
              <li key={name}>
                <PaletteItem
                  choice={{ type: "agent_task", name, config: { required_role: name } }}
                  isStop={stop === `role ${name}`}
                  onStop={() => setAt(`role ${name}`)}
                  title={name}
                  hint={description}
                  icon={<RoleFace name={name} icon={icon} color={color} size={32} />}
                />
              </li>
            ))}
          </ul>
        </section>
      )}
      {kinds.length + shownRoles.length === 0 && <p className="px-1 text-[13px] text-ink-2">No results</p>}
    </div>
  );
}

function isShown(at: string, kinds: readonly AnyNodeKind[], roles: readonly RoleDefinition[]): boolean {
  return kinds.some(({ type }) => type === at) || roles.some(({ name }) => `role ${name}` === at);
}

/** One stop for Tab: the arrows walk through what can be added. */
function walk(event: KeyboardEvent<HTMLElement>) {
  const list = event.currentTarget.closest("[data-palette-list]");
  const all = [...(list?.querySelectorAll<HTMLElement>("[data-palette]") ?? [])];
  const to = goal(event.key, all.indexOf(event.currentTarget), all.length);
  if (to === null) return;
  event.preventDefault();
  all[to]?.focus();
}

/** Where a key leads in a list of so many; null: it leads nowhere. */
function goal(key: string, at: number, count: number): number | null {
  if (key === "ArrowDown") return Math.min(at + 1, count - 1);
  if (key === "ArrowUp") return Math.max(at - 1, 0);
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}

function PaletteItem({
  choice,
  isStop,
  onStop,
  title,
  hint,
  icon,
}: {
  choice: Choice;
  /** The one in the tab order. */
  isStop: boolean;
  onStop: () => void;
  title: string;
  hint: string;
  icon: React.ReactNode;
}) {
  const commands = useEditorCommands();
  return (
    <button
      type="button"
      draggable
      data-palette
      onKeyDown={walk}
      tabIndex={isStop ? 0 : -1}
      onFocus={onStop}
      onDragStart={(event) => {
        event.dataTransfer.setData(PALETTE_DRAG, writeChoice(choice));
        event.dataTransfer.effectAllowed = "copy";
      }}
      onClick={() => commands.addSensibly(choice)}
      className="group/item relative flex w-full cursor-grab items-center gap-2.5 rounded-lg p-1.5 text-left hover:bg-ink/5 active:cursor-grabbing"
    >
      {icon}
      <span className="min-w-0 flex-1">
        <span className="block truncate text-[13px] font-medium">
          <span className="sr-only">Add </span>
          {title}
        </span>
        <span title={hint} className="line-clamp-2 text-xs text-ink-3">
          {hint}
        </span>
      </span>
      <Plus
        aria-hidden
        className="absolute top-2 right-1.5 size-3.5 text-ink-3 opacity-0 group-hover/item:opacity-100"
      />
    </button>
  );
}
