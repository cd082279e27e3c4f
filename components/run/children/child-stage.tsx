"use client";

import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";
import type { CardSize } from "@/components/canvas/cards/card-size";
import { useRunList } from "../run-context";
import { childOf } from "./child-runs";

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
  picked: PickedNode | null;
  onPick: (picked: PickedNode | null) => void;
}

/** A selected node of a run within the page's run. */
export interface PickedNode {
  runId: string;
  nodeId: string;
}

const StageContext = createContext<Stage | null>(null);
const LevelContext = createContext("");

const FIRST_SIZE: CardSize = { width: 560, height: 260 };
const NONE: OpenChildren = new Map();

/** Remembers what is open on the page of a run, also in its URL, and which node in it is selected. */
export function ChildStageProvider({
  runId,
  picked,
  onPick,
  children,
}: Pick<Stage, "picked" | "onPick"> & { runId: string; children: ReactNode }) {
  const [open, setOpen] = useState<Stage["open"]>(() => readOpen(runId));
  useEffect(() => writeOpen(runId, open), [runId, open]);
  const change = useCallback<Stage["change"]>(
    (id, next) =>
      setOpen((all) => {
        const before = all.get(id) ?? NONE;
        const after = next(before);
        return after === before ? all : new Map([...all, [id, after]]);
      }),
    [],
  );
  const stage = useMemo(() => ({ open, change, picked, onPick }), [open, change, picked, onPick]);
  return (
    <StageContext value={stage}>
      <ChildLevel runId={runId}>{children}</ChildLevel>
    </StageContext>
  );
}

/** The parameter of the URL that names each open card: `node`, `node:item`, or `node:item:run` within another run. */
const OPEN = "open";

function readOpen(pageRun: string): Stage["open"] {
  const open = new Map<string, Map<string, OpenChild>>();
  for (const text of new URLSearchParams(window.location.search).getAll(OPEN)) {
    const [node = "", item = "", run = pageRun] = text.split(":");
    const inRun = open.get(run) ?? new Map<string, OpenChild>();
    open.set(run, inRun.set(node, { item: item === "" ? undefined : Number(item), size: FIRST_SIZE }));
  }
  return open;
}

function writeOpen(pageRun: string, open: Stage["open"]): void {
  const url = new URL(window.location.href);
  url.searchParams.delete(OPEN);
  for (const [run, cards] of open)
    for (const [node, { item = "" }] of cards) {
      const parts = run !== pageRun ? [node, item, run] : item === "" ? [node] : [node, item];
      url.searchParams.append(OPEN, parts.join(":"));
    }
  if (url.href !== window.location.href) window.history.replaceState(null, "", url);
}

/** Everything inside belongs to this run, which the page shows within another one. */
export function ChildLevel({ runId, children }: { runId: string; children: ReactNode }) {
  return <LevelContext value={runId}>{children}</LevelContext>;
}

/** What is open in the current run, and how to open and close it; null outside of a run's page. */
export function useChildStage() {
  const stage = useContext(StageContext);
  const runId = useContext(LevelContext);
  const { change, onPick, picked = null } = stage ?? {};
  const open = stage?.open.get(runId) ?? NONE;
  return useMemo(
    () =>
      change && onPick
        ? {
            runId,
            open,
            picked: picked?.runId === runId ? picked.nodeId : null,
            pick: (nodeId: string | null) => onPick(nodeId === null ? null : { runId, nodeId }),
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
    [change, onPick, picked, runId, open],
  );
}

/** The sizes of the open cards of the current run; the same object until one changes. */
export function useOpenCards(): ReadonlyMap<string, CardSize> {
  const open = useChildStage()?.open ?? NONE;
  // A URL may name nodes that have not started a run.
  const ids = useRunList(({ head }) =>
    [...open].flatMap(([id, { item }]) => (childOf(head, id, item) ? [id] : [])),
  );
  return useMemo(
    () => new Map([...open].flatMap(([id, { size }]) => (ids.includes(id) ? [[id, size]] : []))),
    [open, ids],
  );
}
