"use client";

import {
  Copy,
  Download,
  FlaskConical,
  FolderOpen,
  History,
  PencilLine,
  Play,
  Trash2,
  Workflow,
} from "lucide-react";
import Link from "next/link";
import { useRef, useState } from "react";
import { SketchPicture } from "@/components/display/sketch-picture";
import { type Status, StatusMark } from "@/components/display/status-mark";
import { ASKS_TO_RUN, type WorkflowActions } from "@/components/import-export/workflow-actions";
import type { Answers } from "@/components/trpc";
import { ButtonLink } from "@/components/ui/button";
import { MoreMenu } from "@/components/ui/overlay/more-menu";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { TimeText } from "@/components/ui/time-text";

export type WorkflowListed = Answers["workflows"]["list"][number];

const EXPORTS = [
  { format: "included", label: "Workflow file", hint: "JSON, including the roles it uses" },
  { format: "referenced", label: "Workflow without roles", hint: "JSON that references roles by name" },
  { format: "yaml", label: "Workflow as YAML", hint: "Including the roles it uses" },
  { format: "openhands", label: "OpenHands WorkflowGraph", hint: "JSON in OpenHands format" },
] as const;

/** A workflow in the list: its sketch, name and last run. */
export function WorkflowRow({
  workflow,
  usedBy,
  actions,
}: {
  workflow: WorkflowListed;
  /** The workflows that run it. */
  usedBy: readonly { id: string; name: string }[];
  actions: WorkflowActions;
}) {
  const { id, name, description, node_count, sketch, updated_at, last_run } = workflow;
  const [renaming, setRenaming] = useState(false);
  const link = useRef<HTMLAnchorElement>(null);
  return (
    <li className="group/row relative grid grid-cols-[4.5rem_1fr_auto] items-center gap-x-4 gap-y-1 px-3 py-3 transition-colors hover:bg-ink/2.5 sm:grid-cols-[7rem_minmax(0,1fr)_11rem_auto] lg:grid-cols-[7rem_minmax(0,1fr)_11rem_5rem_7rem_auto]">
      <SketchPicture sketch={sketch} className="h-12 w-full rounded-md border border-line sm:h-16" />
      <div className="min-w-0">
        {renaming ? (
          <RenameField
            name={name}
            onDone={(next) => {
              setRenaming(false);
              if (next && next !== name) void actions.rename(id, next);
              requestAnimationFrame(() => link.current?.focus());
            }}
          />
        ) : (
          <Link
            ref={link}
            href={`/workflows/${id}`}
            onKeyDown={(event) => {
              if (event.key === "F2") setRenaming(true);
            }}
            // The whole row opens the workflow; its buttons are above the link.
            className="block truncate rounded-md text-[15px] font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:rounded-lg focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus"
          >
            {name}
          </Link>
        )}
        {description && description !== name ? (
          <p className="truncate text-[13px] text-ink-2">{description}</p>
        ) : null}
        <p className="mt-0.5 flex items-center gap-2 text-[13px] text-ink-3 sm:hidden">
          {last_run ? <RunStatus run={last_run} /> : `${count(node_count)}, never run`}
        </p>
      </div>
      <div className="hidden text-[13px] sm:block">
        {last_run ? (
          <Link
            href={`/workflows/${id}/runs/${last_run.id}`}
            className="relative z-10 inline-flex flex-col rounded-md hover:underline hover:underline-offset-2"
          >
            <span className="text-xs text-ink-3">
              Last run <span className="sr-only">of {name}: </span>
            </span>
            <RunStatus run={last_run} />
          </Link>
        ) : (
          <span className="text-ink-3">Never run</span>
        )}
      </div>
      <span className="hidden text-[13px] text-ink-2 lg:block">{count(node_count)}</span>
      <span className="hidden text-[13px] text-ink-2 lg:block">
        <span className="block text-xs text-ink-3">Edited</span>
        <TimeText at={updated_at} />
      </span>
      <div className="relative z-10 flex items-center gap-1">
        <ButtonLink
          size="sm"
          href={`/workflows/${id}${ASKS_TO_RUN}`}
          icon={<Play aria-hidden />}
          aria-label={`Run ${name}`}
          className="max-sm:hidden"
        >
          Run
        </ButtonLink>
        <RowMenu workflow={workflow} usedBy={usedBy} actions={actions} onRename={() => setRenaming(true)} />
      </div>
    </li>
  );
}

function RowMenu({
  workflow: { id, name },
  usedBy,
  actions,
  onRename,
}: {
  workflow: WorkflowListed;
  usedBy: readonly { id: string; name: string }[];
  actions: WorkflowActions;
  onRename: () => void;
}) {
  return (
    <MoreMenu
      label={`Actions for ${name}`}
      items={[
        { label: "Open", icon: <FolderOpen />, href: `/workflows/${id}` },
        { label: "Runs", icon: <History />, href: `/workflows/${id}/runs` },
        { label: "Tests", icon: <FlaskConical />, href: `/workflows/${id}/tests` },
        { label: "Rename", icon: <PencilLine />, shortcut: "F2", onSelect: onRename },
        { label: "Duplicate", icon: <Copy />, onSelect: () => void actions.duplicate(id, name) },
        ...(usedBy.length === 0
          ? []
          : [
              "separator" as const,
              { heading: "Used by" },
              ...usedBy.map((user) => ({
                label: user.name,
                icon: <Workflow />,
                href: `/workflows/${user.id}`,
              })),
            ]),
        "separator",
        { heading: "Export" },
        ...EXPORTS.map(({ format, ...entry }) => ({
          ...entry,
          icon: <Download />,
          onSelect: () => void actions.exportFile(id, format),
        })),
        "separator",
        {
          label: "Delete",
          icon: <Trash2 />,
          danger: true,
          onSelect: () => void actions.remove(id, name),
        },
      ]}
    />
  );
}

const count = (nodes: number) => `${nodes} ${nodes === 1 ? "node" : "nodes"}`;

function RunStatus({ run }: { run: NonNullable<WorkflowListed["last_run"]> }) {
  const status: Status = run.status === "finished" ? (run.final_status ?? "finished") : run.status;
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
      <StatusMark status={status} withWord size="sm" />
      <TimeText at={run.finished_at ?? run.started_at ?? run.created_at} className="text-xs text-ink-3" />
      {run.simulated ? <SimulatedBadge /> : null}
    </span>
  );
}

/** Enter and blur keep the new name, Escape keeps the old one. */
function RenameField({ name, onDone }: { name: string; onDone: (name: string | null) => void }) {
  const [value, setValue] = useState(name);
  const done = useRef(false);
  const finish = (next: string | null) => {
    if (done.current) return;
    done.current = true;
    onDone(next?.trim() || null);
  };
  return (
    <input
      // biome-ignore lint/a11y/noAutofocus: the person asked to write here
      autoFocus
      aria-label={`New name for ${name}`}
      value={value}
      maxLength={200}
      onFocus={(event) => event.target.select()}
      onChange={(event) => setValue(event.target.value)}
      onBlur={() => finish(value)}
      onKeyDown={(event) => {
        if (event.key === "Enter") finish(value);
        if (event.key === "Escape") finish(null);
      }}
      className="control relative z-10 h-8 px-2 text-[15px] font-medium"
    />
  );
}
