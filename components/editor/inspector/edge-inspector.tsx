"use client";

import { ArrowRight, Trash2 } from "lucide-react";
import { ConditionBuilder } from "@/components/forms/fields/condition-builder";
import { DraftField } from "@/components/forms/fields/draft-field";
import { LabelField } from "@/components/forms/fields/label-field";
import { FormScopeContext } from "@/components/forms/form-scope";
import { exitLabels } from "@/components/forms/ports";
import { useVariables } from "@/components/forms/variables";
import { Disclosure } from "@/components/ui/disclosure";
import { IconButton } from "@/components/ui/icon-button";
import { Field } from "@/components/ui/input/field";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { Select } from "@/components/ui/input/select";
import { Switch } from "@/components/ui/input/switch";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { StateKey } from "@/server/domain/base/values";
import type { WorkflowEdge, WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, routerKindOf } from "@/server/domain/nodes";
import { keysAvailableAt } from "@/server/domain/problems/problems";
import { useEditorCommands } from "../commands";
import { useEditor, useEditorStore } from "../editing/editor-store";
import { edits } from "../editing/edits";
import { useProblemsAt } from "../use-problems";
import { FieldFrame, mistakeAt } from "./node-form";

/** Edits one edge: when it is taken. */
export function EdgeInspector({ id, roles }: { id: string; roles: readonly RoleDefinition[] }) {
  const graph = useEditor(({ doc }) => doc.graph);
  const edge = graph.edges.find((known) => known.id === id);
  return edge ? <Inspector key={id} graph={graph} edge={edge} roles={roles} /> : null;
}

function Inspector({
  graph,
  edge,
  roles,
}: {
  graph: WorkflowGraph;
  edge: WorkflowEdge;
  roles: readonly RoleDefinition[];
}) {
  const store = useEditorStore();
  const problems = useProblemsAt("edge", edge.id);
  const source = graph.nodes[edge.source_node_id];
  const target = graph.nodes[edge.target_node_id];
  const set = (patch: Partial<WorkflowEdge>) =>
    store
      .getState()
      .edit(
        edits.setEdge,
        { id: edge.id, patch },
        { mergeKey: `${edge.id} ${Object.keys(patch).join(" ")}` },
      );
  const variables = useVariables(store.getState().id).data?.map(({ name }) => name);
  if (!source || !target) return null;
  const isRouter = !!getNodeKind(source.node_type).routes;
  const scope = { graph, node: source, roles, keys: keysAvailableAt(graph, target.id), variables };
  const isPlain = edge.kind === "normal";
  // Comes first where it alone decides, and last for a router.
  const condition = (labelProps: { label: string; hint: string }) => (
    <FieldFrame field="condition" problems={problems}>
      <Field {...labelProps} error={mistakeAt(problems, "condition")} group>
        <ConditionBuilder
          label="Connection condition"
          value={edge.condition ?? ""}
          onChange={(text) => set({ condition: text.trim() === "" ? undefined : text })}
        />
      </Field>
    </FieldFrame>
  );
  return (
    <FormScopeContext.Provider value={scope}>
      <Header source={source} target={target} />
      <div className="flex flex-col gap-5 px-4 py-5">
        {!isRouter && (
          <SegmentedControl
            label="Follow on"
            fill
            options={[
              { value: "normal", label: "Success" },
              { value: "error", label: "Error" },
            ]}
            value={edge.kind}
            onValueChange={(kind) => set({ kind })}
          />
        )}
        {isRouter && isPlain && <RouterChoice {...{ graph, edge, problems }} onChange={set} />}
        {!isRouter &&
          isPlain &&
          condition({ label: "Condition", hint: "Leave empty to always follow this connection" })}
      </div>
      {isPlain && (
        <Disclosure variant="section" title="Advanced" aside={edge.condition_name ?? undefined}>
          {!isRouter && <LineLabel label={edge.edge_label} onChange={(edge_label) => set({ edge_label })} />}
          <KeyGuard edge={edge} problems={problems} onChange={(condition_name) => set({ condition_name })} />
          {isRouter &&
            condition({ label: "Extra condition", hint: "Must also be true to follow this route" })}
        </Disclosure>
      )}
    </FormScopeContext.Provider>
  );
}

