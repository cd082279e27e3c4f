"use client";

import {
  Ban,
  CirclePause,
  CirclePlay,
  FastForward,
  Footprints,
  MessageSquarePlus,
  Pause,
  StepForward,
} from "lucide-react";
import dynamic from "next/dynamic";
import type { ReactElement } from "react";
import { BreakpointSign } from "@/components/canvas/breakpoint-dot";
import { useRun, useRunList } from "@/components/run/run-context";
import { Button } from "@/components/ui/button";
import { Menu, type MenuEntry } from "@/components/ui/overlay/menu";
import { MoreMenu } from "@/components/ui/overlay/more-menu";
import { NARROW, useMedia } from "@/components/ui/use-media";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { isExecutable } from "@/server/domain/nodes";
import { instructForm } from "./command-forms";
import { useBreakpointCount, useControlling } from "./run-control-context";
import { useIsActive, usePaused } from "./use-control";

const CommandDialog = dynamic(() => import("./command-dialog").then((m) => m.CommandDialog), { ssr: false });

type Control = NonNullable<ReturnType<typeof useControlling>>;

/** Pause; while paused, resume or step. Nothing once the run is over. */
export function RunControls({ isHeld }: { isHeld: boolean }) {
  const control = useControlling();
  const isActive = useIsActive();
  return control && isActive && !isHeld ? <Controls control={control} /> : null;
}

interface Action {
  label: string;
  shortcut: string;
  icon: ReactElement;
  disabled?: boolean;
  onSelect: () => void;
}

function Controls({ control }: { control: Control }) {
  const isPaused = usePaused() !== null;
  const isNarrow = useMedia(NARROW);
  const count = useBreakpointCount(control.breakpoints);
  const graph = useRun<WorkflowGraph | null>(({ head }) => head.graph, null);
  const { isBusy: disabled, isListOpen, isInstructing } = control;
  const steps: Action[] = [
    {
      label: "Next node",
      shortcut: "F10",
      icon: <StepForward />,
      disabled,
      onSelect: () => control.step("node"),
    },
    {
      label: "Next turn",
      shortcut: "F11",
      icon: <Footprints />,
      disabled,
      onSelect: () => control.step("turn"),
    },
  ];
  const others: Action[] = [
    {
      label: "Message agents",
      shortcut: "I",
      icon: <MessageSquarePlus />,
      onSelect: () => control.setInstructing(true),
    },
    {
      label: count === 0 ? "Breakpoints" : `Breakpoints (${count})`,
      shortcut: "Shift F9",
      icon: <BreakpointSign variant={count === 0 ? "disabled" : "plain"} />,
      onSelect: () => control.setListOpen(!isListOpen),
    },
  ];
  const button = (action: Action) => <ActionButton key={action.label} action={action} isWide={isPaused} />;
  return (
    <div role="toolbar" aria-label="Run controls" className="flex flex-wrap items-center gap-1.5">
      {isPaused ? (
        <>
          <Button
            variant="primary"
            icon={<CirclePlay />}
            pending={disabled}
            title="Resume (F5)"
            onClick={control.resume}
          >
            Resume
          </Button>
          {(isNarrow ? steps.slice(0, 1) : steps).map(button)}
          {isNarrow ? null : <RunToMenu control={control} />}
        </>
      ) : (
        <PauseMenu control={control} />
      )}
      {isNarrow ? (
        <MoreMenu
          label="More controls"
          plain={false}
          items={[
            ...(isPaused ? steps.slice(1) : []),
            ...others,
            "separator",
            { label: "Cancel", icon: <Ban />, danger: true, onSelect: control.cancel },
          ]}
        />
      ) : (
        others.map(button)
      )}
      {isInstructing && graph ? (
        <CommandDialog
          form={instructForm(graph, control.runId)}
          onClose={() => control.setInstructing(false)}
        />
      ) : null}
    </div>
  );
}

/** `isWide`: with a text label. Otherwise only wide screens have room for one. */
function ActionButton({
  action: { label, shortcut, icon, disabled = false, onSelect },
  isWide,
}: {
  action: Action;
  isWide: boolean;
}) {
  return (
    <Button icon={icon} title={`${label} (${shortcut})`} disabled={disabled} onClick={onSelect}>
      <span className={isWide ? undefined : "max-xl:sr-only"}>{label}</span>
    </Button>
  );
}

function PauseMenu({ control }: { control: Control }) {
  return (
    <Menu
      align="end"
      trigger={
        <Button icon={<Pause aria-hidden />} pending={control.isBusy}>
          Pause
        </Button>
      }
      items={[
        {
          label: "Pause",
          hint: "Finishes running steps first",
          icon: <Pause />,
          shortcut: "P",
          onSelect: () => control.pause(),
        },
        {
          label: "Pause now",
          hint: "Cancels read-only calls and retries them on resume",
          icon: <CirclePause />,
          onSelect: () => control.pause(true),
        },
      ]}
    />
  );
}

function RunToMenu({ control }: { control: Control }) {
  const goals = useGoals(control);
  if (goals.length === 0) return null;
  return (
    <Menu
      trigger={
        <Button icon={<FastForward />} disabled={control.isBusy}>
          Run to…
        </Button>
      }
      items={goals}
    />
  );
}

const MOST_GOALS = 12;
const AHEAD: ReadonlySet<string> = new Set(["idle", "ready"]);

/** Where a paused run can run to: the selected node and the nodes ahead. */
function useGoals({ selected, runTo }: Control): MenuEntry[] {
  const graph = useRun<WorkflowGraph | null>(({ head }) => head.graph, null);
  const ahead = useRunList<string>(({ head }) =>
    Object.values(head.graph.nodes)
      .filter((node) => isExecutable(node) && AHEAD.has(head.nodes[node.id]?.status ?? "idle"))
      .map(({ id }) => id),
  );
  return [...new Set([...(selected === null ? [] : [selected]), ...ahead])]
    .slice(0, MOST_GOALS)
    .map((id) => ({
      label: graph?.nodes[id]?.name || id,
      ...(id === selected ? { hint: "Selected", shortcut: "Shift F10" } : {}),
      onSelect: () => void runTo(id).catch(() => undefined),
    }));
}

/** Cancels the run. Red on hover only, since nothing is wrong yet. */
export function CancelButton({ isHeld }: { isHeld: boolean }) {
  const control = useControlling();
  const isActive = useIsActive();
  if (!control || !isActive || isHeld) return null;
  return (
    <Button
      icon={<Ban aria-hidden />}
      pending={control.isCancelling}
      onClick={control.cancel}
      className="hover:border-failed hover:text-failed"
    >
      Cancel
    </Button>
  );
}

/** The controls at the bottom, on phones. */
export function ControlsBelow({ isHeld }: { isHeld: boolean }) {
  const isActive = useIsActive();
  if (!isActive || isHeld) return null;
  return (
    <div className="flex shrink-0 justify-center border-t border-line bg-surface px-3 py-2 pb-[max(0.5rem,env(safe-area-inset-bottom))]">
      <RunControls isHeld={isHeld} />
    </div>
  );
}
