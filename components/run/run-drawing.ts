import { useMemo } from "react";
import type { RunParts } from "@/components/canvas/canvas-run-context";
import { withRoomBelow } from "@/components/canvas/layout/places";
import { SLIP } from "@/components/canvas/layout/routes";
import { useNamedAgents } from "@/components/forms/use-named-agents";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { RunState } from "@/server/domain/run";
import { newCanvasRun } from "./live/canvas-run";
import { useRun, useRunViewStore } from "./run-context";

const NO_ROLES: readonly RoleDefinition[] = [];

/** What a canvas or a list shows of the current run: the workflow it started with, and the statuses. */
export function useRunDrawing({
  isHeld = false,
  Inside,
}: {
  isHeld?: boolean;
  Inside?: RunParts["Inside"] | undefined;
} = {}) {
  const store = useRunViewStore();
  const drawn = useRun((view) => view.head.graph, null);
  // The captions below the cards need room.
  const graph = useMemo(() => drawn && withRoomBelow(drawn, SLIP), [drawn]);
  const known = useRun((view) => view.head.roles, NO_ROLES);
  const roles = useMemo(() => new Map(known.map((role) => [role.name, role])), [known]);
  const run = useMemo(() => (store ? newCanvasRun(store, isHeld, Inside) : null), [store, isHeld, Inside]);
  const agents = useNamedAgents(graph);
  const workflows = useWorkflowNames();
  return { graph, roles, agents, run, workflows };
}

/** The names of the workflows that the run calls, keyed by ID, as of its start. */
export function useWorkflowNames(): ReadonlyMap<string, string> {
  const called = useRun<RunState["run"]["workflows"]>(({ head }) => head.run.workflows, undefined);
  return useMemo(() => new Map(Object.entries(called ?? {}).map(([id, { name }]) => [id, name])), [called]);
}
