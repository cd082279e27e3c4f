import type { Direction } from "@/components/canvas/navigation";
import type { EditorCommands } from "./commands";
import { edits } from "./editing/edits";
import type { UiStore } from "./ui-store";

/** A shortcut: the canvas, the help and the command palette use this list. */
export interface KeyCommand {
  id: string;
  label: string;
  /** As `Kbd` takes them; several are separated by a space. */
  keys: string;
  /** Where it works: on the canvas only, or in the whole editor except in text fields. */
  where: "drawing" | "editor";
  /** Not offered in the command palette: makes sense only as a key. */
  isKeyOnly?: boolean;
  run(commands: EditorCommands, event?: KeyboardEvent): void;
}

/** Where an arrow key points; undefined for all other keys. */
const directionOf: ReadonlyMap<string, Direction> = new Map([
  ["ArrowLeft", "left"],
  ["ArrowRight", "right"],
  ["ArrowUp", "up"],
  ["ArrowDown", "down"],
]);

/** All shortcuts except the arrow keys, which the canvas handles. */
export const keyCommands: readonly KeyCommand[] = [
  { id: "pick", label: "Add node", keys: "N Tab", where: "drawing", run: (it) => it.openPicker() },
  {
    id: "connect",
    label: "Connect selected node",
    keys: "C",
    where: "drawing",
    run: (it) => it.startConnecting(),
  },
  {
    id: "walk_edges",
    label: "Cycle through connections",
    keys: "E shift+E",
    where: "drawing",
    run: (it, event) => it.walkEdges(event?.shiftKey ? -1 : 1),
  },
  {
    id: "open",
    label: "Open settings",
    keys: "Enter",
    where: "drawing",
    run: (it) => it.openInspector(),
  },
  { id: "rename", label: "Rename", keys: "F2", where: "drawing", run: (it) => it.rename() },
  {
    id: "unfold",
    label: "Expand crew into nodes",
    keys: "U",
    where: "drawing",
    run: (it) => it.unfold(),
  },
  {
    id: "extract",
    label: "Extract to workflow",
    keys: "X",
    where: "drawing",
    run: (it) => it.extract(),
  },
  {
    id: "move",
    label: "Nudge (Shift: larger steps)",
    keys: "alt+ArrowLeft alt+ArrowRight alt+ArrowUp alt+ArrowDown alt+shift+ArrowLeft alt+shift+ArrowRight alt+shift+ArrowUp alt+shift+ArrowDown",
    where: "drawing",
    isKeyOnly: true,
    run: (it, event) => {
      const way = event && directionOf.get(event.key);
      if (way) it.nudge(way, event.shiftKey);
    },
  },
  {
    id: edits.remove.id,
    label: "Delete",
    keys: "Delete Backspace",
    where: "drawing",
    run: (it) => it.remove(),
  },
  {
    id: edits.removeAndReconnect.id,
    label: edits.removeAndReconnect.label,
    keys: "mod+Delete mod+Backspace",
    where: "drawing",
    run: (it) => it.removeAndReconnect(),
  },
  {
    id: edits.duplicate.id,
    label: "Duplicate",
    keys: "mod+D",
    where: "drawing",
    run: (it) => it.duplicate(),
  },
  {
    id: edits.group.id,
    label: "Group selection",
    keys: "mod+G",
    where: "drawing",
    run: (it) => it.group(),
  },
  {
    id: edits.ungroup.id,
    label: "Ungroup",
    keys: "mod+shift+G",
    where: "drawing",
    run: (it) => it.ungroup(),
  },
  {
    id: "fold_group",
    label: "Collapse or expand group",
    keys: "G",
    where: "drawing",
    run: (it) => it.foldGroup(),
  },
  { id: "select_all", label: "Select all", keys: "mod+A", where: "drawing", run: (it) => it.selectAll() },
  { id: "undo", label: "Undo", keys: "mod+Z", where: "editor", run: (it) => it.undo() },
  { id: "redo", label: "Redo", keys: "mod+shift+Z mod+Y", where: "editor", run: (it) => it.redo() },
  {
    id: edits.layout.id,
    label: "Auto-layout",
    keys: "shift+L",
    where: "editor",
    run: (it) => void it.tidy(),
  },
  { id: "fit", label: "Zoom to fit", keys: "1", where: "editor", run: (it) => it.view.fit() },
  { id: "actual", label: "Zoom to 100%", keys: "0", where: "editor", run: (it) => it.view.zoomTo(1) },
  {
    id: "fit_selection",
    label: "Zoom to selection",
    keys: "2",
    where: "editor",
    run: (it) => it.view.fit(it.pickedNodes()),
  },
  {
    id: "run_node",
    label: "Try selected node",
    keys: "shift+Enter",
    where: "drawing",
    run: (it) => it.tryNode(),
  },
  {
    id: "run_to",
    label: "Run to selected node",
    keys: "shift+F10",
    where: "drawing",
    run: (it) => it.runToHere(),
  },
  {
    id: "pin",
    label: "Pin node output",
    keys: "P",
    where: "drawing",
    run: (it) => it.pinOutput(),
  },
  {
    id: "breakpoint",
    label: "Toggle breakpoint",
    keys: "F9",
    where: "drawing",
    run: (it) => it.toggleBreakpoint(),
  },
  {
    id: "breakpoint_off",
    label: "Enable or disable breakpoints",
    keys: "mod+F9",
    where: "drawing",
    run: (it) => it.switchBreakpoints(),
  },
  {
    id: "breakpoints",
    label: "Breakpoints",
    keys: "shift+F9",
    where: "editor",
    run: (it) => it.openBreakpoints(),
  },
  { id: "find", label: "Find and replace", keys: "mod+F", where: "editor", run: (it) => it.openFind() },
  { id: "save", label: "Save", keys: "mod+S", where: "editor", run: (it) => it.saveNow() },
];

