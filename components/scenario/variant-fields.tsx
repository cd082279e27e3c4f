"use client";

import { ModelChoice } from "@/components/forms/fields/model-choice";
import { ErrorText } from "@/components/page/error-text";
import { Select } from "@/components/ui/input/select";
import { TextArea } from "@/components/ui/input/text-area";
import { TextField } from "@/components/ui/input/text-field";
import { FoldedRow, RowList } from "@/components/ui/row-list";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { isAgentNode, isCrewNode } from "@/server/domain/nodes";
import { MOST_VARIANTS } from "@/server/domain/scenario/comparison";
import type { Variant } from "@/server/domain/scenario/variant";

const KINDS = [
  { value: "as_it_is", label: "Unchanged" },
  { value: "model", label: "Different model", hint: "For all model calls" },
  { value: "prompt", label: "Different prompt", hint: "For one agent or crew task" },
] as const;

export function VariantRows({
  graph,
  variants,
  onChange,
  isChecked,
}: {
  graph: WorkflowGraph;
  variants: readonly VariantDraft[];
  onChange: (next: readonly VariantDraft[]) => void;
  /** Shows what is missing. */
  isChecked: boolean;
}) {
  return (
    <RowList
      label="Variants"
      plain
      items={variants}
      addLabel="Add a variant"
      canAdd={variants.length < MOST_VARIANTS}
      newItem={() => newVariant(Math.max(0, ...variants.map(({ id }) => id)) + 1, "model")}
      onItemsChange={onChange}
      removeLabel={(draft) => `Remove ${draft.name || usualName(draft, graph)}`}
    >
      {(draft, at, remove, set) => {
        const missing = isChecked ? missingIn(draft) : null;
        return (
          <>
            <FoldedRow
              key={draft.id}
              label={`Variant ${at + 1}`}
              summary={<span className="min-w-0 truncate">{draft.name || usualName(draft, graph)}</span>}
              remove={remove}
              isOpenAtFirst={missingIn(draft) !== null}
            >
              <VariantFields
                graph={graph}
                draft={draft}
                onChange={(change) => set({ ...draft, ...change })}
              />
            </FoldedRow>
            <ErrorText error={missing} />
          </>
        );
      }}
    </RowList>
  );
}

function VariantFields({
  graph,
  draft,
  onChange,
}: {
  graph: WorkflowGraph;
  draft: VariantDraft;
  onChange: (change: Partial<VariantDraft>) => void;
}) {
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <Select
          label="Change"
          options={KINDS}
          value={draft.kind}
          onValueChange={(kind) => onChange({ kind, node_id: "", prompt: "" })}
        />
        <TextField
          label="Name"
          aside="Optional"
          placeholder={usualName(draft, graph)}
          value={draft.name}
          onValueChange={(name) => onChange({ name })}
        />
      </div>
      {draft.kind === "model" ? (
        <div className="grid grid-cols-2 gap-3">
          <ModelChoice choice={draft} hasDefault onChange={onChange} />
        </div>
      ) : null}
      {draft.kind === "prompt" ? (
        <>
          <Select
            label="Agent or crew task"
            placeholder="Choose…"
            options={workingNodes(graph)}
            value={draft.node_id || null}
            onValueChange={(node_id) => onChange({ node_id, prompt: promptOf(graph, node_id) })}
          />
          {draft.node_id ? (
            <TextArea
              label="Prompt"
              rows={4}
              value={draft.prompt}
              onValueChange={(prompt) => onChange({ prompt })}
            />
          ) : null}
        </>
      ) : null}
    </>
  );
}

export interface VariantDraft {
  id: number;
  kind: "as_it_is" | "model" | "prompt";
  /** Empty: a name from its kind. */
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

/** The nodes with a prompt: those of agents and crews. */
const workingNodes = ({ nodes }: WorkflowGraph) =>
  Object.values(nodes)
    .filter((node) => isAgentNode(node) || isCrewNode(node))
    .map(({ id, name }) => ({ value: id, label: name || id }));

function promptOf({ nodes }: WorkflowGraph, id: string): string {
  const node = nodes[id];
  if (isAgentNode(node)) return node.config.task_description_template;
  return isCrewNode(node) ? node.config.plan_description_template : "";
}

/** The name of a variant without a name. */
function usualName({ kind, provider_id, model, node_id }: VariantDraft, { nodes }: WorkflowGraph): string {
  const node = nodes[node_id]?.name || node_id;
  switch (kind) {
    case "as_it_is":
      return "Unchanged";
    case "model":
      return model || provider_id || "Different model";
    case "prompt":
      return node ? `Prompt for ${node}` : "Different prompt";
  }
}

/** What is missing in a variant; null if it is complete. */
export function missingIn({ kind, provider_id, model, node_id, prompt }: VariantDraft): string | null {
  switch (kind) {
    case "as_it_is":
      return null;
    case "model":
      return model.trim() || provider_id ? null : "Choose a model.";
    case "prompt":
      return !node_id ? "Choose an agent or crew task." : prompt.trim() ? null : "Enter a prompt.";
  }
}

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
