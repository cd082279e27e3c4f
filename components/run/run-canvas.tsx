"use client";

import { Panel, useReactFlow } from "@xyflow/react";
import clsx from "clsx";
import { Locate, LocateFixed } from "lucide-react";
import dynamic from "next/dynamic";
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { CanvasProvider, GraphCanvas } from "@/components/canvas/graph-canvas";
import { nodeIdOf } from "@/components/canvas/hits";
import { READABLE } from "@/components/canvas/layout/view-fit";
import { useCanvasView } from "@/components/canvas/use-canvas-view";
import { CrewCamera, CrewDoors, useCrewNodes, useGrownCards } from "@/components/run/crew/crew-on-canvas";
import { CrewSection } from "@/components/run/crew/crew-section";
import { cardOf, focusCrew, useCrewStage } from "@/components/run/crew/crew-stage";
import { NARROW, useMedia } from "@/components/ui/use-media";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { startsRuns } from "@/server/domain/nodes";
import { ChildCamera, ChildDoors, useChildKeys } from "./children/child-doors";
import { ChildSection } from "./children/child-section";
import { useOpenCards } from "./children/child-stage";
import { spotlightNode } from "./live/spotlight";
import { StaleCards } from "./result/stale-note";
import { useRun } from "./run-context";
import { useRunDrawing } from "./run-drawing";

const NodeList = dynamic(() => import("@/components/canvas/node-list").then((m) => m.NodeList));
const ViewModeSwitch = dynamic(() =>
  import("@/components/canvas/view-mode-switch").then((m) => m.ViewModeSwitch),
);

const ChildInside = dynamic(() => import("./children/child-inside").then((m) => m.ChildInside));
const CrewInside = dynamic(() => import("./crew/crew-inside").then((m) => m.CrewInside));

const Inside = ({ node }: { node: WorkflowNode }) =>
  startsRuns(node) ? <ChildInside node={node} /> : <CrewInside node={node} />;

/** The workflow of the run, as it was when the run started. */
export function RunCanvas({
  selected,
  onSelect,
  isHeld,
}: {
  selected: string | null;
  onSelect: (nodeId: string | null) => void;
  isHeld: boolean;
}) {
  const { graph, workflows, ...drawing } = useRunDrawing({ isHeld, Inside });
  const [isFollowing, setFollowing] = useState(true);
  const stopFollowing = useCallback(() => setFollowing(false), []);
  const isOver = useRun(({ head }) => head.run.status === "finished", false);
  const isNarrow = useMedia(NARROW);
  const [viewMode, setViewMode] = useState<"list" | "drawing">("list");
  const crews = useGrownCards();
  const runs = useOpenCards();
  const dressing = useMemo(
    () => ({ grown: new Map([...crews, ...runs]), workflows }),
    [crews, runs, workflows],
  );
  const onCrewKey = useCrewKeys();
  const onChildKey = useChildKeys();
  const picked = useMemo(() => new Set(selected ? [selected] : []), [selected]);
  if (!graph || Object.keys(graph.nodes).length === 0) return <div className="size-full bg-stage" />;
  const viewModeSwitch = isNarrow && <ViewModeSwitch viewMode={viewMode} onChange={setViewMode} />;
  if (isNarrow && viewMode === "list")
    return (
      // `relative`: text for screen readers must not make the page longer.
      <div className="relative size-full scroll-pt-14 overflow-y-auto bg-stage">
        {viewModeSwitch}
        <StaleCards>
          <NodeList
            {...drawing}
            graph={graph}
            workflows={workflows}
            selected={picked}
            onPick={onSelect}
            under={(id) => (
              <>
                <CrewSection nodeId={id} />
                <ChildSection nodeId={id} />
              </>
            )}
          />
        </StaleCards>
      </div>
    );
  return (
    <StaleCards>
      <CanvasProvider>
        {viewModeSwitch}
        <GraphCanvas
          {...drawing}
          graph={graph}
          label="Run canvas"
          selectedId={selected}
          onSelect={onSelect}
          dressing={dressing}
          onKeyDown={(event) => {
            onCrewKey(event);
            onChildKey(event);
          }}
          onUserMove={stopFollowing}
        >
          <Follower isFollowing={isFollowing} />
          <CrewDoors />
          <CrewCamera onShow={stopFollowing} />
          <ChildDoors />
          <ChildCamera onShow={stopFollowing} />
          {isOver ? null : (
            <Panel position="top-left">
              <FollowChip isFollowing={isFollowing} onChange={setFollowing} />
            </Panel>
          )}
        </GraphCanvas>
      </CanvasProvider>
    </StaleCards>
  );
}

/** Enter on the card of a crew opens it. */
function useCrewKeys() {
  const stage = useCrewStage();
  const crews = useCrewNodes();
  return (event: KeyboardEvent<HTMLElement>) => {
    const id = nodeIdOf(event.target);
    if (event.key !== "Enter" || !id || !crews.includes(id) || event.target !== cardOf(id)) return;
    event.preventDefault();
    stage?.unfold(id);
    focusCrew(id);
  };
}

/** The camera: follows the run at a readable size, and fits the whole graph when it ends. */
function Follower({ isFollowing }: { isFollowing: boolean }) {
  const node = useRun(spotlightNode, null);
  const isRunning = useRun(({ head, cursor }) => cursor === null && head.run.status === "running", false);
  const view = useCanvasView();
  const flow = useReactFlow();
  const wasRunning = useRef(false);
  useEffect(() => {
    if (!isFollowing) return;
    const isJustOver = wasRunning.current && !isRunning;
    wasRunning.current = isRunning;
    const timer = setTimeout(
      () => {
        if (isJustOver) view.fit();
        else if (node !== null && isRunning && flow.getZoom() < READABLE) view.open(node);
        else if (node !== null) view.reveal([node]);
      },
      isJustOver ? 600 : 120,
    );
    return () => clearTimeout(timer);
  }, [isFollowing, isRunning, node, view, flow]);
  return null;
}

function FollowChip({
  isFollowing,
  onChange,
}: {
  isFollowing: boolean;
  onChange: (isFollowing: boolean) => void;
}) {
  return (
    <button
      type="button"
      aria-pressed={isFollowing}
      title={isFollowing ? "Following the active node" : "Follow the active node"}
      onClick={() => onChange(!isFollowing)}
      className={clsx(
        "inline-flex h-7 items-center gap-1.5 rounded-full border px-2.5 text-xs font-medium shadow-1 transition-colors pointer-coarse:h-9",
        isFollowing
          ? "border-line bg-surface text-ink-2 hover:text-ink"
          : "border-accent bg-accent-soft text-accent hover:bg-accent hover:text-accent-ink",
      )}
    >
      {isFollowing ? (
        <LocateFixed aria-hidden className="size-3.5" />
      ) : (
        <Locate aria-hidden className="size-3.5" />
      )}
      {isFollowing ? "Following" : "Follow"}
    </button>
  );
}
