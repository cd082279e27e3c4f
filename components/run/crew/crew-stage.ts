"use client";

import { createContext, useContext, useEffect, useMemo, useRef, useState } from "react";
import { elementOf } from "@/components/canvas/hits";
import { isMap } from "@/components/canvas/opening";
import { useRunViewStore } from "@/components/run/run-context";
import type { Picked } from "./crew-drawing";

/** A view of a crew in the panel of its run. */
export type CrewTab = "members" | "plan" | "board" | "votes" | "messages" | "troubles" | "costs";

/** What the panel shows of crews: whose, which view, and whom or what more closely. */
export interface CrewPanelView {
  nodeId: string;
  tab: CrewTab;
  picked: Picked | null;
}

/** The crews that are open on a run's canvas, and what the panel shows of one. */
export interface CrewStage {
  /** The nodes that show their crew inside them. */
  open: ReadonlySet<string>;
  panelView: CrewPanelView | null;
  /** Opens a node's crew in its card, or in the panel if cards are too small for text. */
  unfold: (nodeId: string) => void;
  fold: (nodeId: string) => void;
  /** Shows something of a crew in the panel. */
  showInPanel: (view: CrewPanelView) => void;
}

const CrewStageContext = createContext<CrewStage | null>(null);
export const CrewStageProvider = CrewStageContext.Provider;

/** The crews of the run; null outside of a run's page. */
export const useCrewStage = (): CrewStage | null => useContext(CrewStageContext);

/** The state of it, for the page of a run. `onShowPanel`: the panel is to come to the front. */
export function useNewCrewStage(onShowPanel: () => void): CrewStage {
  const store = useRunViewStore();
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [panelView, setPanelView] = useState<CrewPanelView | null>(null);
  // Crews that were opened, or closed by a person: they never open automatically again.
  const known = useRef(new Set<string>());
  useEffect(
    () =>
      store?.view.subscribe(({ state, cursor, isPlaying }) => {
        if ((cursor !== null && !isPlaying) || isMap(state.graph)) return;
        const started = Object.values(state.crews).flatMap(({ activation_id, status }) => {
          const nodeId = activation_id.split("#")[0] ?? activation_id;
          return status === "running" && !known.current.has(nodeId) ? [nodeId] : [];
        });
        if (started.length === 0) return;
        for (const nodeId of started) known.current.add(nodeId);
        setOpen((before) => new Set([...before, ...started]));
      }),
    [store],
  );
  return useMemo(() => {
    const showInPanel = (next: CrewPanelView) => {
      setPanelView(next);
      onShowPanel();
    };
    return {
      open,
      panelView,
      showInPanel,
      unfold(nodeId) {
        const graph = store?.view.getState().head.graph;
        if (graph && isMap(graph)) showInPanel({ nodeId, tab: "members", picked: null });
        else setOpen((before) => new Set([...before, nodeId]));
      },
      fold(nodeId) {
        known.current.add(nodeId);
        setOpen((before) => new Set([...before].filter((id) => id !== nodeId)));
      },
    };
  }, [open, panelView, onShowPanel, store]);
}

/** The card of a node on the canvas. */
export const cardOf = (nodeId: string) =>
  elementOf(document.querySelector(".graph-canvas"), `[data-node="${CSS.escape(nodeId)}"]`);

/** Focuses an open crew, once it is rendered. */
export function focusCrew(nodeId: string, tries = 20): void {
  const section = document.querySelector<HTMLElement>(`[data-crew="${CSS.escape(nodeId)}"]`);
  if (section) section.focus({ preventScroll: true });
  else if (tries > 0) requestAnimationFrame(() => focusCrew(nodeId, tries - 1));
}
