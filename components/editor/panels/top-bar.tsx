"use client";

import clsx from "clsx";
import {
  Check,
  ChevronRight,
  CircleAlert,
  CircleDashed,
  CircleDot,
  CloudOff,
  Copy,
  FileDown,
  FileUp,
  FlaskConical,
  GitCommitVertical,
  History,
  PanelLeft,
  Redo2,
  SlidersHorizontal,
  Trash2,
  TriangleAlert,
  Undo2,
  Waypoints,
} from "lucide-react";
import { useRouter, useSearchParams } from "next/navigation";
import { type KeyboardEvent, type ReactNode, useContext, useState } from "react";
import { ExportLosses } from "@/components/import-export/export-losses";
import { RemoveUsed } from "@/components/import-export/remove-used";
import { type ExportKind, useWorkflowActions } from "@/components/import-export/workflow-actions";
import { usePageTitle } from "@/components/page/page-title";
import { RunLauncher } from "@/components/run/start/run-launcher";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { MoreMenu } from "@/components/ui/overlay/more-menu";
import { PageLink } from "@/components/ui/page-link";
import { Spinner } from "@/components/ui/spinner";
import { Toolbar } from "@/components/ui/toolbar";
import { useMedia } from "@/components/ui/use-media";
import { useEditorCommands } from "../commands";
import { useEditor, useEditorStore } from "../editing/editor-store";
import { BreakpointCount } from "../inspector/editor-breakpoints";
import { useUi, useUiStore } from "../ui-store";
import { ProblemsContext } from "../use-problems";
import { PublishButton } from "../versions/publish-button";

export interface TopBarProps {
  flush: () => Promise<boolean>;
  isLaunching: boolean;
  onLaunchingChange: (open: boolean) => void;
  onImport: () => void;
}

/** The top bar: name, save status, actions and Run. */
export function TopBar({ flush, isLaunching, onLaunchingChange, onImport }: TopBarProps) {
  const id = useEditor((state) => state.id);
  const { name, graph } = useEditor(({ doc }) => doc);
  usePageTitle(name);
  const commands = useEditorCommands();
  const isSideOpen = useUi((ui) => ui.side !== null);
  const runTo = useUi((ui) => ui.runTo);
  const ui = useUiStore();
  const asksToRun = useSearchParams().has("run");
  return (
    <header className="flex h-13 shrink-0 items-center gap-1 border-b border-line bg-bg px-2 sm:px-3">
      <IconButton
        label={isSideOpen ? "Hide panel" : "Add nodes"}
        icon={withWord(<PanelLeft aria-hidden />, isSideOpen ? "Hide" : "Add")}
        className={WORDY}
        aria-expanded={isSideOpen}
        onClick={() => ui.setState({ side: isSideOpen ? null : "add" })}
      />
      <nav aria-label="Breadcrumb" className="flex min-w-0 items-center gap-1 max-sm:flex-1">
        <PageLink
          href="/"
          className="rounded-md px-1.5 py-1 text-[13px] text-ink-2 hover:text-ink max-md:hidden"
        >
          Workflows
        </PageLink>
        <ChevronRight aria-hidden className="size-3.5 shrink-0 text-ink-3 max-md:hidden" />
        <Name name={name} />
      </nav>
      <SaveMark flush={flush} />
      <div className="flex-1 max-sm:hidden" />
      <Toolbar label="Editor toolbar" className="flex items-center gap-1">
        <UndoRedo />
        <IconButton
          label="Auto-layout"
          shortcut="Shift L"
          icon={withWord(<Waypoints aria-hidden />, "Auto-layout")}
          onClick={() => void commands.tidy()}
          className={clsx("max-sm:hidden", WORDY)}
        />
        <BreakpointCount />
        <ProblemMark />
        <IconButton
          label="Workflow settings"
          icon={withWord(<SlidersHorizontal aria-hidden />, "Settings")}
          onClick={commands.openWorkflowSettings}
          className={clsx("max-sm:hidden", WORDY)}
        />
        <More id={id} name={name} flush={flush} onImport={onImport} />
      </Toolbar>
      <span className="ml-1.5 flex gap-1.5">
        <PublishButton flush={flush} />
        <RunLauncher
          workflowId={id}
          name={name}
          graph={graph}
          beforeStart={flush}
          isTrial
          runTo={runTo}
          suggestsInput={asksToRun}
          open={isLaunching || runTo !== null}
          onOpenChange={(isOpen) => {
            if (!isOpen) ui.setState({ runTo: null });
            onLaunchingChange(isOpen);
          }}
          onShowProblem={commands.goTo}
        />
      </span>
    </header>
  );
}

