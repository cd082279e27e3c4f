import { type InputField, toField } from "@/components/forms/schema/input-fields";
import type { JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { inputFields as runInputFields } from "@/server/domain/graph/run-input";
import { isAgentNode, isCrewNode, isRouterNode } from "@/server/domain/nodes";

/** The form that a workflow's start node asks for. */
export const inputFields = (graph: WorkflowGraph): InputField[] => runInputFields(graph).map(toField);

/** The input that a workflow suggests for a first try. */
export const exampleInput = (graph: WorkflowGraph): JsonObject =>
  Object.fromEntries(
    inputFields(graph).flatMap(({ key, example }) => (example === undefined ? [] : [[key, example]])),
  );

/** The models that the agents of a workflow use; null is the default provider. */
export function modelsAskedFor(graph: WorkflowGraph): { provider_id: string | null; model: string | null }[] {
  const asked = new Map<string, { provider_id: string | null; model: string | null }>();
  const add = (config: { provider_id?: string | undefined; model?: string | undefined } | undefined) => {
    const choice = { provider_id: config?.provider_id ?? null, model: config?.model ?? null };
    asked.set(JSON.stringify(choice), choice);
  };
  for (const node of Object.values(graph.nodes)) {
    if (isAgentNode(node)) add(node.config.llm_config);
    if (isRouterNode(node) && node.config.kind === "llm") add(node.config.llm_config);
    if (isCrewNode(node)) for (const agent of node.config.crew?.agents ?? []) add(agent.llm_config);
  }
  return [...asked.values()];
}
