"use client";

import { ArrowLeft, ArrowRight, StepBack, StepForward } from "lucide-react";
import { useDeferredValue, useMemo } from "react";
import { formatTokens } from "@/components/display/format";
import { oneLine } from "@/components/display/one-line";
import { newHistory } from "@/components/run/live/state-history";
import { useRun, useRunList, useRunViewStore } from "@/components/run/run-context";
import { person } from "@/components/run/timeline/sentence-parts";
import { ValueView } from "@/components/run/values";
import { IconButton } from "@/components/ui/icon-button";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { Select } from "@/components/ui/input/select";
import { Popover } from "@/components/ui/overlay/popover";
import { formatDollars } from "@/server/domain/model/cost";
import type { RunEvent } from "@/server/domain/run/events";
import { type KeyChange, momentOf, type StepChange, stepChange } from "@/server/domain/run/past/step-change";
import { nextStop, type Sought, type StepUnit } from "@/server/domain/run/past/steps";

export const SPEEDS = [0.5, 1, 2, 4] as const;
export type Speed = (typeof SPEEDS)[number];

/** How one goes through the time of a run. */
export interface PlaybackSettings {
  unit: StepUnit;
  speed: Speed;
  sought: Sought | null;
}
export const INITIAL_PLAYBACK: PlaybackSettings = { unit: "event", speed: 1, sought: null };

const NO_EVENTS: readonly RunEvent[] = [];

/**
 * While one looks at the past: the size of the steps, how fast it plays, what the step changed, and where something
 * comes again.
 */
export function StepBar({
  playback,
  onPlaybackChange,
  onStep,
  onSeek,
}: {
  playback: PlaybackSettings;
  onPlaybackChange: (playback: PlaybackSettings) => void;
  onStep: (direction: 1 | -1) => void;
  onSeek: (direction: 1 | -1) => void;
}) {
  return (
    <section
      aria-label="Timeline navigation"
      className="flex shrink-0 items-center gap-x-3 gap-y-1 border-t border-line bg-surface px-2 py-1 max-sm:overflow-x-auto max-sm:[&>*]:shrink-0 sm:flex-wrap sm:px-3"
    >
      <div className="flex items-center gap-1">
        <IconButton
          size="sm"
          plain
          label="Step back"
          icon={<StepBack aria-hidden />}
          onClick={() => onStep(-1)}
        />
        <IconButton
          size="sm"
          plain
          label="Step forward"
          icon={<StepForward aria-hidden />}
          onClick={() => onStep(1)}
        />
      </div>
      <SegmentedControl
        label="Step by"
        size="sm"
        value={playback.unit}
        onValueChange={(unit) => onPlaybackChange({ ...playback, unit })}
        options={[
          { value: "event", label: "Event" },
          { value: "turn", label: "Turn" },
          { value: "node", label: "Node" },
        ]}
      />
      <Select
        label="Speed"
        hideLabel
        size="sm"
        value={String(playback.speed)}
        onValueChange={(speed) =>
          onPlaybackChange({ ...playback, speed: SPEEDS.find((one) => String(one) === speed) ?? 1 })
        }
        options={SPEEDS.map((speed) => ({ value: String(speed), label: `${speed}×` }))}
        fieldClassName="w-20"
      />
      <Seek
        sought={playback.sought}
        onSought={(sought) => onPlaybackChange({ ...playback, sought })}
        onSeek={onSeek}
      />
      <ChangedHere unit={playback.unit} />
    </section>
  );
}