/** Keys that aren't commands, for the help. */
export const moreKeys: readonly { keys: string; label: string }[] = [
  { keys: "ArrowLeft ArrowRight", label: "Next or previous node" },
  { keys: "shift+ArrowLeft shift+ArrowRight", label: "Extend selection" },
  { keys: "mod+ArrowLeft mod+ArrowRight", label: "Move focus only" },
  { keys: "Space", label: "Toggle selection" },
  { keys: "mod+C mod+X mod+V", label: "Copy, cut, paste" },
  { keys: "mod+Enter", label: "Run" },
  { keys: "Esc", label: "Focus canvas (Tab exits)" },
];

/** The command for a key press; null: none. */
export function commandFor(event: KeyboardEvent, where: KeyCommand["where"]): KeyCommand | null {
  return (
    keyCommands.find(
      (command) => command.where === where && command.keys.split(" ").some((keys) => isPressed(event, keys)),
    ) ?? null
  );
}

/**
 * The canvas command for a key that was pressed elsewhere in the editor, except in text fields. Buttons and links keep
 * their own keys.
 */
export function drawingCommandFromAfar(event: KeyboardEvent): KeyCommand | null {
  if (event.key === "Tab" || event.key === "Enter") return null;
  return commandFor(event, "drawing");
}

/** Compares the character, since keys such as `\` have other positions on other keyboards. */
function isPressed(event: KeyboardEvent, keys: string): boolean {
  const parts = keys.split("+");
  const key = parts.at(-1) ?? "";
  const wants = (name: string) => parts.includes(name);
  return (
    event.key.toLowerCase() === key.toLowerCase() &&
    (event.ctrlKey || event.metaKey) === wants("mod") &&
    event.altKey === wants("alt") &&
    event.shiftKey === wants("shift")
  );
}

/** The keys of connect mode, which come before all others. True: the key was taken. */
export function pressInConnectMode(event: KeyboardEvent, commands: EditorCommands, ui: UiStore): boolean {
  if (!ui.getState().connect) return false;
  switch (event.key) {
    case "ArrowRight":
    case "ArrowDown":
      commands.aimNext(1);
      break;
    case "ArrowLeft":
    case "ArrowUp":
      commands.aimNext(-1);
      break;
    case "Tab":
    case "c":
      commands.aimFromNextPort();
      break;
    case "Enter":
    case " ":
      commands.endConnecting(true);
      break;
    case "Escape":
      commands.endConnecting(false);
      break;
    default:
      return false;
  }
  return true;
}

/** Space takes the node under the keyboard into the selection; arrows go from a connection to its ends. */
export function pressOnSelection(
  event: KeyboardEvent,
  target: EventTarget,
  commands: EditorCommands,
): boolean {
  const way = directionOf.get(event.key);
  const isPlain = !event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (way && isPlain) return commands.leaveEdge(way);
  const id = target instanceof HTMLElement ? target.dataset.node : undefined;
  // The card of a collapsed group isn't a node: its keys open it.
  if (id !== undefined && isPlain && ["Enter", " "].includes(event.key) && commands.isGroup(id)) {
    commands.foldGroup(id);
    return true;
  }
  if (event.key !== " " || id === undefined || !isPlain) return false;
  commands.toggle(id);
  return true;
}
