"use client";

import {
  Ban,
  CirclePause,
  CirclePlay,
  Ellipsis,
  FastForward,
  Footprints,
  MessageSquarePlus,
  Pause,
  StepForward,
} from "lucide-react";
import dynamic from "next/dynamic";
import type { ReactNode } from "react";
import { BreakpointSign } from "@/components/canvas/breakpoint-dot";
import { useRun, useRunList } from "@/components/run/run-context";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { Menu } from "@/components/ui/menu";
import { NARROW, useMedia } from "@/components/ui/use-media";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { isExecutable } from "@/server/domain/nodes";
import { useBreakpointCount, useControlling } from "./run-control-context";
import { useIsUnderWay, usePaused } from "./use-control";

const InstructDialog = dynamic(() => import("./instruct-dialog").then((m) => m.InstructDialog), {
  ssr: false,
});

/** Pause, or once it is paused: resume or step. Nothing where the run is over. */
export function RunControls({ isHeld }: { isHeld: boolean }) {
  const control = useControlling();
  const isUnderWay = useIsUnderWay();
  const paused = usePaused();
  const isNarrow = useMedia(NARROW);
  if (!control || !isUnderWay || isHeld) return null;
  const { isBusy } = control;
  const rest = isNarrow ? <MoreControls isPaused={paused !== null} /> : null;
  return (
    <div role="toolbar" aria-label="Control of the run" className="flex flex-wrap items-center gap-1.5">
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
          <Button
            icon={<StepForward aria-hidden />}
            title="Step to the next node (F10)"
            disabled={isBusy}
            onClick={() => control.step("node")}
          >
            Next node
          </Button>
          {isNarrow ? null : (
            <>
              <Button
                icon={<Footprints aria-hidden />}
                title="Step to the next turn of an agent (F11)"
                disabled={isBusy}
                onClick={() => control.step("turn")}
              >
                Next turn
              </Button>
              <RunTo />
            </>
          )}
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
      {rest ?? (
        <>
          <Button
            icon={<MessageSquarePlus aria-hidden />}
            aria-label="Message agents"
            title="Message agents (I)"
            onClick={() => control.setInstructing(true)}
          >
            <Words isPaused={paused !== null}>Message agents</Words>
          </Button>
          <OpenList {...control} isPaused={paused !== null} />
        </>
      )}
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

/** On a phone: the rest, behind one button. */
function MoreControls({ isPaused }: { isPaused: boolean }) {
  const control = useControlling();
  const name = useRun(({ head }) => head.graph.nodes[control?.selected ?? ""]?.name, undefined);
  if (!control) return null;
  const { selected } = control;
  return (
    <Menu
      align="end"
      trigger={<IconButton label="More controls" icon={<Ellipsis aria-hidden />} />}
      items={[
        ...(isPaused
          ? [
              { label: "Next turn", icon: <Footprints />, onSelect: () => control.step("turn") },
              {
                label: `Run to ${selected === null ? "the selected node" : name || selected}`,
                icon: <FastForward />,
                disabled: selected === null,
                onSelect: () => selected !== null && void control.runTo(selected).catch(() => undefined),
              },
            ]
          : []),
        {
          label: "Message agents",
          icon: <MessageSquarePlus />,
          onSelect: () => control.setInstructing(true),
        },
        {
          label: "Breakpoints",
          icon: <BreakpointSign look="plain" />,
          onSelect: () => control.setListOpen(!control.isListOpen),
        },
        "separator",
        { label: "Cancel", icon: <Ban />, danger: true, onSelect: control.cancel },
      ]}
    />
  );
}

/** Beside everything else in the header there is room for words on a wide screen only. */
const Words = ({ isPaused, children }: { isPaused: boolean; children: ReactNode }) => (
  <span className={isPaused ? undefined : "max-xl:sr-only"}>{children}</span>
);

/** Most nodes in the menu of places to run to. */
const MOST_GOALS = 12;

/** Resumes until just before a node: the selected one, or one of those to come. */
function RunTo() {
  const control = useControlling();
  const graph = useRun<WorkflowGraph | null>(({ head }) => head.graph, null);
  const ahead = useRunList<string>(({ head }) =>
    Object.values(head.graph.nodes)
      .filter((node) => isExecutable(node) && AHEAD.has(head.nodes[node.id]?.status ?? "idle"))
      .map(({ id }) => id),
  );
  if (!control || !graph) return null;
  const { selected } = control;
  const goals = [...new Set([...(selected === null ? [] : [selected]), ...ahead])].slice(0, MOST_GOALS);
  return (
    <Menu
      trigger={
        <Button
          icon={<FastForward aria-hidden />}
          title="Run to the selected node (Shift F10)"
          disabled={control.isBusy || goals.length === 0}
        >
          Run to…
        </Button>
      }
      items={goals.map((id) => ({
        label: graph.nodes[id]?.name || id,
        ...(id === selected ? { hint: "Selected", shortcut: "shift+F10" } : {}),
        onSelect: () => void control.runTo(id).catch(() => undefined),
      }))}
    />
  );
}
const AHEAD: ReadonlySet<string> = new Set(["idle", "ready"]);

/** Ends the run. Red only when pointed at: it is no error that it can be cancelled. */
export function CancelButton({ isHeld }: { isHeld: boolean }) {
  const control = useControlling();
  const isUnderWay = useIsUnderWay();
  if (!control || !isUnderWay || isHeld) return null;
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

function OpenList({
  breakpoints,
  isListOpen,
  setListOpen,
  isPaused,
}: Pick<NonNullable<ReturnType<typeof useControlling>>, "breakpoints" | "isListOpen" | "setListOpen"> & {
  isPaused: boolean;
}) {
  const count = useBreakpointCount(breakpoints);
  return (
    <Button
      aria-label={count === 0 ? "Breakpoints" : `Breakpoints (${count})`}
      title="Breakpoints (Shift F9)"
      aria-pressed={isListOpen}
      icon={<BreakpointSign look={count === 0 ? "disabled" : "plain"} />}
      onClick={() => setListOpen(!isListOpen)}
    >
      <Words isPaused={isPaused}>Breakpoints{count === 0 ? "" : ` (${count})`}</Words>
    </Button>
  );
}