/** If there is room, icons have text labels: a newcomer can't know all icons. */
const WORDY = "xl:w-auto xl:gap-1.5 xl:px-2 xl:text-[13px]";
const withWord = (icon: ReactNode, word: string) => (
  <>
    {icon}
    <span className="max-xl:hidden">{word}</span>
  </>
);

/** The name, edited in place. */
function Name({ name }: { name: string }) {
  const store = useEditorStore();
  const [draft, setDraft] = useState<string | null>(null);
  const commit = () => {
    if (draft?.trim()) store.getState().rename(draft.trim());
    setDraft(null);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Enter") event.currentTarget.blur();
    if (event.key === "Escape") {
      setDraft(null);
      // The change above must come first, or leaving the field would save it.
      const field = event.currentTarget;
      requestAnimationFrame(() => field.blur());
    }
  };
  return (
    <h1 className="min-w-0 sm:max-w-[min(24rem,36vw)]">
      <input
        aria-label="Workflow name"
        value={draft ?? name}
        maxLength={200}
        spellCheck={false}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={commit}
        onKeyDown={onKeyDown}
        className="field-sizing-content h-8 max-w-full min-w-12 truncate rounded-lg border border-transparent bg-transparent px-1.5 text-sm font-semibold hover:border-line focus:border-focus focus:bg-surface focus:outline-none"
      />
    </h1>
  );
}

function SaveMark({ flush }: { flush: () => Promise<boolean> }) {
  const save = useEditor((state) => state.save);
  // On phones the name has the space: only errors take some.
  const isQuiet = ["clean", "saved", "dirty", "saving"].includes(save.state);
  const statusClass = clsx(
    "flex items-center gap-1.5 whitespace-nowrap text-xs text-ink-3 sm:px-1.5",
    isQuiet ? "max-sm:absolute" : "px-1.5",
  );
  return (
    <span role="status" aria-live="polite" className={statusClass} data-save={save.state}>
      {save.state === "clean" || save.state === "saved" ? (
        <>
          <Check aria-hidden className="size-3.5 max-sm:hidden" />{" "}
          <span className="max-sm:sr-only">Saved</span>
        </>
      ) : save.state === "dirty" ? (
        <span className="max-sm:sr-only">Unsaved</span>
      ) : save.state === "saving" ? (
        <>
          <span className="max-sm:hidden">
            <Spinner size={12} />
          </span>{" "}
          <span className="max-sm:sr-only">Saving…</span>
        </>
      ) : save.state === "conflict" ? (
        <>
          <TriangleAlert aria-hidden className="size-3.5 text-waiting" />
          <span className="max-sm:sr-only">Edited elsewhere</span>
        </>
      ) : (
        <>
          <CloudOff aria-hidden className="size-3.5 text-failed" />
          <span title={save.reason} className="text-ink max-sm:sr-only">
            Save failed
          </span>
          <Button size="sm" variant="ghost" title={save.reason} onClick={() => void flush()}>
            Try again
          </Button>
        </>
      )}
    </span>
  );
}

function UndoRedo() {
  const past = useEditor(({ history }) => history.past.at(-1)?.label);
  const future = useEditor(({ history }) => history.future[0]?.label);
  const commands = useEditorCommands();
  return (
    <>
      <IconButton
        label={past ? `Undo: ${past}` : "Undo"}
        shortcut="Ctrl Z"
        icon={<Undo2 aria-hidden />}
        disabled={!past}
        onClick={commands.undo}
        className={past ? "" : "max-sm:hidden"}
      />
      <IconButton
        label={future ? `Redo: ${future}` : "Redo"}
        shortcut="Ctrl Shift Z"
        icon={<Redo2 aria-hidden />}
        disabled={!future}
        onClick={commands.redo}
        className={future ? "" : "max-sm:hidden"}
      />
    </>
  );
}

