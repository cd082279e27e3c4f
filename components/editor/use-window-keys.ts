import { useEffect, useRef } from "react";
import { isInDialog } from "@/components/canvas/hits";
import { isTyping } from "@/components/page/typing";
import type { EditorCommands } from "./commands";
import { commandFor, drawingCommandFromAfar, pressInConnectMode } from "./keys";
import { type UiStore, useUiStore } from "./ui-store";

/** Keys that work wherever the focus is, as long as nothing is being written. */
export function useWindowKeys({ onRun }: { onRun: () => void }, commands: EditorCommands) {
  const ui = useUiStore();
  const run = useRef(onRun);
  useEffect(() => {
    run.current = onRun;
  }, [onRun]);
  useEffect(() => {
    // An untouched text field has nothing to undo, so undo means the workflow.
    let untouched: { field: EventTarget | null; value: string } = { field: null, value: "" };
    const onFocus = ({ target }: FocusEvent) => {
      untouched = { field: target, value: textIn(target) };
    };
    const isUntouched = (target: EventTarget | null) =>
      target === untouched.field && textIn(target) === untouched.value;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isInDialog(event.target)) return;
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        run.current();
        return;
      }
      if (!isTyping(event.target) && pressFromAfar(event, commands, ui)) return event.preventDefault();
      const command = commandFor(event, "editor");
      if (!command) return;
      const isHistory = command.id === "undo" || command.id === "redo";
      const isAllowed =
        command.id === "save" || command.id === "find" || (isHistory && isUntouched(event.target));
      if (isTyping(event.target) && !isAllowed) return;
      event.preventDefault();
      command.run(commands, event);
    };
    window.addEventListener("keydown", onKeyDown);
    window.addEventListener("focusin", onFocus);
    return () => {
      window.removeEventListener("keydown", onKeyDown);
      window.removeEventListener("focusin", onFocus);
    };
  }, [commands, ui]);
}

/** Canvas keys pressed elsewhere, such as on a button. True: the key was handled. */
function pressFromAfar(event: KeyboardEvent, commands: EditorCommands, ui: UiStore): boolean {
  if (pressInConnectMode(event, commands, ui)) return true;
  const command = drawingCommandFromAfar(event);
  if (command) command.run(commands, event);
  // Tabs and sliders use the arrow keys; without a focused element they go to the canvas.
  const isFree =
    event.target === document.body ||
    (event.target instanceof Element && ["main", "drawing"].includes(event.target.id));
  if (!command && isFree && event.key.startsWith("Arrow") && !event.altKey) {
    const [picked] = commands.pickedNodes();
    if (picked) commands.focus(picked);
    else commands.view.focusDrawing();
    return true;
  }
  return command !== null;
}

const textIn = (target: EventTarget | null) =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement ? target.value : "";
