"use client";

import dagre, { type EdgeLabel, type GraphLabel, type NodeLabel } from "@dagrejs/dagre";
import { StatusMark } from "@/components/display/status-mark";
import { TASK_STATUS } from "@/components/run/status";
import { person } from "@/components/run/timeline/sentence-parts";
import type { ExecutionPlan } from "@/server/domain/crew/plan";

const TASK = { width: 164, height: 60 };

/** What has to be done before what: tasks in layers from left to right. */
export function PlanGraph({ plan }: { plan: ExecutionPlan }) {
  const drawing = layoutOf(plan);
  return (
    <section aria-label="Plan graph" className="overflow-auto p-4" tabIndex={0}>
      <div className="relative mx-auto" style={{ width: drawing.width, height: drawing.height }}>
        <svg aria-hidden className="absolute inset-0" width={drawing.width} height={drawing.height}>
          <title>Dependencies between tasks</title>
          <defs>
            <marker
              id="plan-arrow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="6"
              markerHeight="6"
              orient="auto"
            >
              <path d="M 0 0.8 L 7 4 L 0 7.2 z" fill="context-stroke" />
            </marker>
          </defs>
          {drawing.edges.map(({ key, path, isDone }) => (
            <path
              key={key}
              d={path}
              fill="none"
              strokeWidth={1.5}
              markerEnd="url(#plan-arrow)"
              className={isDone ? "stroke-completed" : "stroke-line-strong"}
            />
          ))}
        </svg>
        <ol>
          {plan.tasks.map((task) => {
            const spot = drawing.spots[task.task_id];
            return spot ? (
              <li
                key={task.task_id}
                title={task.description}
                className="absolute flex flex-col justify-center gap-0.5 rounded-lg border border-line bg-raised px-2.5 shadow-1"
                style={{ left: spot.x - TASK.width / 2, top: spot.y - TASK.height / 2, ...TASK }}
              >
                <span className="flex items-start gap-1.5">
                  <StatusMark status={TASK_STATUS[task.status]} size="sm" className="mt-px" />
                  <span className="line-clamp-2 min-w-0 text-xs leading-4">{task.description}</span>
                </span>
                <span className="truncate pl-5 text-[11px] leading-4 text-ink-3">
                  {task.assigned_agent ? person(task.assigned_agent) : (task.required_role ?? "Anyone")}
                  {task.dependencies.length > 0 ? (
                    <span className="sr-only"> after {task.dependencies.join(", ")}</span>
                  ) : null}
                </span>
              </li>
            ) : null;
          })}
        </ol>
      </div>
    </section>
  );
}

function layoutOf(plan: ExecutionPlan) {
  const graph = new dagre.graphlib.Graph<GraphLabel, NodeLabel, EdgeLabel>()
    .setGraph({ rankdir: "LR", nodesep: 22, edgesep: 22, ranksep: 44, marginx: 4, marginy: 4 })
    .setDefaultEdgeLabel(() => ({}));
  const byId = new Map(plan.tasks.map((task) => [task.task_id, task]));
  for (const { task_id } of plan.tasks) graph.setNode(task_id, { ...TASK });
  for (const { task_id, dependencies } of plan.tasks)
    for (const before of dependencies) if (byId.has(before)) graph.setEdge(before, task_id);
  dagre.layout(graph);
  const spots: Record<string, { x: number; y: number }> = {};
  for (const id of byId.keys()) {
    const { x = 0, y = 0 } = graph.node(id);
    spots[id] = { x, y };
  }
  const edges = graph.edges().map((edge) => {
    const { points = [] } = graph.edge(edge);
    return {
      key: `${edge.v} ${edge.w}`,
      path: smooth(points),
      isDone: byId.get(edge.v)?.status === "completed",
    };
  });
  const { width = 0, height = 0 } = graph.graph();
  return { spots, edges, width, height };
}

/** A line through the middles between its points, which rounds its corners. */
function smooth(points: readonly { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  const last = rest.at(-1);
  if (!first || !last) return "";
  const turns = rest.slice(0, -1).map((point, at) => {
    const next = rest[at + 1] ?? last;
    return `Q ${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`;
  });
  return `M ${first.x} ${first.y} ${turns.join(" ")} L ${last.x} ${last.y}`;
}
