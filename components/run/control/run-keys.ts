/** What a key does while a run is watched; keys, help and palette come from this list. */
export interface RunKey {
  id: "pause" | "resume" | "step_node" | "step_turn" | "run_to" | "breakpoint" | "breakpoints" | "instruct";
  label: string;
  /** As `Kbd` takes it. */
  keys: string;
  /** When it does something; at other times the browser has the key. */
  when: "running" | "paused" | "active";
}

export const runKeys: readonly RunKey[] = [
  { id: "pause", label: "Pause run", keys: "P", when: "running" },
  { id: "resume", label: "Resume run", keys: "F5", when: "paused" },
  { id: "step_node", label: "Step to next node", keys: "F10", when: "paused" },
  { id: "step_turn", label: "Step to next turn", keys: "F11", when: "paused" },
  { id: "run_to", label: "Run to selected node", keys: "shift+F10", when: "paused" },
  {
    id: "breakpoint",
    label: "Toggle breakpoint",
    keys: "F9",
    when: "active",
  },
  { id: "breakpoints", label: "Breakpoints", keys: "shift+F9", when: "active" },
  { id: "instruct", label: "Message agents", keys: "I", when: "active" },
];

/** The command of a key in the current state of the run; null if it has none. */
export function runKeyFor(
  event: KeyboardEvent,
  standing: { isActive: boolean; isPaused: boolean },
): RunKey | null {
  if (event.ctrlKey || event.metaKey || event.altKey || !standing.isActive) return null;
  return (
    runKeys.find(({ keys, when }) => {
      const key = keys.split("+").at(-1) ?? "";
      const isPressed =
        event.key.toLowerCase() === key.toLowerCase() && event.shiftKey === keys.startsWith("shift+");
      return isPressed && (when === "active" || (when === "paused") === standing.isPaused);
    }) ?? null
  );
}
