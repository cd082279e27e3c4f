"use client";

import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import type { CardSize } from "@/components/canvas/cards/card-size";

/** A card that shows a run that its node started. */
interface OpenChild {
  /** Of a map, from 0. */
  item?: number | undefined;
  /** The size that the run needs; an estimate until it is measured. */
  size: CardSize;
}
type OpenChildren = ReadonlyMap<string, OpenChild>;

/** What is open in a run's page: in each run, by its id, which nodes show a run that they started. */
interface Stage {
  open: ReadonlyMap<string, OpenChildren>;
  change(runId: string, change: (before: OpenChildren) => OpenChildren): void;
}

const StageContext = createContext<Stage | null>(null);
const LevelContext = createContext("");

const FIRST_SIZE: CardSize = { width: 560, height: 260 };
const NONE: OpenChildren = new Map();

/** Remembers what is open on the page of a run. */
export function ChildStageProvider({ runId, children }: { runId: string; children: ReactNode }) {
  const [open, setOpen] = useState<Stage["open"]>(new Map());
  const change = useCallback<Stage["change"]>(
    (id, next) =>
      setOpen((all) => {
        const before = all.get(id) ?? NONE;
        const after = next(before);
        return after === before ? all : new Map([...all, [id, after]]);
      }),
    [],
  );
  const stage = useMemo(() => ({ open, change }), [open, change]);
  return (
    <StageContext value={stage}>
      <ChildLevel runId={runId}>{children}</ChildLevel>
    </StageContext>
  );
}

/** Everything inside belongs to this run, which the page shows within another one. */
export function ChildLevel({ runId, children }: { runId: string; children: ReactNode }) {
  return <LevelContext value={runId}>{children}</LevelContext>;
}

/** What is open in the current run, and how to open and close it; null outside of a run's page. */
export function useChildStage() {
  const stage = useContext(StageContext);
  const runId = useContext(LevelContext);
  const change = stage?.change;
  const open = stage?.open.get(runId) ?? NONE;
  return useMemo(
    () =>
      change
        ? {
            runId,
            open,
            unfold: (nodeId: string, item?: number) =>
              change(runId, (before) => {
                const size = before.get(nodeId)?.size ?? FIRST_SIZE;
                return new Map([...before, [nodeId, { item, size }]]);
              }),
            fold: (nodeId: string) =>
              change(runId, (before) => new Map([...before].filter(([id]) => id !== nodeId))),
            resize: (nodeId: string, size: CardSize) =>
              change(runId, (before) => {
                const known = before.get(nodeId);
                const isSame = known?.size.width === size.width && known.size.height === size.height;
                return !known || isSame ? before : new Map([...before, [nodeId, { ...known, size }]]);
              }),
          }
        : null,
    [change, runId, open],
  );
}

/** The sizes of the open cards of the current run; the same object until one changes. */
export function useOpenCards(): ReadonlyMap<string, CardSize> {
  const open = useChildStage()?.open ?? NONE;
  return useMemo(() => new Map([...open].map(([id, { size }]) => [id, size])), [open]);
}
