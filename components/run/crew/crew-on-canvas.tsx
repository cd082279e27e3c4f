"use client";

import { Hand, UsersRound } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";
import { CanvasLayer } from "@/components/canvas/canvas-parts";
import { CardDoors } from "@/components/canvas/cards/card-doors";
import type { CardSize } from "@/components/canvas/cards/card-size";
import { useCanvasView } from "@/components/canvas/use-canvas-view";
import { spotlightNode } from "@/components/run/live/spotlight";
import { useRun, useRunList, useRunViewStore } from "@/components/run/run-context";
import { useRunPage } from "@/components/run/run-page-context";
import { useOpenAsks } from "../questions/asks";
import { layoutOf } from "./crew-layout";
import { focusCrew, useCrewStage } from "./crew-stage";
import { headCrew } from "./use-crew";
import "./crew.css";

/** What surrounds the members: the border, the card's header and the links to the rest of the crew. */
const FRAME = { width: 2, height: 74 + 44 };

/** How large the cards of open crews are: as large as their members need. */
export function useGrownCards(): ReadonlyMap<string, CardSize> {
  const open = useCrewStage()?.open;
  // As text, so that it only changes with a size.
  const sizes = useRunList<string>(({ head }) =>
    [...(open ?? [])].flatMap((id) => {
      const crew = headCrew(head, id);
      if (!crew) return [];
      const { width, height } = layoutOf(crew, head.plans[crew.activation_id]).size;
      return [`${width + FRAME.width} ${height + FRAME.height} ${id}`];
    }),
  );
  return useMemo(
    () =>
      new Map(
        sizes.map((known) => {
          const [width, height, ...id] = known.split(" ");
          return [id.join(" "), { width: Number(width), height: Number(height) }];
        }),
      ),
    [sizes],
  );
}

/** The nodes of a run whose crews have begun. */
export const useCrewNodes = (): string[] =>
  useRunList<string>(({ head }) => [
    ...new Set(Object.keys(head.crews).map((activation) => activation.split("#")[0] ?? activation)),
  ]);

/** On the canvas of a run: a button at every closed crew, and a mark where a question waits. */
export function CrewDoors() {
  const stage = useCrewStage();
  const crews = useRunList<string>(({ state }) => [
    ...new Set(Object.keys(state.crews).map((activation) => activation.split("#")[0] ?? activation)),
  ]);
  const asks = useOpenAsks();
  const asking = [...new Set(asks.map(({ node_id }) => node_id))];
  const closed = crews.filter((id) => !stage?.open.has(id));
  return (
    <CanvasLayer>
      {closed.map((id) => (
        <Door
          key={id}
          nodeId={id}
          isShifted={asking.includes(id)}
          onOpen={() => {
            stage?.unfold(id);
            focusCrew(id);
          }}
        />
      ))}
      {asking.map((id) => (
        <AskDoor key={id} nodeId={id} isShifted={closed.includes(id)} />
      ))}
    </CanvasLayer>
  );
}

/**
 * Shows all of a crew when it opens or, if that would be too small to read, its current member. Stops following the run
 * if another node is running.
 */
export function CrewCamera({ onShow }: { onShow: () => void }) {
  const store = useRunViewStore();
  const open = useCrewStage()?.open;
  const view = useCanvasView();
  const known = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const added = [...(open ?? [])].findLast((id) => !known.current.has(id));
    known.current = open ?? new Set();
    if (added === undefined) return;
    if (!store || spotlightNode(store.view.getState()) !== added) onShow();
    // The canvas has made room by the next frame.
    const frame = requestAnimationFrame(() =>
      view.show(added, `[data-crew="${CSS.escape(added)}"] [data-member][tabindex="0"]`),
    );
    return () => cancelAnimationFrame(frame);
  }, [open, view, store, onShow]);
  return null;
}

function Door({ nodeId, isShifted, onOpen }: { nodeId: string; isShifted: boolean; onOpen: () => void }) {
  const name = useRun(({ head }) => head.graph.nodes[nodeId]?.name || nodeId, nodeId);
  return (
    <CardDoors nodeId={nodeId} at={isShifted ? 0.3 : 0.5}>
      <button type="button" className="card-door" onClick={onOpen}>
        <UsersRound aria-hidden />
        <span>
          Expand <span className="sr-only">the </span>crew<span className="sr-only"> of {name}</span>
        </span>
      </button>
    </CardDoors>
  );
}

function AskDoor({ nodeId, isShifted }: { nodeId: string; isShifted: boolean }) {
  const page = useRunPage();
  if (!page) return null;
  return (
    <CardDoors nodeId={nodeId} at={isShifted ? 0.76 : 0.5}>
      <button type="button" className="card-door" data-tone="waiting" onClick={page.openAsks}>
        <Hand aria-hidden />
        Answer
      </button>
    </CardDoors>
  );
}
