"use client";

import { useMutation } from "@tanstack/react-query";
import { useInvalidate, useTrpc } from "@/components/trpc";
import { Field } from "@/components/ui/input/field";
import { Picker } from "@/components/ui/input/picker";
import { PageLink } from "@/components/ui/page-link";
import { bodyFieldOf } from "@/server/domain/graph/bodies";
import { callPath } from "@/server/domain/graph/callable";
import { bodyError, graphOfBody } from "@/server/domain/graph/called";
import { inputFields, type RunInputField } from "@/server/domain/graph/run-input";
import {
  getNodeKind,
  isExecutable,
  settingsOf,
  type WorkflowNode,
  withSettings,
} from "@/server/domain/nodes";
import type { FieldProps } from "../field-props";
import { type FormScope, useFormScope } from "../form-scope";
import { useCallableWorkflows, useCalledWorkflows } from "../use-callable-workflows";

type Props = FieldProps<string | undefined> & { field: { key: string } };

/** Picks a workflow to run, or creates one. Those that would run themselves can't be chosen. */
export function WorkflowField({ label, hideLabel, hint, error, value, onChange, field }: Props) {
  const scope = useFormScope();
  const trpc = useTrpc();
  const self = scope.workflowId ?? "";
  const workflows = useCallableWorkflows();
  const called = useCalledWorkflows(self);
  const invalidate = useInvalidate("workflows");
  const create = useMutation(
    trpc.workflows.create.mutationOptions({
      onSuccess: async ({ id }, { name }) => {
        await invalidate();
        if (!choose(scope, "Choose workflow", field.key, id, { name, inputs: [] })) onChange(id);
      },
    }),
  );
  const id = typeof value === "string" && value !== "" ? value : null;
  const whyNot = (other: string): string | undefined => {
    if (other === self) return "This workflow";
    const path = called && callPath(called, "This workflow", other);
    return path?.isCycle ? `Runs this workflow: ${path.names.join(" → ")}` : undefined;
  };
  const options = (workflows ?? []).map(({ id: other, name, inputs }) => {
    const reason = whyNot(other);
    const keys = inputs.map(({ key }) => key).join(", ");
    return { value: other, label: name, hint: reason ?? keys, disabled: reason !== undefined };
  });
  const isMissing = id !== null && workflows !== undefined && !workflows.some((known) => known.id === id);
  return (
    <div className="flex flex-col gap-1">
      <Picker
        {...{ label, hideLabel, error }}
        hint={workflows && !options.some(({ disabled }) => !disabled) ? "None yet: create one" : hint}
        options={isMissing ? [...options, { value: id, label: id, hint: "Not found" }] : options}
        value={id}
        placeholder="Choose a workflow…"
        searchPlaceholder="Search workflows…"
        onValueChange={(next) => {
          const workflow = called?.find(next);
          if (!workflow || !choose(scope, "Choose workflow", field.key, next, workflow)) onChange(next);
        }}
        create={{
          label: (text) => (text === "" ? "New workflow…" : `Create “${text}”`),
          onCreate: (name) => create.mutate(name === "" ? {} : { name }),
        }}
      />
      {id !== null && !isMissing ? (
        <PageLink
          href={`/workflows/${id}`}
          className="self-start text-[13px] text-ink-2 underline underline-offset-2 hover:text-accent"
        >
          Open workflow
        </PageLink>
      ) : null}
    </div>
  );
}

const NONE = "(none)";

/** Picks what a node repeats: a node or group of the canvas that nothing leads to. */
export function BodyField({ label, hideLabel, hint, error, value, onChange, field }: Props) {
  const scope = useFormScope();
  const { graph, node } = scope;
  const id = typeof value === "string" && value !== "" ? value : null;
  const bodies = node ? bodiesFor(scope, node.id) : [];
  if (bodies.length === 0 && id === null)
    return (
      <Field group {...{ label, hideLabel, error }}>
        <p className="text-[13px] text-ink-3">Place a node without connections, or choose a workflow.</p>
      </Field>
    );
  const isMissing = id !== null && !bodies.some(({ value: known }) => known === id);
  return (
    <Picker
      {...{ label, hideLabel, hint, error }}
      options={[
        { value: NONE, label: "A workflow", hint: "Choose it below" },
        ...bodies,
        ...(isMissing ? [{ value: id, label: graph.nodes[id]?.name || id, hint: "Can't be repeated" }] : []),
      ]}
      value={id ?? (settingsOf(node ?? NO_NODE).workflow_id ? NONE : null)}
      placeholder="Choose a node or group…"
      searchPlaceholder="Search nodes and groups…"
      onValueChange={(next) => {
        if (next === NONE) return onChange(undefined);
        const part = graphOfBody(graph, next);
        if (!part || !choose(scope, "Choose body", field.key, next, { inputs: inputFields(part) }))
          onChange(next);
      }}
    />
  );
}

const NO_NODE = { config: {} } as const;

function bodiesFor({ graph }: FormScope, ownerId: string) {
  const groups = (graph.groups ?? []).map(({ id, name }) => ({
    value: id,
    label: name || "Group",
    hint: "Group",
  }));
  const nodes = Object.values(graph.nodes)
    .filter(isExecutable)
    .map(({ id, name }) => ({ value: id, label: name || id, hint: "Node" }));
  return [...groups, ...nodes].filter(({ value }) => bodyError(graph, ownerId, value) === null);
}

/**
 * Sets what a node runs, and the inputs that this needs, in one step: as far as they are not given, from a key of the same
 * name, or from the item. A node of a default name takes that of the workflow. False if the form is not that of a node.
 */
function choose(
  { node, keys, change }: FormScope,
  label: string,
  field: string,
  id: string,
  { name, inputs }: { name?: string | undefined; inputs: readonly Pick<RunInputField, "key" | "required">[] },
): boolean {
  if (!node || !change) return false;
  const repeats = bodyFieldOf(node.node_type) !== undefined;
  const given = settingsOf(node).input ?? {};
  const wanted = inputs.filter(({ key, required }) => required && !Object.hasOwn(given, key));
  const itemOf = (key: string) => (wanted.length === 1 ? "item" : `item.${key}`);
  const isKnown = (key: string) => keys.some((known) => known.key === key);
  const valueOf = (key: string) => (repeats ? itemOf(key) : isKnown(key) ? `state.${key}` : "");
  const added = wanted.map(({ key }) => [key, valueOf(key)] as const);
  change(label, (graph) => {
    const now = graph.nodes[node.id];
    if (!now) return graph;
    const config = { ...now.config, [field]: id, input: { ...given, ...Object.fromEntries(added) } };
    const isNameFree = name && !Object.values(graph.nodes).some((other) => other.name === name);
    const named = !repeats && isNameFree && hasDefaultName(now) ? { ...now, name } : now;
    return { ...graph, nodes: { ...graph.nodes, [node.id]: withSettings(named, config) } };
  });
  return true;
}

/** Whether a node has the name that it was added with: "Sub-workflow", "Sub-workflow 2". */
function hasDefaultName({ node_type, name }: WorkflowNode): boolean {
  const { newNode, title } = getNodeKind(node_type);
  return name.replace(/ \d+$/, "") === (newNode?.().name ?? title);
}
