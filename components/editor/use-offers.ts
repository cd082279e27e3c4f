import { useMemo, useState } from "react";
import { type ShellCommand, useHelpSection, useShellCommands } from "@/components/page/page-commands";
import { listOf, textsOf } from "@/server/domain/base/guards";
import type { EditorCommands } from "./commands";
import { useEditor } from "./editing/editor-store";
import { keyCommands, moreKeys } from "./keys";

/** The same list feeds the keys, the help and the command palette. */
export function useOffers(commands: EditorCommands, onRun: () => void, onTests: (asked: string) => void) {
  const [offers] = useState((): ShellCommand[] => [
    { id: "run", label: "Run workflow", section: "This workflow", shortcut: "mod+Enter", run: onRun },
    {
      id: "workflow settings",
      label: "Workflow settings",
      section: "This workflow",
      keywords: "limits state budget",
      run: commands.openWorkflowSettings,
    },
    {
      id: "workflow tests",
      label: "Workflow tests",
      section: "This workflow",
      keywords: "scenario expectations",
      run: () => onTests(""),
    },
    {
      id: "run workflow tests",
      label: "Run workflow tests",
      section: "This workflow",
      keywords: "scenario check",
      run: () => onTests("?run"),
    },
    ...keyCommands
      .filter(({ isKeyOnly }) => !isKeyOnly)
      .map(({ id, label, keys, run }) => ({
        id: `editor ${id}`,
        label,
        section: "This workflow",
        shortcut: keys.split(" ")[0] ?? "",
        run: () => run(commands),
      })),
  ]);
  const [help] = useState(() => ({
    title: "Canvas",
    shortcuts: [
      ...moreKeys,
      ...keyCommands.map(({ label, keys }) => ({ label, keys: keys.split(" ").slice(0, 2).join(" ") })),
    ],
  }));
  useShellCommands("editor", offers);
  useShellCommands("drawing", useNodeOffers(commands));
  useHelpSection(help);
}

/** The nodes of this workflow, by name. */
function useNodeOffers(commands: EditorCommands): readonly ShellCommand[] {
  // As one text, which is the same as long as no name changes.
  const names = useEditor(({ doc }) =>
    JSON.stringify(Object.values(doc.graph.nodes).map(({ id, name, node_type }) => [id, name || node_type])),
  );
  return useMemo(
    () =>
      listOf(JSON.parse(names))
        .map(textsOf)
        .map(([id = "", name = id]) => ({
          id: `node ${id}`,
          label: name,
          section: "In this workflow",
          keywords: id,
          run: () => commands.showNode(id),
        })),
    [names, commands],
  );
}
