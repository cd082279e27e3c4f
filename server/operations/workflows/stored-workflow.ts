import { z } from "zod";
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
