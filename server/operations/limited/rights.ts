import { recordOf, textsOf } from "@/server/domain/base/guards";
import { Rejection } from "@/server/domain/errors/rejection";
import { calledWorkflows } from "@/server/domain/graph/called";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { Memory } from "@/server/store/library/memories/memories";
import { notFound } from "../rejections";
import type { Services } from "../services";
import { refuse } from "./views";

export type Rights = ReturnType<typeof newRights>;

/** What a token limited to these workflows may see (`has…`) and use (`need…`, which throw not_found or not_allowed). */
export function newRights(
  services: Pick<Services, "runs" | "memories" | "triggerStore" | "bin" | "workflows" | "versions">,
  ids: ReadonlySet<string>,
) {
  const hasWorkflow = (id: string | null | undefined): boolean => typeof id === "string" && ids.has(id);
  // A child run belongs to its parent's workflow: a token for that workflow may see it.
  const hasRun = (id: string): boolean => hasWorkflow(services.runs.owner(id));
  const needWorkflow = (id: string): void => {
    if (!hasWorkflow(id)) throw notFound("workflow");
  };
  /** Refuses a graph that runs foreign workflows, unless the draft or the published version does: a token could run any through its own. */
  const needCalls = (id: string, graph: WorkflowGraph): void => {
    const inUse = [services.workflows.find(id), services.versions.newest(id)];
    const known = new Set(inUse.flatMap((one) => (one ? calledWorkflows(one.graph) : [])));
    if (calledWorkflows(graph).some((called) => !known.has(called) && !hasWorkflow(called))) refuse();
  };
  const needRun = (id: string): void => {
    if (!hasRun(id)) throw notFound("run");
  };
  const runOfScope = (scope_id: string): string => scope_id.split("/")[0] ?? "";
  const belongs = ({ scope, scope_id }: Pick<Memory, "scope" | "scope_id">): boolean =>
    scope === "workflow"
      ? hasWorkflow(scope_id)
      : scope !== "project" && scope !== "global" && hasRun(runOfScope(scope_id));
  // Shared memories can be read, unless a run of another workflow wrote them.
  const hasMemory = (memory: Memory): boolean =>
    belongs(memory) ||
    ((memory.scope === "project" || memory.scope === "global") &&
      (memory.source.run_id === undefined || hasRun(memory.source.run_id)));
  const needMemory = (id: number): void => {
    const memory = services.memories.find(id);
    if (!memory || !hasMemory(memory))
      throw new Rejection("not_found", "This memory has expired or was deleted.");
    if (!belongs(memory)) refuse();
  };
  const needTrigger = (id: string): void => {
    if (!hasWorkflow(services.triggerStore.find(id)?.workflow_id)) throw notFound("trigger");
  };
  /** Library items in the bin need a token that may change the library. */
  const hasBinned = ({ kind, id }: { kind: string; id: string }): boolean => {
    if (kind === "workflow") return hasWorkflow(id);
    if (kind === "run") return hasRun(id);
    if (kind !== "test" && kind !== "memory") return false;
    const thing = recordOf(JSON.parse(services.bin.content(kind, id)?.content ?? "null"));
    if (kind === "test") return hasWorkflow(textsOf([thing.workflow_id])[0]);
    const [scope_id = ""] = textsOf([thing.scope_id]);
    return belongs({ scope: thing.scope as Memory["scope"], scope_id });
  };

  return {
    ids,
    hasWorkflow,
    hasRun,
    needWorkflow,
    needCalls,
    needRun,
    belongs,
    hasMemory,
    needMemory,
    needTrigger,
    hasBinned,
  };
}
