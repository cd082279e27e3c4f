import { z } from "zod";
import { type CallableWorkflow, type CalledWorkflows, toCallable } from "@/server/domain/graph/callable";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { StoredWorkflow } from "@/server/store/workflows";
import { notFound } from "../rejections";
import type { Services } from "../services";

/** What names one workflow. */
export const ById = z.object({ id: z.string() });

/** The workflow with this id. Throws not_found. */
export function workflowOf(services: Pick<Services, "workflows">, id: string): StoredWorkflow {
  const workflow = services.workflows.find(id);
  if (!workflow) throw notFound("workflow");
  return workflow;
}

const interfaces = new WeakMap<WorkflowGraph, Omit<CallableWorkflow, "id" | "name">>();

/** The workflow as nodes of others see it. Computed once per revision: the store keeps its graph. */
export function interfaceOf({ id, name, graph }: StoredWorkflow): CallableWorkflow {
  let known = interfaces.get(graph);
  if (!known) interfaces.set(graph, (known = toCallable(graph)));
  return { id, name, ...known };
}

/** The saved workflows, for checking one of them. */
export const workflowsAround = (
  { workflows }: Pick<Services, "workflows">,
  self: string,
): CalledWorkflows => ({
  self,
  find(id) {
    const found = workflows.find(id);
    return found && interfaceOf(found);
  },
});
