"use client";

import { useStore, useStoreApi, ViewportPortal } from "@xyflow/react";
import { ChevronDown, ChevronRight } from "lucide-react";
import { type PointerEvent, useRef, useState } from "react";
import { CARD_WIDTH, type CardSize, cardHeight, PLAIN_HEIGHT } from "@/components/canvas/cards/card-size";
import { MarkIcon } from "@/components/canvas/cards/mark-icon";
import { sizeOfNote } from "@/components/canvas/cards/note-size";
import type { Dressing, Mark } from "@/components/canvas/flow-mapping";
import { useCanvasView } from "@/components/canvas/use-canvas-view";
import { portsIn } from "@/components/forms/ports";
import { IconButton } from "@/components/ui/icon-button";
import { MoreMenu } from "@/components/ui/overlay/more-menu";
import { NodeGroup, type WorkflowGraph } from "@/server/domain/graph/graph";
import { cornerOfGroup } from "@/server/domain/graph/groups";
import { noteTextOf } from "@/server/domain/nodes";
import { useEditorCommands } from "./commands";
import { useEditorStore } from "./editing/editor-store";
import { edits } from "./editing/edits";
import { useUi, useUiStore } from "./ui-store";

const AROUND = 20;
const HEAD = 30;

/** The frames of groups behind their cards, and the cards of collapsed groups. */
export function GroupFrames({ graph, marks }: { graph: WorkflowGraph; marks?: Dressing["marks"] }) {
  return (
    <ViewportPortal>
      {graph.groups?.map((group) => (
        <Frame key={group.id} graph={graph} group={group} mark={worstMark(group, marks)} />
      ))}
    </ViewportPortal>
  );
}

/** The worst problem inside a collapsed group, whose cards are hidden. */
export function worstMark(
  { is_collapsed, node_ids }: Pick<NodeGroup, "is_collapsed" | "node_ids">,
  marks: Dressing["marks"],
): Mark | undefined {
  if (!is_collapsed || !marks) return undefined;
  const inside = node_ids.flatMap((id) => marks.get(id) ?? []);
  for (const severity of ["error", "warning", "todo"] as const) {
    const found = inside.filter((mark) => mark.severity === severity);
    if (found[0])
      return found.length > 1
        ? { severity, text: `${found[0].text} (and ${found.length - 1} more)` }
        : found[0];
  }
  return undefined;
}

/**
 * While a group is dragged, its cards and their edges move along; their positions are saved at the end. A position change
 * without a `dragging` flag only affects the view (see `useDragging`).
 */
function useCardsAlong(graph: WorkflowGraph, group: NodeGroup) {
  const store = useStoreApi();
  return ({ x, y }: { x: number; y: number }) => {
    const places: [string, { x: number; y: number } | undefined][] = group.is_collapsed
      ? [[group.id, cornerOfGroup(graph, group)]]
      : group.node_ids.map((id) => [id, graph.nodes[id]?.ui]);
    store
      .getState()
      .triggerNodeChanges(
        places.flatMap(([id, place]) =>
          place ? [{ id, type: "position" as const, position: { x: place.x + x, y: place.y + y } }] : [],
        ),
      );
  };
}

