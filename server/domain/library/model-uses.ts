import { type LlmConfig, llmOver } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { CrewConfig } from "@/server/domain/crew/crew";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { getNodeKind, settingsOf, type WorkflowNode } from "../nodes";

/** The part of a model's settings that says which model is meant; empty: the standard one. */
export type ModelChoice = Pick<LlmConfig, "provider_id" | "model">;

/** A place in a workflow that calls a model. */
export interface ModelUse {
  node: WorkflowNode;
  /** The field of the node's settings. */
  field: string;
  choice: ModelChoice;
}

/** Every model that a run of the workflow may call, found by the fields that name models. */
export function modelUses(graph: Pick<WorkflowGraph, "nodes">): ModelUse[] {
  return Object.values(graph.nodes).flatMap((node) => {
    const settings = settingsOf(node);
    return getNodeKind(node.node_type).fields.flatMap((field) => {
      if (field.showIf && !field.showIf(node.config)) return [];
      // A fallback model answers where the first one fails, so it is as much in use.
      const use = (llm: LlmConfig = {}): ModelUse[] =>
        [llm, ...(llm.fallback_models ?? [])].map((one) => ({
          node,
          field: field.key,
          choice: choiceOf(one),
        }));
      if (field.as === "llm") return use(llmOver(settings.agent?.llm_config, settings[field.key]));
      if (field.as !== "crew") return [];
      const { agents = [], manager }: Partial<CrewConfig> = settings[field.key] ?? {};
      const own = [...agents, ...(manager ? [manager] : [])];
      return own.length > 0 ? own.flatMap(({ llm_config }) => use(llm_config)) : use();
    });
  });
}

const choiceOf = ({ provider_id, model }: ModelChoice): ModelChoice => ({
  ...defined({ provider_id: provider_id || undefined, model: model || undefined }),
});

/** Names a choice in records. */
export const choiceKey = ({ provider_id = "", model = "" }: ModelChoice) => `${provider_id}/${model}`;

/** Whether a choice is left to the settings. */
export const isStandard = ({ provider_id, model }: ModelChoice) => !provider_id && !model;
