import { asStored } from "@/server/domain/base/json";
import { sizeOf } from "@/server/domain/base/sizes";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { RunEventOf } from "@/server/domain/run/events";

type Created = RunEventOf<"run_created">;

/** Max memory for the initial data of queued runs, in characters; beyond it, they are read from their logs. */
const MOST_CHARS = 16 * 1024 * 1024;

const graphs = new WeakMap<WorkflowGraph, WorkflowGraph>();

/** A graph as read from a log. Runs of the same graph share one object, and with it everything computed from it. */
function storedGraph(graph: WorkflowGraph): WorkflowGraph {
  let stored = graphs.get(graph);
  if (!stored) graphs.set(graph, (stored = asStored(graph)));
  return stored;
}

/** The first event of a run exactly as its log gives it back, so that a replay begins with the same. */
export function storedCreation({ payload: { graph, ...payload }, ...event }: Created): Created {
  return { ...event, payload: { graph: storedGraph(graph), ...asStored(payload) } };
}

/** The first events of runs that were created here and wait for their turn, so that their logs need not be read back. */
export class CreationCache {
  private readonly kept = new Map<string, Created>();
  private chars = 0;

  keep(runId: string, created: Created): void {
    const size = sizeOf(created.payload);
    if (this.chars + size > MOST_CHARS) return;
    this.chars += size;
    this.kept.set(runId, created);
  }

  /** Gives a run's first event away; undefined where its log has to be read. */
  take(runId: string): Created | undefined {
    const created = this.kept.get(runId);
    if (!created) return undefined;
    this.kept.delete(runId);
    this.chars -= sizeOf(created.payload);
    return created;
  }
}
