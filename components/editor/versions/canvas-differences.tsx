"use client";

import { X } from "lucide-react";
import { useMemo } from "react";
import { IconButton } from "@/components/ui/icon-button";
import { useUi, useUiStore } from "../ui-store";
import { type Difference, useDraftDifferences } from "./use-versions";

/** CSS classes of the cards that differ from the compared version. */
export function useComparedClasses(): ReadonlyMap<string, string> | undefined {
  const version = useUi(({ comparedWith }) => comparedWith) ?? undefined;
  const differences = useDraftDifferences(version);
  return useMemo(
    () => (version === undefined ? undefined : classesOf(differences ?? [])),
    [version, differences],
  );
}

const classesOf = (differences: readonly Difference[]) =>
  new Map(
    differences.flatMap(({ kind, at }): [string, string][] =>
      at.kind === "node" && at.id !== undefined && kind !== "removed" ? [[at.id, `is-${kind}`]] : [],
    ),
  );

/** Says which version the draft is compared with, and names the removed nodes. */
export function ComparedBar() {
  const version = useUi(({ comparedWith }) => comparedWith);
  const differences = useDraftDifferences(version ?? undefined);
  const ui = useUiStore();
  if (version === null || !differences) return null;
  const count = (kind: Difference["kind"]) =>
    differences.filter((one) => one.kind === kind && one.at.kind === "node").length;
  const removed = differences.filter((one) => one.kind === "removed" && one.at.kind === "node");
  const parts = [
    `${count("added")} added`,
    `${count("changed")} changed`,
    `${count("moved")} moved`,
    ...(removed.length > 0 ? [`removed: ${removed.map(({ text }) => text).join(", ")}`] : []),
  ];
  return (
    <div
      role="status"
      className="absolute top-3 left-1/2 z-10 flex max-w-[90%] -translate-x-1/2 items-center gap-2 rounded-full border border-line bg-surface py-1 pr-1 pl-3 text-[13px] shadow-2"
    >
      <button
        type="button"
        className="min-w-0 truncate hover:text-accent"
        onClick={() => ui.setState({ isVersionsOpen: true })}
      >
        Compared with version {version}: {parts.join(", ")}
      </button>
      <IconButton
        size="sm"
        plain
        label="Stop comparing"
        icon={<X aria-hidden />}
        onClick={() => ui.setState({ comparedWith: null })}
      />
    </div>
  );
}
