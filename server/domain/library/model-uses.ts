import { type LlmConfig, llmOver } from "@/server/domain/agent/role";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { getNodeKind, type WorkflowNode } from "../nodes";

/** The part of a model's settings that says which model is meant; empty: the standard one. */
export type ModelChoice = Pick<LlmConfig, "provider_id" | "model">;

/** A place of a drawing that asks a model. */
export interface ModelUse {
  node: WorkflowNode;
  /** The field of the node's settings. */
  field: string;
  choice: ModelChoice;
}

interface CrewLike {
  agents?: readonly { llm_config?: LlmConfig }[];
  manager?: { llm_config?: LlmConfig };
}

/** Every model that a run of the drawing may ask, found by the look of the fields that name models. */
export function modelUses(graph: Pick<WorkflowGraph, "nodes">): ModelUse[] {
  return Object.values(graph.nodes).flatMap((node) => {
    const config: Record<string, unknown> = node.config;
    return (getNodeKind(node.node_type)?.fields ?? []).flatMap(({ key, as, showIf }) => {
      if (showIf && !showIf(node.config)) return [];
      // A fallback model answers where the first one fails, so it is as much in use.
      const use = (llm: LlmConfig = {}): ModelUse[] =>
        [llm, ...(llm.fallback_models ?? [])].map((one) => ({ node, field: key, choice: choiceOf(one) }));
      if (as === "llm") {
        const { agent } = config as { agent?: { llm_config?: LlmConfig } };
        return use(llmOver(agent?.llm_config, config[key] as LlmConfig | undefined));
      }
      if (as !== "crew") return [];
      const { agents = [], manager } = (config[key] ?? {}) as CrewLike;
      const own = [...agents, ...(manager ? [manager] : [])];
      return own.length > 0 ? own.flatMap(({ llm_config }) => use(llm_config)) : use();
    });
  });
}

const choiceOf = ({ provider_id, model }: ModelChoice): ModelChoice => ({
  ...(provider_id ? { provider_id } : {}),
  ...(model ? { model } : {}),
});

/** Names a choice in records. */
export const choiceKey = ({ provider_id = "", model = "" }: ModelChoice) => `${provider_id}/${model}`;

/** Whether a choice is left to the settings. */
export const isStandard = ({ provider_id, model }: ModelChoice) => !provider_id && !model;
