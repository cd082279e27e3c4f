"use client";

import { Command } from "cmdk";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { KindIcon } from "@/components/canvas/cards/kind-icon";
import { RoleFace } from "@/components/display/role-face";
import { synonymsOf } from "@/components/page/synonyms";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { nodeKinds } from "@/server/domain/nodes";
import { useEditorCommands } from "../commands";
import type { Choice } from "../editing/choice";
import { useEditor } from "../editing/editor-store";
import { loneStart } from "../editing/placing";
import { type PickerRequest, useUi, useUiStore } from "../ui-store";

const WIDTH = 304;
const HEIGHT = 380;
const MARGIN = 12;

/** Searches for a node to add: any kind, or an agent task by role. */
export function QuickPicker({ roles }: { roles: readonly RoleDefinition[] }) {
  const request = useUi((ui) => ui.picker);
  return request ? <Open request={request} roles={roles} /> : null;
}

function Open({ request, roles }: { request: PickerRequest; roles: readonly RoleDefinition[] }) {
  const commands = useEditorCommands();
  const ui = useUiStore();
  const box = useRef<HTMLDivElement>(null);
  // Starts with the letters typed before the picker had the focus.
  const [written, setSearch] = useState<string | null>(null);
  const search = written ?? request.typed ?? "";
  const close = () => ui.setState({ picker: null });
  const choose = (choice: Choice) => {
    close();
    if (request.after || request.onEdge || request.at) commands.add(choice, request);
    else commands.addSensibly(choice);
  };
  useClickOutside(box, close);
  const isFirst = useEditor(({ doc }) => loneStart(doc.graph) !== null);
  const needsEntry = !!request.after || !!request.onEdge || isFirst;
  return (
    <div
      ref={box}
      role="dialog"
      aria-label="Add node"
      data-node-picker
      className="popup fixed z-40 overflow-hidden"
      style={{ width: `min(${WIDTH}px, calc(100vw - ${2 * MARGIN}px))`, ...placeIn(request.client) }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        close();
        const [picked] = commands.pickedNodes();
        if (picked) commands.focus(picked);
        else document.querySelector<HTMLElement>(".graph-canvas")?.focus();
      }}
    >
      <Command label="Add node" loop filter={rank}>
        <Command.Input
          autoFocus
          value={search}
          onValueChange={setSearch}
          placeholder="Search nodes and roles…"
          className="h-11 w-full border-b border-line bg-transparent px-3.5 text-sm outline-none placeholder:text-ink-3"
        />
        <Command.List className="max-h-[min(330px,50vh)] overflow-y-auto p-1.5 [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-ink-3">
          <Command.Empty className="px-2 py-6 text-center text-sm text-ink-2">No results</Command.Empty>
          <Choices needsEntry={needsEntry} roles={roles} onChoose={choose} />
        </Command.List>
      </Command>
    </div>
  );
}

function Choices({
  needsEntry,
  roles,
  onChoose,
}: {
  needsEntry: boolean;
  roles: readonly RoleDefinition[];
  onChoose: (choice: Choice) => void;
}) {
  // A note is never connected, so it can always be added.
  const kinds = nodeKinds.filter(
    ({ hasEntry, executes }) => !needsEntry || hasEntry !== false || executes === false,
  );
  return (
    <>
      <Command.Group heading="Nodes">
        {kinds.map((kind) => (
          <Item
            key={kind.type}
            value={kind.title}
            keywords={[kind.hint, kind.type, synonymsOf(kind.title)]}
            onSelect={() => onChoose({ type: kind.type })}
            face={
              <span className="grid size-8 place-items-center rounded-lg bg-sunken text-ink-2">
                <KindIcon name={kind.icon} />
              </span>
            }
            title={kind.title}
            hint={kind.hint}
          />
        ))}
      </Command.Group>
      {roles.length > 0 && (
        <Command.Group heading="Agent tasks by role">
          {roles.map(({ name, description, icon, color }) => (
            <Item
              key={name}
              value={`role ${name}`}
              keywords={[name, description.slice(0, 200)]}
              onSelect={() => onChoose({ type: "agent_task", name, config: { required_role: name } })}
              face={<RoleFace name={name} icon={icon} color={color} size={32} />}
              title={name}
              hint={description}
            />
          ))}
        </Command.Group>
      )}
    </>
  );
}

function Item(props: {
  value: string;
  keywords: string[];
  onSelect: () => void;
  face: ReactNode;
  title: string;
  hint: string;
}) {
  return (
    <Command.Item
      value={props.value}
      keywords={props.keywords}
      onSelect={props.onSelect}
      className="flex cursor-default items-center gap-3 rounded-lg px-2 py-1.5 text-sm data-[selected=true]:bg-ink/6 pointer-coarse:py-2.5"
    >
      {props.face}
      <span className="min-w-0 flex-1">
        <span className="block truncate">{props.title}</span>
        <span className="block truncate text-xs text-ink-3">{props.hint}</span>
      </span>
    </Command.Item>
  );
}

function useClickOutside(box: RefObject<HTMLElement | null>, onClick: () => void) {
  const newest = useRef(onClick);
  useEffect(() => {
    newest.current = onClick;
  });
  useEffect(() => {
    const onPointerDown = (event: PointerEvent) => {
      if (!(event.target instanceof Node && box.current?.contains(event.target))) newest.current();
    };
    window.addEventListener("pointerdown", onPointerDown, { capture: true });
    return () => window.removeEventListener("pointerdown", onPointerDown, { capture: true });
  }, [box]);
}

/** Matches at the start of words rank first. */
function rank(value: string, search: string, keywords: string[] = []): number {
  const wanted = search.trim().toLowerCase();
  const name = value.toLowerCase().replace(/^role /, "");
  if (name.startsWith(wanted)) return 1;
  if (name.split(/\W+/).some((word) => word.startsWith(wanted))) return 0.8;
  if (name.includes(wanted)) return 0.6;
  return keywords.some((word) => word.toLowerCase().includes(wanted)) ? 0.3 : 0;
}

/** Where the picker opens, inside the window. */
function placeIn(client: { x: number; y: number } | undefined): {
  left: number | string;
  top: number | string;
  transform?: string;
} {
  if (!client) return { left: "50%", top: "22vh", transform: "translateX(-50%)" };
  return {
    left: Math.max(MARGIN, Math.min(client.x, window.innerWidth - WIDTH - MARGIN)),
    top: Math.max(MARGIN, Math.min(client.y - 20, window.innerHeight - HEIGHT - MARGIN)),
  };
}