function Header({ source, target }: { source: WorkflowNode; target: WorkflowNode }) {
  const store = useEditorStore();
  const commands = useEditorCommands();
  return (
    <header className="sticky top-0 z-5 flex items-start gap-2 border-b border-line bg-surface px-4 pt-4 pr-12 pb-4">
      <div className="min-w-0 flex-1">
        <h2 className="text-[13px] font-semibold">Connection</h2>
        <p className="mt-1 flex flex-wrap items-center gap-1.5 text-[13px] text-ink-2">
          <NodeLink name={source.name} onClick={() => store.getState().select({ nodes: [source.id] })} />
          <ArrowRight aria-label="to" className="size-3.5 text-ink-3" />
          <NodeLink name={target.name} onClick={() => store.getState().select({ nodes: [target.id] })} />
        </p>
      </div>
      <IconButton
        label="Delete"
        shortcut="Del"
        size="sm"
        variant="danger"
        icon={<Trash2 aria-hidden />}
        onClick={commands.remove}
      />
    </header>
  );
}

function LineLabel(props: { label: string | null | undefined; onChange: (label: string | null) => void }) {
  const { label, onChange } = props;
  return (
    <div data-field="edge_label">
      <LabelField
        label="Label"
        hint="Text shown on the connection"
        value={label ?? ""}
        onChange={(text) => onChange(typeof text === "string" ? text : null)}
      />
    </div>
  );
}

function KeyGuard({
  edge,
  problems,
  onChange,
}: {
  edge: WorkflowEdge;
  problems: ReturnType<typeof useProblemsAt>;
  onChange: (key: string | null) => void;
}) {
  return (
    <FieldFrame field="condition_name" problems={problems}>
      <DraftField
        label="Guard key"
        hint="Followed only if this state key is true"
        mono
        value={edge.condition_name ?? ""}
        onCommit={(text) => onChange(text === "" ? null : text)}
        check={(text) =>
          text === "" || StateKey.safeParse(text).success
            ? null
            : "Use letters, digits and _ (at most 64), no spaces."
        }
      />
    </FieldFrame>
  );
}

function NodeLink({ name, onClick }: { name: string; onClick: () => void }) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="max-w-full truncate rounded font-medium text-ink underline decoration-line-strong underline-offset-2 hover:text-accent"
    >
      {name}
    </button>
  );
}

/** When the router takes this edge. */
function RouterChoice({
  graph,
  edge,
  problems,
  onChange,
}: {
  graph: WorkflowGraph;
  edge: WorkflowEdge;
  problems: ReturnType<typeof useProblemsAt>;
  onChange: (patch: Partial<WorkflowEdge>) => void;
}) {
  return (
    <>
      <FieldFrame field="edge_label" problems={problems}>
        <RouterLabel
          graph={graph}
          edge={edge}
          error={mistakeAt(problems, "edge_label")}
          onChange={(edge_label) => onChange({ edge_label })}
        />
      </FieldFrame>
      <div data-field="is_default">
        <Switch
          label="Otherwise"
          hint="Used when no other route matches"
          checked={edge.is_default}
          onCheckedChange={(is_default) => onChange({ is_default })}
        />
      </div>
    </>
  );
}

interface LabelProps {
  graph: WorkflowGraph;
  edge: WorkflowEdge;
  error: string | undefined;
  onChange: (label: string | null) => void;
}

/** Which of the router's routes this edge is; any label where a value or a model decides. */
function RouterLabel({ graph, edge, error, onChange }: LabelProps) {
  const source = graph.nodes[edge.source_node_id];
  const labels = exitLabels(graph, edge.source_node_id);
  const by = routerKindOf(source);
  const takesAny = by === "llm" || by === "value";
  const hint =
    by === "llm"
      ? "The model sees only these names and the next nodes' descriptions"
      : "Followed when the router returns this name";
  if (takesAny || labels.length === 0)
    return (
      <LabelField
        label="Route"
        hint={hint}
        error={error}
        placeholder="approved"
        value={edge.edge_label ?? ""}
        onChange={(text) => onChange(typeof text === "string" ? text : null)}
      />
    );
  return (
    <Select
      label="Route"
      hint={hint}
      error={error}
      options={labels.map((value) => ({ value, label: value }))}
      value={edge.edge_label ?? null}
      onValueChange={onChange}
    />
  );
}
