import { useEffect } from "react";
import { isInDialog } from "@/components/canvas/hits";
import { isTyping } from "@/components/page/typing";
import type { EditorCommands } from "../commands";

/** Uses clipboard events: they also work on plain HTTP, where `navigator.clipboard` doesn't exist. */
export function useClipboard(commands: EditorCommands) {
  useEffect(() => {
    const isOurs = (event: ClipboardEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      const isTextPicked = (document.getSelection()?.toString() ?? "") !== "";
      return (
        !isTyping(event.target) &&
        !isInDialog(event.target) &&
        !isTextPicked &&
        !!(
          target === document.body || target?.closest(".graph-canvas, .editor-side, .editor-inspector, main")
        )
      );
    };
    const onCopy = (event: ClipboardEvent) => {
      if (isOurs(event) && event.clipboardData && commands.copy(event.clipboardData)) event.preventDefault();
    };
    const onCut = (event: ClipboardEvent) => {
      if (!isOurs(event) || !event.clipboardData || !commands.copy(event.clipboardData)) return;
      event.preventDefault();
      commands.remove();
    };
    const onPaste = (event: ClipboardEvent) => {
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (isTyping(event.target) || isInDialog(event.target) || !text) return;
      if (commands.paste(text)) event.preventDefault();
    };
    document.addEventListener("copy", onCopy);
    document.addEventListener("cut", onCut);
    document.addEventListener("paste", onPaste);
    return () => {
      document.removeEventListener("copy", onCopy);
      document.removeEventListener("cut", onCut);
      document.removeEventListener("paste", onPaste);
    };
  }, [commands]);
}
