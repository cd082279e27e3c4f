"use client";

import { useEffect } from "react";
import { create } from "zustand";
import { withoutKey } from "@/server/domain/base/objects";

/** A command of the command palette. */
export interface ShellCommand {
  id: string;
  label: string;
  /** Its heading, such as "This workflow". */
  section: string;
  /** As `Kbd` takes it: "mod+shift+z". */
  shortcut?: string;
  keywords?: string;
  run: () => void;
}

/** A section of the keyboard help. */
export interface HelpSection {
  title: string;
  shortcuts: readonly { keys: string; label: string }[];
}

interface Shell {
  commands: Record<string, readonly ShellCommand[]>;
  help: Record<string, HelpSection>;
  open: "palette" | "help" | null;
}

const useShell = create<Shell>(() => ({ commands: {}, help: {}, open: null }));

export const useOpenDialog = () => useShell((shell) => shell.open);
export const useAllCommands = () => useShell((shell) => shell.commands);
export const useAllHelp = () => useShell((shell) => shell.help);

export const openPalette = () => useShell.setState({ open: "palette" });
export const openHelp = () => useShell.setState({ open: "help" });
export const closeShellDialog = () => useShell.setState({ open: null });

/** Offers commands in the palette while the component is on the page. Keep the array's identity stable. */
export function useShellCommands(owner: string, commands: readonly ShellCommand[]) {
  useEffect(() => {
    useShell.setState((shell) => ({ commands: { ...shell.commands, [owner]: commands } }));
    return () => useShell.setState((shell) => ({ commands: withoutKey(shell.commands, owner) }));
  }, [owner, commands]);
}

/** Adds a part to the keyboard help while the component is on the page. Keep the object's identity stable. */
export function useHelpSection(section: HelpSection) {
  useEffect(() => {
    useShell.setState((shell) => ({ help: { ...shell.help, [section.title]: section } }));
    return () => useShell.setState((shell) => ({ help: withoutKey(shell.help, section.title) }));
  }, [section]);
}
