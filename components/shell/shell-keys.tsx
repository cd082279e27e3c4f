"use client";

import dynamic from "next/dynamic";
import { useEffect } from "react";
import { openHelp, openPalette, useOpenDialog } from "@/components/page/page-commands";
import { isTyping } from "@/components/page/typing";

const CommandPalette = dynamic(() => import("./command-palette").then((m) => m.CommandPalette), {
  ssr: false,
});
const KeyboardHelp = dynamic(() => import("./keyboard-help").then((m) => m.KeyboardHelp), { ssr: false });

/** Handles global shortcuts, and renders the dialogs that they open. */
export function ShellKeys() {
  const open = useOpenDialog();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      if (
        (event.ctrlKey || event.metaKey) &&
        !event.shiftKey &&
        !event.altKey &&
        event.key.toLowerCase() === "k"
      ) {
        event.preventDefault();
        openPalette();
      } else if (event.key === "?" && !isTyping(event.target)) {
        event.preventDefault();
        openHelp();
      }
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
  return (
    <>
      {open === "palette" ? <CommandPalette /> : null}
      {open === "help" ? <KeyboardHelp /> : null}
    </>
  );
}