function Frame({ graph, group, mark }: { graph: WorkflowGraph; group: NodeGroup; mark: Mark | undefined }) {
  const [shift, setShift] = useState({ x: 0, y: 0 });
  const moveCards = useCardsAlong(graph, group);
  const onShift = (to: { x: number; y: number }) => {
    setShift(to);
    moveCards(to);
  };
  const box = boxOf(graph, group, useNoteSizes(graph, group));
  if (!box) return null;
  const { is_collapsed, color } = group;
  const place = { transform: `translate(${box.x + shift.x}px, ${box.y + shift.y}px)` };
  return (
    <>
      {is_collapsed ? null : (
        <div
          className="group-frame"
          data-color={color}
          style={{ ...place, width: box.width, height: box.height }}
        />
      )}
      <div
        className="group-head nopan nodrag"
        data-color={color}
        data-collapsed={is_collapsed || undefined}
        style={{ ...place, width: box.width, height: is_collapsed ? box.height : HEAD }}
      >
        <Head graph={graph} group={group} onShift={onShift} />
        {mark ? (
          <span className="node-marks">
            <MarkIcon mark={mark} />
          </span>
        ) : null}
      </div>
    </>
  );
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Rendered sizes of the notes in a group: a note without a set size is as large as its text. */
function useNoteSizes(graph: WorkflowGraph, { node_ids }: NodeGroup): ReadonlyMap<string, CardSize> {
  const notes = node_ids.filter((id) => {
    const node = graph.nodes[id];
    return node && noteTextOf(node) !== undefined;
  });
  const sizes = useStore(
    ({ nodeLookup }) => notes.map((id) => nodeLookup.get(id)?.measured),
    (a, b) => a.length === b.length && a.every((size, at) => size === b[at]),
  );
  return new Map(
    sizes.flatMap((size, at) =>
      size?.width && size.height ? [[notes[at] ?? "", { width: size.width, height: size.height }]] : [],
    ),
  );
}

/**
 * The bounds of a group's frame or, if it is collapsed, of the card that replaces it. Null if none of its nodes exist.
 * `sizes`: of notes.
 */
export function boxOf(
  graph: WorkflowGraph,
  group: NodeGroup,
  sizes: ReadonlyMap<string, CardSize>,
): Box | null {
  const boxes = group.node_ids.flatMap((id) => {
    const node = graph.nodes[id];
    if (!node?.ui) return [];
    const ports = portsIn(graph, node);
    const plain = { width: CARD_WIDTH, height: cardHeight(node, ports) };
    const { width, height } = { ...plain, ...sizeOfNote(node), ...sizes.get(id) };
    return [{ x: node.ui.x, y: node.ui.y, right: node.ui.x + width, bottom: node.ui.y + height }];
  });
  if (boxes.length === 0) return null;
  if (group.is_collapsed) return { ...cornerOfGroup(graph, group), width: CARD_WIDTH, height: PLAIN_HEIGHT };
  const x = Math.min(...boxes.map((box) => box.x)) - AROUND;
  const y = Math.min(...boxes.map((box) => box.y)) - AROUND - HEAD;
  return {
    x,
    y,
    width: Math.max(...boxes.map(({ right }) => right)) + AROUND - x,
    height: Math.max(...boxes.map(({ bottom }) => bottom)) + AROUND - y,
  };
}

interface HeadProps {
  graph: WorkflowGraph;
  group: NodeGroup;
  onShift: (shift: { x: number; y: number }) => void;
}

/** The group's name, a handle to select and move it, and its actions. */
function Head({ graph, group, onShift }: HeadProps) {
  const store = useEditorStore();
  const commands = useEditorCommands();
  const ui = useUiStore();
  const view = useCanvasView();
  const isNaming = useUi(({ naming }) => naming === group.id);
  const from = useRef<{ x: number; y: number } | null>(null);
  const name = group.name || "Group";
  const at = (event: PointerEvent) => view.toFlow({ x: event.clientX, y: event.clientY });
  const shiftAt = (event: PointerEvent) => {
    const here = at(event);
    const begin = from.current;
    return begin && { x: Math.round((here.x - begin.x) / 8) * 8, y: Math.round((here.y - begin.y) / 8) * 8 };
  };
  const set = (patch: Parameters<typeof edits.setGroup.apply>[1]["patch"]) =>
    store.getState().edit(edits.setGroup, { id: group.id, patch });
  if (isNaming) return <NameField group={group} onName={(name) => set({ name })} />;
  return (
    <>
      <IconButton
        plain
        size="sm"
        label={group.is_collapsed ? `Expand ${name}` : `Collapse ${name}`}
        icon={group.is_collapsed ? <ChevronRight aria-hidden /> : <ChevronDown aria-hidden />}
        onClick={() => commands.foldGroup(group.id)}
      />
      <button
        type="button"
        className="min-w-0 flex-1 cursor-grab truncate text-left active:cursor-grabbing"
        onClick={() => store.getState().select({ nodes: group.node_ids })}
        onDoubleClick={(event) => {
          event.stopPropagation();
          ui.setState({ naming: group.id });
        }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          from.current = at(event);
        }}
        onPointerMove={(event) => {
          const shift = shiftAt(event);
          if (shift) onShift(shift);
        }}
        onPointerUp={(event) => {
          const shift = shiftAt(event);
          from.current = null;
          onShift({ x: 0, y: 0 });
          if (!shift || (shift.x === 0 && shift.y === 0)) return;
          const corner = cornerOfGroup(graph, group);
          commands.moveAll({ [group.id]: { x: corner.x + shift.x, y: corner.y + shift.y } });
        }}
      >
        {name}
        {group.is_collapsed ? (
          <span className="block text-xs font-normal opacity-75">
            {group.node_ids.length} {group.node_ids.length === 1 ? "node" : "nodes"}
          </span>
        ) : null}
      </button>
      <MoreMenu
        label={`Actions for ${name}`}
        size="sm"
        items={[
          { label: "Rename", onSelect: () => ui.setState({ naming: group.id }) },
          { label: group.is_collapsed ? "Expand" : "Collapse", onSelect: () => commands.foldGroup(group.id) },
          "separator",
          ...NodeGroup.shape.color.unwrap().options.map((color) => ({
            label: color.charAt(0).toUpperCase() + color.slice(1),
            onSelect: () => set({ color }),
          })),
          "separator",
          {
            label: "Extract to workflow…",
            onSelect: () => ui.setState({ extract: group.node_ids }),
          },
          { label: "Ungroup", onSelect: () => store.getState().edit(edits.ungroup, { id: group.id }) },
          ...((graph.groups?.length ?? 0) > 1
            ? [{ label: "Ungroup all", onSelect: () => store.getState().edit(edits.ungroupAll, {}) }]
            : []),
        ]}
      />
    </>
  );
}

function NameField({ group, onName }: { group: NodeGroup; onName: (name: string) => void }) {
  const commands = useEditorCommands();
  const ui = useUiStore();
  return (
    <input
      // biome-ignore lint/a11y/noAutofocus: it was just made or asked to be named
      autoFocus
      aria-label="Group name"
      maxLength={200}
      defaultValue={group.name}
      placeholder="Group name"
      onFocus={(event) => event.currentTarget.select()}
      onBlur={(event) => {
        if (event.currentTarget.value !== group.name) onName(event.currentTarget.value.trim());
        ui.setState({ naming: null });
      }}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        if (event.key === "Escape") event.currentTarget.value = group.name;
        const [first] = group.node_ids;
        event.currentTarget.blur();
        if (first !== undefined) commands.focus(first);
      }}
      className="min-w-0 flex-1 bg-transparent px-1 outline-none"
    />
  );
}
