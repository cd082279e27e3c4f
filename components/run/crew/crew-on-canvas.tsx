"use client";

import { useInternalNode, useReactFlow, useStore, useStoreApi, ViewportPortal } from "@xyflow/react";
import { Hand, UsersRound } from "lucide-react";
import dynamic from "next/dynamic";
import { useEffect, useRef, useState } from "react";
import { CARD_WIDTH, PLAIN_HEIGHT } from "@/components/canvas/card-size";
import { useRun, useRunList } from "@/components/run/run-context";
import { Dialog } from "@/components/ui/dialog";
import { Spinner } from "@/components/ui/spinner";
import { NARROW, useMedia } from "@/components/ui/use-media";
import { AskDialog, useOpenAsks } from "./asks";
import "./crew.css";

const CrewPanel = dynamic(() => import("./crew-panel").then((module) => module.CrewPanel), {
  loading: () => (
    <div className="flex flex-1 items-center justify-center">
      <Spinner size={20} label="Loading the crew" />
    </div>
  ),
});

/** Inside the drawing of a run: a door at every crew, a hand where a person is asked, and the crew that is open. */
export function CrewsOnCanvas({
  openId,
  onOpen,
}: {
  openId: string | null;
  onOpen: (nodeId: string | null) => void;
}) {
  const crews = useRunList<string>(({ state }) => [
    ...new Set(Object.keys(state.crews).map((activation) => activation.split("#")[0] ?? activation)),
  ]);
  const asks = useOpenAsks();
  const asking = [...new Set(asks.map(({ node_id }) => node_id))];
  const isNarrow = useMedia(NARROW);
  return (
    <>
      <ViewportPortal>
        {crews.map((id) =>
          id === openId && !isNarrow ? null : (
            <Door key={id} nodeId={id} isShifted={asking.includes(id)} onOpen={() => onOpen(id)} />
          ),
        )}
        {asking.map((id) => (
          <AskDoor key={id} nodeId={id} isShifted={crews.includes(id) && (id !== openId || isNarrow)} />
        ))}
        {openId && !isNarrow ? <Stage key={openId} nodeId={openId} onClose={() => onOpen(null)} /> : null}
      </ViewportPortal>
      {openId && isNarrow ? <CrewSheet nodeId={openId} onClose={() => onOpen(null)} /> : null}
    </>
  );
}

/** On a phone the crew comes from below and takes the whole width. */
export function CrewSheet({ nodeId, onClose }: { nodeId: string; onClose: () => void }) {
  const name = useRun(({ head }) => head.graph.nodes[nodeId]?.name || nodeId, nodeId);
  return (
    <Dialog title={name} size="xl" open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <div className="-mx-5 -mb-5 flex h-[78dvh] flex-col">
        <CrewPanel nodeId={nodeId} className="[&>header]:pt-0" />
      </div>
    </Dialog>
  );
}

function useBox(nodeId: string) {
  const node = useInternalNode(nodeId);
  if (!node) return null;
  const { x, y } = node.internals.positionAbsolute;
  return { x, y, width: node.measured.width ?? CARD_WIDTH, height: node.measured.height ?? PLAIN_HEIGHT };
}

function Door({ nodeId, isShifted, onOpen }: { nodeId: string; isShifted: boolean; onOpen: () => void }) {
  const box = useBox(nodeId);
  const name = useRun(({ head }) => head.graph.nodes[nodeId]?.name || nodeId, nodeId);
  if (!box) return null;
  return (
    <button
      type="button"
      className="crew-door nodrag nopan"
      data-crew-door={nodeId}
      style={{ left: box.x + box.width * (isShifted ? 0.3 : 0.5), top: box.y }}
      onClick={onOpen}
    >
      <UsersRound aria-hidden />
      <span>
        Open <span className="sr-only">the </span>crew<span className="sr-only"> of {name}</span>
      </span>
    </button>
  );
}

function AskDoor({ nodeId, isShifted }: { nodeId: string; isShifted: boolean }) {
  const box = useBox(nodeId);
  const [isOpen, setOpen] = useState(false);
  const asks = useOpenAsks().filter((ask) => ask.node_id === nodeId);
  if (!box) return null;
  return (
    <>
      <button
        type="button"
        className="crew-door nodrag nopan"
        data-tone="waiting"
        style={{ left: box.x + box.width * (isShifted ? 0.76 : 0.5), top: box.y }}
        onClick={() => setOpen(true)}
      >
        <Hand aria-hidden />
        Answer
      </button>
      <AskDialog asks={asks} open={isOpen} onOpenChange={setOpen} />
    </>
  );
}

const MARGIN = 20;
const MOST = { width: 1120, height: 720 };

/** The crew, opened where its card stands; the view moves so that all of it can be seen and read. */
function Stage({ nodeId, onClose }: { nodeId: string; onClose: () => void }) {
  const box = useBox(nodeId);
  const store = useStoreApi();
  const flow = useReactFlow();
  const element = useRef<HTMLElement>(null);
  const name = useRun(({ head }) => head.graph.nodes[nodeId]?.name || nodeId, nodeId);
  const pane = useStore(({ width, height }) => `${width} ${height}`);
  const [paneWidth = 0, paneHeight = 0] = pane.split(" ").map(Number);
  const width = Math.min(MOST.width, paneWidth - 2 * MARGIN);
  const height = Math.min(MOST.height, paneHeight - 2 * MARGIN);
  const x = box ? box.x + box.width / 2 : 0;
  const y = box ? box.y + box.height / 2 : 0;
  const isPlaced = box !== null;

  useEffect(() => {
    if (!isPlaced) return;
    const before = document.activeElement;
    element.current?.focus({ preventScroll: true });
    return () => {
      const openerOf = store
        .getState()
        .domNode?.querySelector<HTMLElement>(`[data-node="${CSS.escape(nodeId)}"]`);
      if (openerOf) openerOf.focus({ preventScroll: true });
      else if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, [isPlaced, nodeId, store]);

  useEffect(() => {
    if (!isPlaced) return;
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    void flow.setCenter(x, y, { zoom: 1, duration: isCalm ? 0 : 240 });
  }, [flow, isPlaced, x, y, pane]);

  if (!box || width < 200) return null;
  return (
    <section
      ref={element}
      aria-label={`Crew of ${name}`}
      tabIndex={-1}
      className="crew-stage nodrag nopan nowheel"
      style={{ left: x - width / 2, top: y - height / 2, width, height }}
      onKeyDown={(event) => {
        // The drawing below has keys of its own.
        event.stopPropagation();
        if (event.key === "Escape" && !event.defaultPrevented) onClose();
      }}
      onDoubleClick={(event) => event.stopPropagation()}
    >
      <CrewPanel nodeId={nodeId} onClose={onClose} />
    </section>
  );
}
