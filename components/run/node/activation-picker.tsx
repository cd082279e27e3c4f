"use client";

import clsx from "clsx";
import { useState } from "react";
import { StatusMark } from "@/components/display/status-mark";
import { useRun } from "../run-context";

const MANY = 12;

/** 1 2 3 …: how often the node ran; the last one is followed until another is picked. */
export function ActivationPicker({
  ids,
  shown,
  isLatest,
  onPick,
}: {
  ids: readonly string[];
  shown: string | undefined;
  isLatest: boolean;
  onPick: (id: string | null) => void;
}) {
  const [isWhole, setWhole] = useState(false);
  const first = isWhole || ids.length <= MANY ? 0 : ids.length - MANY;
  return (
    <div role="radiogroup" aria-label="Which time it ran" className="flex flex-wrap items-center gap-1">
      {first > 0 ? (
        <button
          type="button"
          className={clsx(chip, "border-line text-ink-2")}
          onClick={() => setWhole(true)}
          aria-label="Show all times"
        >
          1…{first}
        </button>
      ) : null}
      {ids.slice(first).map((id, at) => (
        <TurnChip
          key={id}
          id={id}
          turn={first + at + 1}
          isShown={id === shown}
          onPick={() => onPick(id === ids.at(-1) ? null : id)}
        />
      ))}
      {isLatest ? null : (
        <button
          type="button"
          onClick={() => onPick(null)}
          className="ml-1 text-xs font-medium text-accent hover:text-accent-hover"
        >
          Latest
        </button>
      )}
    </div>
  );
}

const chip =
  "inline-flex h-7 min-w-7 items-center justify-center gap-1 rounded-md border px-1.5 text-xs tabular-nums pointer-coarse:h-9 pointer-coarse:min-w-9";

function TurnChip({
  id,
  turn,
  isShown,
  onPick,
}: {
  id: string;
  turn: number;
  isShown: boolean;
  onPick: () => void;
}) {
  const status = useRun(({ state }) => state.activations[id]?.status ?? "idle", "idle" as const);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a row of small buttons, one of them on
    <button
      type="button"
      role="radio"
      aria-checked={isShown}
      aria-label={`Time ${turn}`}
      onClick={onPick}
      className={clsx(
        chip,
        isShown ? "border-accent bg-accent-soft text-ink" : "border-line text-ink-2 hover:border-line-strong",
      )}
    >
      {turn}
      {status === "completed" ? null : <StatusMark status={status} size="sm" className="scale-75" />}
    </button>
  );
}
