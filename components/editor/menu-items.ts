import type { MenuEntry } from "@/components/ui/overlay/menu";
import type { EditorCommands } from "./commands";
import type { EditorUi } from "./ui-store";

/** What the menu at the pointer offers; all of it can be reached by key or panel too. */
export function menuItems(menu: EditorUi["menu"], commands: EditorCommands): MenuEntry[] {
  switch (menu?.target.kind) {
    case "node":
      return [
        { label: "Settings", shortcut: "Enter", onSelect: commands.openInspector },
        { label: "Rename", shortcut: "F2", onSelect: commands.rename },
        ...(commands.canTryOut()
          ? [
              { label: "Try this node", shortcut: "Shift Enter", onSelect: () => commands.tryNode() },
              { label: "Try with other inputs…", onSelect: commands.runNode },
              { label: "Run to here", shortcut: "Shift F10", onSelect: commands.runToHere },
              ...(commands.hasResult() ? [{ label: "Clear result", onSelect: commands.forgetResult }] : []),
              {
                label: commands.isPinned() ? "Edit pinned output…" : "Pin output…",
                shortcut: "P",
                onSelect: commands.pinOutput,
              },
              ...(commands.isPinned() ? [{ label: "Unpin", onSelect: commands.unpin }] : []),
            ]
          : []),
        { label: "Connect from here", shortcut: "C", onSelect: commands.startConnecting },
        { label: "Add node after", shortcut: "N", onSelect: () => commands.openPicker() },
        ...(commands.pickedCrew() === null
          ? []
          : [{ label: "Expand into nodes…", shortcut: "U", onSelect: commands.unfold }]),
        {
          label: commands.hasBreakpoint() ? "Remove breakpoint" : "Add breakpoint",
          shortcut: "F9",
          onSelect: commands.toggleBreakpoint,
        },
        { label: "Conditional breakpoint…", onSelect: commands.editBreakpoint },
        { label: "Group", shortcut: "Ctrl G", onSelect: commands.group },
        { label: "Extract to workflow…", shortcut: "X", onSelect: commands.extract },
        ...(commands.pickedGroup() === null
          ? []
          : [
              { label: "Collapse or expand group", shortcut: "G", onSelect: () => commands.foldGroup() },
              { label: "Ungroup", shortcut: "Ctrl Shift G", onSelect: commands.ungroup },
            ]),
        "separator",
        { label: "Duplicate", shortcut: "Ctrl D", onSelect: commands.duplicate },
        { label: "Delete and reconnect", shortcut: "Ctrl Del", onSelect: commands.removeAndReconnect },
        { label: "Delete", shortcut: "Del", danger: true, onSelect: commands.remove },
      ];
    case "edge": {
      const { id } = menu.target;
      return [
        { label: "Settings", shortcut: "Enter", onSelect: commands.openInspector },
        {
          label: "Insert node",
          shortcut: "N",
          onSelect: () => id !== undefined && commands.openPicker({ onEdge: id, client: menu.at.client }),
        },
        {
          label: commands.hasBreakpoint() ? "Remove breakpoint" : "Add breakpoint",
          shortcut: "F9",
          onSelect: commands.toggleBreakpoint,
        },
        "separator",
        { label: "Delete", shortcut: "Del", danger: true, onSelect: commands.remove },
      ];
    }
    default:
      return [
        {
          label: "Add node here",
          shortcut: "N",
          onSelect: () => (menu ? commands.editing.onAddAt(menu.at) : commands.openPicker()),
        },
        { label: "Select all", shortcut: "Ctrl A", onSelect: commands.selectAll },
        { label: "Auto-layout", shortcut: "Shift L", onSelect: () => void commands.tidy() },
        { label: "Zoom to fit", shortcut: "1", onSelect: () => commands.view.fit() },
      ];
  }
}
