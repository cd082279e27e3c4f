import { type ReactFlowState, useStoreApi } from "@xyflow/react";
import { useState } from "react";
import type { FlowNode } from "../flow-mapping";

type Measure = ReactFlowState<FlowNode>["updateNodeInternals"];
type Update = Parameters<Measure>[0] extends Map<string, infer U> ? U : never;

/**
 * React Flow measures every card after it renders, and then renders all cards and edges again. Sizes and handles are known
 * beforehand (see card-size.ts), so the first report of a card is skipped if it matches. Later reports are measured.
 * Plates have no handles to measure, so their known ones stay. On a still canvas all stay: React Flow doesn't know the zoom
 * of the outer canvas.
 */
export function unlessAsKnown(
  measure: Measure,
  known: (id: string) => KnownCard | undefined,
  isStill = false,
): Measure {
  const seen = new WeakSet<Element>();
  const isNews = ({ id, nodeElement }: Update) => {
    const card = known(id);
    if (card?.hasHandles && (isStill || !nodeElement.querySelector(".react-flow__handle"))) return false;
    if (seen.has(nodeElement)) return true;
    seen.add(nodeElement);
    return !(
      card?.hasHandles &&
      card.width === nodeElement.offsetWidth &&
      card.height === nodeElement.offsetHeight
    );
  };
  return (updates, options) => {
    const news = new Map([...updates].filter(([, update]) => isNews(update)));
    if (news.size > 0) measure(news, options);
  };
}

/** The size of a card before it is rendered. */
export interface KnownCard {
  width?: number | undefined;
  height?: number | undefined;
  hasHandles: boolean;
}

/** Put this before everything else in a ReactFlowProvider: what measures is taken from its store once. */
export function KnownSizes({ isStill = false }: { isStill?: boolean }) {
  const store = useStoreApi<FlowNode>();
  useState(() => {
    const { updateNodeInternals } = store.getState();
    const known = (id: string) => {
      const node = store.getState().nodeLookup.get(id);
      return node && { ...node.measured, hasHandles: node.internals.handleBounds !== undefined };
    };
    store.setState({ updateNodeInternals: unlessAsKnown(updateNodeInternals, known, isStill) });
  });
  return null;
}
