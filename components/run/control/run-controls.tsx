"use client";

import {
  CirclePause,
  CirclePlay,
  FastForward,
  Footprints,
  MessageSquarePlus,
  Pause,
  StepForward,
} from "lucide-react";
import dynamic from "next/dynamic";
import { BreakpointSign } from "@/components/canvas/breakpoint-dot";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { Menu } from "@/components/ui/menu";
import { useBreakpointCount, useControlling } from "./run-control-context";
import { useIsUnderWay, usePaused } from "./use-control";

const InstructDialog = dynamic(() => import("./instruct-dialog").then((m) => m.InstructDialog), {
  ssr: false,
});

/** Pause, or once it is paused: go on, by a step or for good. Nothing where the run is over. */
export function RunControls({ isHeld }: { isHeld: boolean }) {
  const control = useControlling();
  const isUnderWay = useIsUnderWay();
  const paused = usePaused();
  if (!control || !isUnderWay || isHeld) return null;
  const { isBusy, selected } = control;
  return (
    <div role="toolbar" aria-label="Control of the run" className="flex shrink-0 items-center gap-1">
      {paused ? (
        <>
          <Button
            variant="primary"
            icon={<CirclePlay aria-hidden />}
            pending={isBusy}
            title="Resume (F5)"
            onClick={control.resume}
          >
            Resume
          </Button>
          <IconButton
            label="Step: one node further"
            shortcut="F10"
            icon={<StepForward aria-hidden />}
            disabled={isBusy}
            onClick={() => control.step("node")}
          />
          <IconButton
            label="Step: one turn of an agent further"
            shortcut="F11"
            icon={<Footprints aria-hidden />}
            disabled={isBusy}
            onClick={() => control.step("turn")}
          />
          <IconButton
            label={selected ? "Run to the selected node" : "Run to the selected node (choose one)"}
            shortcut="Shift F10"
            icon={<FastForward aria-hidden />}
            disabled={isBusy || selected === null}
            onClick={() => selected !== null && void control.runTo(selected).catch(() => undefined)}
          />
        </>
      ) : (
        <Menu
          align="end"
          trigger={
            <Button icon={<Pause aria-hidden />} pending={isBusy}>
              Pause
            </Button>
          }
          items={[
            {
              label: "Pause",
              hint: "What is under way comes to its end",
              icon: <Pause />,
              shortcut: "P",
              onSelect: () => control.pause(),
            },
            {
              label: "Pause now",
              hint: "Calls that only read are given up, and made again when it goes on",
              icon: <CirclePause />,
              onSelect: () => control.pause(true),
            },
          ]}
        />
      )}
      <IconButton
        label="Instruct the agents…"
        shortcut="I"
        icon={<MessageSquarePlus aria-hidden />}
        onClick={() => control.setInstructing(true)}
      />
      <BreakpointsButton />
      {control.isInstructing ? (
        <InstructDialog
          runId={control.runId}
          target={{ run: true }}
          onClose={() => control.setInstructing(false)}
        />
      ) : null}
    </div>
  );
}

/** On a phone: the same, where the thumb is. */
export function ControlsBelow({ isHeld }: { isHeld: boolean }) {
  const isUnderWay = useIsUnderWay();
  if (!isUnderWay || isHeld) return null;
  return (
    <div className="flex shrink-0 justify-center border-t border-line bg-surface px-3 py-2 pb-[max(0.5rem,env(safe-area-inset-bottom))]">
      <RunControls isHeld={isHeld} />
    </div>
  );
}

function BreakpointsButton() {
  const control = useControlling();
  return control ? <OpenList {...control} /> : null;
}

function OpenList({
  breakpoints,
  isListOpen,
  setListOpen,
}: Pick<NonNullable<ReturnType<typeof useControlling>>, "breakpoints" | "isListOpen" | "setListOpen">) {
  const count = useBreakpointCount(breakpoints);
  return (
    <IconButton
      label={count === 0 ? "Breakpoints" : `Breakpoints (${count})`}
      shortcut="Shift F9"
      pressed={isListOpen}
      icon={<BreakpointSign look={count === 0 ? "disabled" : "plain"} />}
      onClick={() => setListOpen(!isListOpen)}
    />
  );
}