function ProblemMark() {
  const problems = useContext(ProblemsContext);
  const ui = useUiStore();
  if (problems.length === 0) return null;
  const wrong = problems.filter(({ isToDo }) => !isToDo);
  const errors = wrong.filter(({ severity }) => severity === "error").length;
  const toDo = problems.length - wrong.length;
  const parts = [
    errors > 0
      ? `${errors} ${errors === 1 ? "problem prevents" : "problems prevent"} this workflow from running`
      : "",
    wrong.length > errors ? count(wrong.length - errors, "warning") : "",
    toDo > 0 ? count(toDo, "to-do item") : "",
  ];
  const label = parts.filter(Boolean).join(", ");
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={() => ui.setState({ side: "problems" })}
      className="flex h-8 items-center gap-1.5 rounded-lg px-2 text-[13px] font-semibold tabular-nums hover:bg-ink/6"
    >
      {errors > 0 ? (
        <CircleAlert aria-hidden className="size-4 text-failed" />
      ) : wrong.length > 0 ? (
        <TriangleAlert aria-hidden className="size-4 text-waiting" />
      ) : (
        <CircleDashed aria-hidden className="size-4 text-ink-3" />
      )}
      {wrong.length || toDo}
      <span className="font-normal max-xl:hidden">
        {wrong.length > 0 ? plural(wrong.length, errors > 0 ? "problem" : "warning") : "to do"}
      </span>
    </button>
  );
}

const plural = (number: number, word: string) => `${word}${number === 1 ? "" : "s"}`;
const count = (number: number, word: string) => `${number} ${plural(number, word)}`;

/** So narrow that the bar keeps its room for the name (Tailwind's `sm` begins above). */
const PHONE = "(max-width: 39.99rem)";

function More({
  id,
  name,
  flush,
  onImport,
}: {
  id: string;
  name: string;
  flush: () => Promise<boolean>;
  onImport: () => void;
}) {
  const actions = useWorkflowActions();
  const commands = useEditorCommands();
  const router = useRouter();
  const isPhone = useMedia(PHONE);
  const ui = useUiStore();
  // Export what is on the canvas, not what was last saved.
  const exportAs = (kind: ExportKind) => async () => {
    if (await flush()) await actions.exportFile(id, kind);
  };
  return (
    <>
      <MoreMenu
        label="More"
        plain={false}
        items={[
          ...(isPhone
            ? [
                {
                  label: "Workflow settings",
                  icon: <SlidersHorizontal />,
                  onSelect: commands.openWorkflowSettings,
                },
              ]
            : []),
          { label: "Workflow runs", icon: <History />, href: `/workflows/${id}/runs` },
          {
            label: "Versions",
            icon: <GitCommitVertical />,
            onSelect: () => ui.setState({ isVersionsOpen: true }),
          },
          { label: "Workflow tests", icon: <FlaskConical />, href: `/workflows/${id}/tests` },
          {
            label: "Breakpoints",
            icon: <CircleDot />,
            shortcut: "Shift F9",
            onSelect: commands.openBreakpoints,
          },
          "separator",
          { heading: "Export" },
          { label: "JSON with roles", icon: <FileDown />, onSelect: () => void exportAs("included")() },
          { label: "JSON without roles", icon: <FileDown />, onSelect: () => void exportAs("referenced")() },
          { label: "YAML", icon: <FileDown />, onSelect: () => void exportAs("yaml")() },
          { label: "OpenHands", icon: <FileDown />, onSelect: () => void exportAs("openhands")() },
          "separator",
          { label: "Import workflow…", icon: <FileUp />, onSelect: onImport },
          {
            label: "Duplicate workflow",
            icon: <Copy />,
            onSelect: () => void flush().then(() => actions.duplicate(id, name)),
          },
          {
            label: "Delete workflow",
            icon: <Trash2 />,
            danger: true,
            onSelect: () => void actions.remove(id, name, () => router.push("/")),
          },
        ]}
      />
      <ExportLosses actions={actions} />
      <RemoveUsed actions={actions} />
    </>
  );
}
