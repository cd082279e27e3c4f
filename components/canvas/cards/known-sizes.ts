import { type ReactFlowState, useStoreApi } from "@xyflow/react";
import { useState } from "react";
import type { FlowNode } from "../flow-mapping";

type Measure = ReactFlowState<FlowNode>["updateNodeInternals"];
type Update = Parameters<Measure>[0] extends Map<string, infer U> ? U : never;

/**
 * React Flow measures every card after it is drawn, and then draws all cards and lines once more. Their sizes, and where
 * lines begin on them, are known beforehand (see card-size.ts): the first report of a card that came out as said is left
 * out. Whatever is reported of it later is measured. Plates have no handles to measure, so what is known of them stays.
 */
export function unlessAsKnown(measure: Measure, known: (id: string) => KnownCard | undefined): Measure {
  const seen = new WeakSet<Element>();
  const isNews = ({ id, nodeElement }: Update) => {
    const card = known(id);
    if (card?.hasHandles && !nodeElement.querySelector(".react-flow__handle")) return false;
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
export function KnownSizes() {
  const store = useStoreApi<FlowNode>();
  useState(() => {
    const { updateNodeInternals } = store.getState();
    const known = (id: string) => {
      const node = store.getState().nodeLookup.get(id);
      return node && { ...node.measured, hasHandles: node.internals.handleBounds !== undefined };
    };
    store.setState({ updateNodeInternals: unlessAsKnown(updateNodeInternals, known) });
  });
  return null;
}
