"use client";

import { Panel } from "@xyflow/react";
import clsx from "clsx";
import { Locate, LocateFixed } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { CanvasProvider, GraphCanvas } from "@/components/canvas/graph-canvas";
import { useCanvasView } from "@/components/canvas/use-canvas-view";
import type { RoleDefinition } from "@/server/domain/role";
import { newCanvasRun } from "./canvas-run";
import { useRun, useRunStore } from "./run-context";
import { spotlightNode } from "./spotlight";

const NO_ROLES: readonly RoleDefinition[] = [];

/** The drawing on which the run happens: the graph as it was when the run began. */
export function RunCanvas({
  selected,
  onSelect,
}: {
  selected: string | null;
  onSelect: (nodeId: string | null) => void;
}) {
  const store = useRunStore();
  const graph = useRun((view) => view.head.graph, null);
  const roles = useRun((view) => view.head.roles, NO_ROLES);
  const run = useMemo(() => (store ? newCanvasRun(store) : null), [store]);
  const byName = useMemo(() => new Map(roles.map((role) => [role.name, role])), [roles]);
  const [isFollowing, setFollowing] = useState(true);
  if (!graph || Object.keys(graph.nodes).length === 0) return <div className="size-full bg-stage" />;
  return (
    <CanvasProvider>
      <GraphCanvas
        graph={graph}
        label="Drawing of the run"
        roles={byName}
        run={run}
        selectedId={selected}
        onSelect={onSelect}
        onUserMove={() => setFollowing(false)}
      >
        <Follower isFollowing={isFollowing} />
        <Panel position="top-left">
          <FollowChip isFollowing={isFollowing} onChange={setFollowing} />
        </Panel>
      </GraphCanvas>
    </CanvasProvider>
  );
}

/** Keeps what is happening in view. */
function Follower({ isFollowing }: { isFollowing: boolean }) {
  const node = useRun(spotlightNode, null);
  const view = useCanvasView();
  useEffect(() => {
    if (!isFollowing || node === null) return;
    const timer = setTimeout(() => view.reveal([node]), 120);
    return () => clearTimeout(timer);
    // The view's functions are new with every frame; only another node, or following again, moves the view.
  }, [isFollowing, node, view]);
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
