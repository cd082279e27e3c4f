import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { isAgentNode, isCrewNode } from "@/server/domain/nodes";
import type { Variant } from "@/server/domain/scenario/variant";

/** A variant as its row shows it. */
export interface VariantDraft {
  id: number;
  kind: "as_it_is" | "model" | "prompt";
  /** Empty: it is named by what it is. */
  name: string;
  provider_id: string;
  model: string;
  node_id: string;
  prompt: string;
}

export const newVariant = (id: number, kind: VariantDraft["kind"]): VariantDraft => ({
  id,
  kind,
  name: "",
  provider_id: "",
  model: "",
  node_id: "",
  prompt: "",
});

/** The nodes whose prompt could be another: those at which an agent or a crew works. */
export const workingNodes = ({ nodes }: WorkflowGraph) =>
  Object.values(nodes)
    .filter((node) => isAgentNode(node) || isCrewNode(node))
    .map(({ id, name }) => ({ value: id, label: name || id }));

/** The prompt of a node as it is drawn. */
export function promptOf({ nodes }: WorkflowGraph, id: string): string {
  const node = nodes[id];
  if (isAgentNode(node)) return node.config.task_description_template;
  return isCrewNode(node) ? node.config.plan_description_template : "";
}

/** What a variant is called where nobody gave it a name. */
export function usualName(
  { kind, provider_id, model, node_id }: VariantDraft,
  { nodes }: WorkflowGraph,
): string {
  const node = nodes[node_id]?.name || node_id;
  switch (kind) {
    case "as_it_is":
      return "As it is";
    case "model":
      return model || provider_id || "Another model";
    case "prompt":
      return node ? `Another prompt at ${node}` : "Another prompt";
  }
}

/** What is missing in a variant, a sentence; null where nothing is. */
export function missingIn({ kind, provider_id, model, node_id, prompt }: VariantDraft): string | null {
  switch (kind) {
    case "as_it_is":
      return null;
    case "model":
      return model.trim() || provider_id ? null : "Choose a model.";
    case "prompt":
      return !node_id ? "Choose whose prompt it is." : prompt.trim() ? null : "Write the prompt.";
  }
}

/** As the server takes it. */
export function toVariant(draft: VariantDraft, graph: WorkflowGraph): Variant {
  const { kind, provider_id, model, node_id, prompt } = draft;
  const name = (draft.name.trim() || usualName(draft, graph)).slice(0, 80);
  const named = model.trim();
  switch (kind) {
    case "as_it_is":
      return { name };
    case "model":
      return {
        name,
        models: { "*": provider_id ? { provider_id, ...(named ? { model: named } : {}) } : named },
      };
    case "prompt":
      return { name, prompts: { [node_id]: prompt } };
  }
}