function Seek({
  sought,
  onSought,
  onSeek,
}: {
  sought: Sought | null;
  onSought: (sought: Sought) => void;
  onSeek: (direction: 1 | -1) => void;
}) {
  const keys = useRunList<string>(({ head }) => Object.keys(head.state));
  const nodes = useRunList<string>(({ head }) => Object.keys(head.nodes));
  const agents = useRunList<string>(({ head }) => [
    ...new Set(Object.values(head.agents).map(({ agent_id }) => agent_id)),
  ]);
  const graph = useRun(({ head }) => head.graph, null);
  const options = [
    ...keys.map((name) => ({ value: `key ${name}`, label: name, hint: "State key" })),
    ...nodes.map((name) => ({
      value: `node ${name}`,
      label: graph?.nodes[name]?.name || name,
      hint: "Node",
    })),
    ...agents.map((name) => ({ value: `agent ${name}`, label: person(name), hint: "Agent" })),
  ];
  return (
    <div className="flex min-w-0 items-center gap-1">
      <IconButton
        size="sm"
        plain
        label="Previous match"
        icon={<ArrowLeft aria-hidden />}
        disabled={sought === null}
        onClick={() => onSeek(-1)}
      />
      <Select
        label="Find"
        hideLabel
        size="sm"
        placeholder="Find…"
        value={sought ? `${sought.kind} ${sought.name}` : null}
        onValueChange={(value) => onSought(soughtOf(value))}
        options={options}
        fieldClassName="w-36"
      />
      <IconButton
        size="sm"
        plain
        label="Next match"
        icon={<ArrowRight aria-hidden />}
        disabled={sought === null}
        onClick={() => onSeek(1)}
      />
    </div>
  );
}

function soughtOf(value: string): Sought {
  const [kind, name] = [value.slice(0, value.indexOf(" ")), value.slice(value.indexOf(" ") + 1)];
  return { kind: kind === "node" || kind === "agent" ? kind : "key", name };
}

/** What the step that ends here changed: values of the state, tokens and cost. */
function ChangedHere({ unit }: { unit: StepUnit }) {
  const change = useStepChange(unit);
  if (!change) return null;
  const { state, tokens, cost_usd, unknown_cost_calls } = change;
  const parts = [
    ...state.slice(0, 2).map(describeChange),
    ...(state.length > 2 ? [`${state.length - 2} more`] : []),
    ...(tokens > 0 ? [`+${formatTokens(tokens)} tokens`] : []),
    ...(cost_usd > 0 ? [`+${formatDollars(cost_usd)}`] : []),
    ...(unknown_cost_calls > 0 ? ["unknown cost"] : []),
  ];
  if (parts.length === 0) return <p className="text-xs text-ink-3">No state changes.</p>;
  const text = parts.join(" · ");
  if (state.length === 0) return <p className="text-xs text-ink-2 tabular-nums">{text}</p>;
  return (
    <Popover
      title="State changes"
      side="top"
      className="w-110"
      trigger={
        <button
          type="button"
          className="min-w-0 truncate rounded px-1 text-left text-xs text-ink-2 tabular-nums hover:bg-ink/6 hover:text-accent pointer-coarse:min-h-9"
        >
          <span className="sr-only">Changes: </span>
          {text}
        </button>
      }
    >
      <dl className="flex flex-col gap-3 text-[13px]">
        {state.map(({ key, before, after }) => (
          <div key={key} className="flex min-w-0 flex-col gap-1">
            <dt className="font-mono text-xs font-medium">{key}</dt>
            <dd className="flex min-w-0 flex-col gap-1">
              {before === undefined ? (
                <span className="text-xs text-ink-3">Not set</span>
              ) : (
                <ValueView value={before} label={`${key} before`} />
              )}
              <span className="text-xs text-ink-3">{after === undefined ? "Removed" : "Changed to"}</span>
              {after === undefined ? null : <ValueView value={after} label={`${key} now`} />}
            </dd>
          </div>
        ))}
      </dl>
    </Popover>
  );
}

const describeChange = ({ key, before, after }: KeyChange): string =>
  after === undefined
    ? `${key} removed`
    : before === undefined
      ? `${key}: ${short(after)}`
      : `${key}: ${short(before)} → ${short(after)}`;

const short = (value: Parameters<typeof oneLine>[0]) => oneLine(value).slice(0, 24);

function useStepChange(unit: StepUnit): StepChange | null {
  const store = useRunViewStore();
  const cursor = useDeferredValue(useRun((view) => view.cursor, null));
  const history = useMemo(() => newHistory(), []);
  return useMemo(() => {
    if (cursor === null) return null;
    const events = store?.view.getState().events ?? NO_EVENTS;
    const from = nextStop(events, cursor, unit, -1) ?? 0;
    const before = momentOf(history.stateAt(events, from));
    return stepChange(before, momentOf(history.stateAt(events, cursor)));
  }, [store, cursor, unit, history]);
}
