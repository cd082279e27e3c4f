"use client";

import { Panel, type ReactFlowInstance, useReactFlow } from "@xyflow/react";
import clsx from "clsx";
import { Locate, LocateFixed } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { CanvasProvider, GraphCanvas } from "@/components/canvas/graph-canvas";
import { useCanvasView } from "@/components/canvas/use-canvas-view";
import { useNamedAgents } from "@/components/forms/use-named-agents";
import { CrewsOnCanvas } from "@/components/run/crew/crew-on-canvas";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { newCanvasRun } from "./canvas-run";
import { useRun, useRunViewStore } from "./run-context";
import { spotlightNode } from "./spotlight";

const NO_ROLES: readonly RoleDefinition[] = [];

/** The drawing on which the run happens: the graph as it was when the run began. */
export function RunCanvas({
  selected,
  onSelect,
  openCrew,
  onOpenCrew,
  isHeld,
}: {
  selected: string | null;
  onSelect: (nodeId: string | null) => void;
  /** The node whose crew is open. */
  openCrew: string | null;
  onOpenCrew: (nodeId: string | null) => void;
  /** The run is put aside. */
  isHeld: boolean;
}) {
  const store = useRunViewStore();
  const graph = useRun((view) => view.head.graph, null);
  const roles = useRun((view) => view.head.roles, NO_ROLES);
  const run = useMemo(() => (store ? newCanvasRun(store, isHeld) : null), [store, isHeld]);
  const agents = useNamedAgents(graph);
  const byName = useMemo(() => new Map(roles.map((role) => [role.name, role])), [roles]);
  const [isFollowing, setFollowing] = useState(true);
  if (!graph || Object.keys(graph.nodes).length === 0) return <div className="size-full bg-stage" />;
  return (
    <CanvasProvider>
      <GraphCanvas
        graph={graph}
        label="Drawing of the run"
        roles={byName}
        agents={agents}
        run={run}
        selectedId={selected}
        onSelect={onSelect}
        onUserMove={() => setFollowing(false)}
      >
        <Follower isFollowing={isFollowing && openCrew === null} />
        <CrewsOnCanvas openId={openCrew} onOpen={onOpenCrew} />
        <Panel position="top-left">
          <FollowChip isFollowing={isFollowing} onChange={setFollowing} />
        </Panel>
      </GraphCanvas>
    </CanvasProvider>
  );
}

/** From here on the words on a card can be read. */
const READABLE = 0.75;

/** The camera: rests on what is happening, near enough to read it, and steps back when the run is over. */
function Follower({ isFollowing }: { isFollowing: boolean }) {
  const node = useRun(spotlightNode, null);
  const isUnderWay = useRun(({ head, cursor }) => cursor === null && head.run.status === "running", false);
  const view = useCanvasView();
  const flow = useReactFlow();
  const wasUnderWay = useRef(false);
  useEffect(() => {
    if (!isFollowing) return;
    const isJustOver = wasUnderWay.current && !isUnderWay;
    wasUnderWay.current = isUnderWay;
    const timer = setTimeout(
      () => {
        if (isJustOver) view.fit();
        else if (node !== null && isUnderWay && flow.getZoom() < READABLE) zoomTo(flow, node);
        else if (node !== null) view.reveal([node]);
      },
      isJustOver ? 600 : 120,
    );
    return () => clearTimeout(timer);
  }, [isFollowing, isUnderWay, node, view, flow]);
  return null;
}

function zoomTo(flow: ReactFlowInstance, nodeId: string): void {
  const node = flow.getInternalNode(nodeId);
  if (!node) return;
  const { x, y } = node.internals.positionAbsolute;
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  void flow.setCenter(x + (node.measured.width ?? 240) / 2, y + (node.measured.height ?? 96) / 2, {
    zoom: READABLE,
    duration: isCalm ? 0 : 400,
  });
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
      title={isFollowing ? "The view follows what happens" : "Let the view follow what happens"}
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
