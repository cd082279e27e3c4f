"use client";

import { useQuery } from "@tanstack/react-query";
import { CircleAlert, CircleCheck, Plus, X } from "lucide-react";
import { useContext, useEffect } from "react";
import { keyError } from "@/components/forms/crew/assignments-field";
import { DraftField } from "@/components/forms/fields/draft-field";
import { freshKey } from "@/components/forms/fields/named-rows";
import { FormParts } from "@/components/forms/form-parts";
import { PresetField, TypeDetails, TypeSelect } from "@/components/forms/schema/schema-field";
import { asSchema } from "@/components/forms/schema/schema-labels";
import { readRow, type SchemaRow, writeRow } from "@/components/forms/schema/schema-rows";
import { useVariables, Variables } from "@/components/forms/variables";
import { CapabilityList } from "@/components/import-export/capability-list";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { IconButton } from "@/components/ui/icon-button";
import { Select } from "@/components/ui/input/select";
import { TextArea } from "@/components/ui/input/text-area";
import { WORKFLOW_LIMITS } from "@/server/domain/agent/limits-form";
import { RunConfig } from "@/server/domain/agent/outcome";
import { ProjectContext } from "@/server/domain/agent/project";
import type { FormPart } from "@/server/domain/base/form";
import { entriesOf, isObject } from "@/server/domain/base/guards";
import { isSameJson } from "@/server/domain/base/json";
import type { Json, JsonSchema } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import {
  REDUCERS,
  type Reducer,
  reducerOf,
  stateProperties,
} from "@/server/domain/graph/keys/state-properties";
import { getNodeKind } from "@/server/domain/nodes";
import { useEditor, useEditorStore } from "../editing/editor-store";
import { edits } from "../editing/edits";
import { useUiStore } from "../ui-store";
import { useAllow } from "../use-grants";
import { ProblemsContext } from "../use-problems";

/** The workflow as a whole: shown when nothing is selected. */
export function WorkflowInspector() {
  const name = useEditor(({ doc }) => doc.name);
  const graph = useEditor(({ doc }) => doc.graph);
  const store = useEditorStore();
  const set = useSetWorkflow();
  return (
    <>
      <header className="sticky top-0 z-5 border-b border-line bg-surface px-4 pt-4 pr-12 pb-3">
        <h2 className="text-[13px] font-semibold">Workflow</h2>
        <p className="text-xs text-ink-3">{describeSize(graph)}</p>
      </header>
      <div className="flex flex-col gap-5 px-4 py-5">
        <ProblemNote />
        <div data-field="name">
          <DraftField
            label="Name"
            value={name}
            onCommit={store.getState().rename}
            check={(text) =>
              text.trim() === "" ? "Enter a name." : text.length > 200 ? "Use at most 200 characters." : null
            }
          />
        </div>
        <div data-field="description">
          <TextArea
            label="Description"
            aside="Optional"
            rows={2}
            maxLength={4000}
            value={graph.description ?? ""}
            onValueChange={(text) => set({ description: text === "" ? null : text })}
          />
        </div>
        <div data-field="start_node_id">
          <Select
            label="Start node"
            options={Object.values(graph.nodes)
              .filter(({ node_type }) => getNodeKind(node_type).executes !== false)
              .map(({ id, name }) => ({ value: id, label: name || id }))}
            value={graph.start_node_id ?? null}
            onValueChange={(start_node_id) => set({ start_node_id })}
            placeholder="Choose a node…"
          />
        </div>
      </div>
      <ProjectSection />
      <StateKeys graph={graph} />
      <VariablesSection />
      <Limits graph={graph} />
      <Capabilities graph={graph} />
    </>
  );
}

const PROJECT: readonly FormPart<ProjectContext>[] = [
  { key: "project_name", label: "Project name", as: "text", longest: 200, empty: "" },
  { key: "description", label: "Details", as: "multiline", lines: 3, longest: 8000, empty: "" },
  {
    key: "constraints",
    label: "Constraints",
    as: "texts",
    hint: "Rules agents must follow",
    itemName: "constraint",
  },
  {
    key: "conventions",
    label: "Conventions",
    as: "texts",
    hint: "Style and practices agents should follow",
    itemName: "convention",
  },
];
const NO_PROJECT = ProjectContext.parse({});

/** The project context that every agent gets. */
export function ProjectSection() {
  const project = useEditor(({ doc }) => doc.graph.project_context);
  const set = useSetWorkflow();
  return (
    <Disclosure
      variant="section"
      title="Project"
      aside={project?.project_name || (project ? "Unnamed" : "Not set")}
    >
      <p className="text-[13px] text-ink-3">Every agent in a run reads this along with its role and task.</p>
      <div data-field="project_context" className="flex flex-col gap-3">
        <FormParts
          parts={PROJECT}
          value={project ?? NO_PROJECT}
          onChange={(change) => {
            const next = { ...NO_PROJECT, ...change };
            set({ project_context: isSameJson(next, NO_PROJECT) ? undefined : next });
          }}
        />
      </div>
    </Disclosure>
  );
}

/** The workflow's variables, which its nodes read as `vars.NAME`. */
function VariablesSection() {
  const id = useEditor((editor) => editor.id);
  const { data = [] } = useVariables(id);
  return (
    <Disclosure variant="section" title="Variables" aside={data.length === 0 ? "None" : String(data.length)}>
      <p className="text-[13px] text-ink-3">
        Read as vars.NAME in expressions and {"{{vars.NAME}}"} in texts.
      </p>
      <Variables workflowId={id} />
    </Disclosure>
  );
}

/** What runs may use: found in the saved workflow, allowed or not in this installation. */
function Capabilities({ graph }: { graph: WorkflowGraph }) {
  const id = useEditor((editor) => editor.id);
  const saved = useEditor(({ save }) => save.state === "clean");
  const query = useTrpc().workflows.capabilities.queryOptions({ id });
  const { data: grants = [], refetch } = useQuery(query);
  const { change, isPending } = useAllow();
  useEffect(() => {
    if (saved) void refetch();
  }, [saved, refetch]);
  const allowed = grants.flatMap((grant) => (grant.allowed ? [grant.key] : []));
  const withheld = grants.length - allowed.length;
  return (
    <Disclosure
      variant="section"
      title="Permissions"
      aside={
        grants.length === 0
          ? "Models only"
          : withheld > 0
            ? `${withheld} blocked`
            : `${grants.length} ${grants.length === 1 ? "permission" : "permissions"}`
      }
    >
      {grants.length === 0 ? (
        <p className="text-[13px] text-ink-2">No tools, hosts, programs or persistent memory.</p>
      ) : (
        <CapabilityList
          title="Allowed"
          asked={grants}
          graph={graph}
          allowed={allowed}
          disabled={isPending}
          onAllowed={(keys) =>
            change({
              allow: keys.filter((key) => !allowed.includes(key)),
              withhold: allowed.filter((key) => !keys.includes(key)),
            })
          }
        />
      )}
    </Disclosure>
  );
}

function describeSize({ nodes, edges }: WorkflowGraph): string {
  const count = Object.values(nodes).filter(
    ({ node_type }) => getNodeKind(node_type).executes !== false,
  ).length;
  return `${count} ${count === 1 ? "node" : "nodes"}, ${edges.length} ${edges.length === 1 ? "connection" : "connections"}`;
}

function ProblemNote() {
  const problems = useContext(ProblemsContext);
  const ui = useUiStore();
  const errors = problems.filter(({ severity }) => severity === "error").length;
  if (problems.length === 0)
    return (
      <p className="flex items-center gap-2 text-[13px] text-ink-2">
        <CircleCheck aria-hidden className="size-4 text-completed" /> Ready to run
      </p>
    );
  return (
    <button
      type="button"
      onClick={() => ui.setState({ side: "problems" })}
      className="flex items-center gap-2 rounded-lg bg-sunken px-3 py-2 text-left text-[13px] hover:bg-ink/6"
    >
      <CircleAlert aria-hidden className={errors > 0 ? "size-4 text-failed" : "size-4 text-waiting"} />
      {errors > 0
        ? `${errors} ${errors === 1 ? "problem prevents" : "problems prevent"} this workflow from running`
        : `${problems.length} ${problems.length === 1 ? "warning" : "warnings"}`}
    </button>
  );
}

/** The keys of the state: their types, defaults, and what happens when several nodes write one. */
export function StateKeys({ graph }: { graph: WorkflowGraph }) {
  const set = useSetWorkflow();
  const properties = stateProperties(graph);
  const declared = Object.keys(properties);
  const written = Object.values(graph.nodes).flatMap(({ output_keys }) => output_keys);
  const undeclared = [...new Set(written)].filter((key) => !declared.includes(key));
  // As in the file, including schemas that no form can show, such as `true`.
  const asWritten = graph.global_state_schema?.properties;
  const held = Object.entries(isObject(asWritten) ? asWritten : {});
  const write = (next: Record<string, Json>) => {
    const { properties: _old, ...rest } = graph.global_state_schema ?? { type: "object" };
    const isEmpty = Object.keys(next).length === 0 && Object.keys(rest).every((key) => key === "type");
    set({ global_state_schema: isEmpty ? null : { ...rest, properties: next } });
  };
  const change = (key: string, property: JsonSchema) =>
    write(Object.fromEntries(held.map(([k, v]) => [k, k === key ? property : v])));
  return (
    <Disclosure
      variant="section"
      title="State"
      aside={[...declared, ...undeclared].join(", ") || "No keys yet"}
    >
      <p className="text-[13px] text-ink-3">
        Values that nodes read and write. Add a key to set its type, default or merge rule.
      </p>
      <ul className="flex flex-col gap-2 empty:hidden">
        {declared.map((key, at) => (
          <li key={key} className="flex flex-col gap-2 rounded-lg border border-line bg-bg p-2.5">
            <KeyRow
              name={key}
              property={properties[key] ?? {}}
              reducer={reducerOf(graph, key)}
              names={declared}
              at={at}
              onRename={(name) => write(Object.fromEntries(held.map(([k, v]) => [k === key ? name : k, v])))}
              onChange={(property) => change(key, property)}
              onRemove={() => write(Object.fromEntries(held.filter(([k]) => k !== key)))}
            />
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap gap-1.5">
        {undeclared.map((key) => (
          <Button
            key={key}
            size="sm"
            variant="ghost"
            icon={<Plus aria-hidden />}
            onClick={() => write({ ...Object.fromEntries(held), [key]: { type: "string" } })}
          >
            <code className="font-mono text-xs">{key}</code>
          </Button>
        ))}
        <Button
          size="sm"
          icon={<Plus aria-hidden />}
          onClick={() => {
            const key = freshKey("key", declared);
            write({ ...Object.fromEntries(held), [key]: { type: "string" } });
          }}
        >
          Add key
        </Button>
      </div>
    </Disclosure>
  );
}

interface KeyRowProps {
  name: string;
  property: JsonSchema;
  reducer: Reducer;
  names: readonly string[];
  at: number;
  onRename: (name: string) => void;
  onChange: (property: JsonSchema) => void;
  onRemove: () => void;
}

function KeyRow({ name, property, reducer, names, at, onRename, onChange, onRemove }: KeyRowProps) {
  const row = readRow(name, property, false);
  const changeRow = (next: SchemaRow) => {
    const written = writeRow(next);
    // `true` and `false` are schemas, too; as a key of the state only the first can be.
    onChange(asSchema(written) ?? {});
  };
  return (
    <>
      <div className="flex items-center gap-1.5">
        <DraftField
          label={`Key ${at + 1}`}
          hideLabel
          mono
          value={name}
          onCommit={onRename}
          check={(text) => keyError(text, names, at)}
          fieldClassName="flex-1"
        />
        <TypeSelect row={row} onChange={changeRow} />
        <IconButton
          label={`Remove ${name}`}
          size="sm"
          variant="danger"
          icon={<X aria-hidden />}
          onClick={onRemove}
        />
      </div>
      <TypeDetails row={row} onChange={changeRow} />
      <div className="grid grid-cols-2 gap-2">
        <PresetField row={row} onChange={changeRow} />
        <Select<Reducer>
          label={`Merge rule for ${name}`}
          hideLabel
          options={entriesOf(REDUCERS).map(([value, label]) => ({ value, label }))}
          value={reducer}
          onValueChange={(next) =>
            onChange(cleaned({ ...property, "x-reducer": next === "last" ? undefined : next }))
          }
        />
      </div>
    </>
  );
}

/** What one run may take at most. */
function Limits({ graph }: { graph: WorkflowGraph }) {
  const set = useSetWorkflow();
  const config = graph.config ?? RunConfig.parse({});
  return (
    <Disclosure
      variant="section"
      title="Run limits"
      aside={
        config.budget.max_cost_usd == null ? `${config.max_steps} steps` : `$${config.budget.max_cost_usd}`
      }
    >
      <FormParts parts={WORKFLOW_LIMITS} value={config} onChange={(next) => set({ config: next })} />
    </Disclosure>
  );
}

function useSetWorkflow() {
  const store = useEditorStore();
  return (
    patch: Partial<
      Pick<
        WorkflowGraph,
        "description" | "global_state_schema" | "config" | "start_node_id" | "project_context"
      >
    >,
  ) => store.getState().edit(edits.setWorkflow, { patch }, { mergeKey: Object.keys(patch).join(" ") });
}

const cleaned = (schema: Record<string, Json | undefined>): JsonSchema =>
  Object.fromEntries(
    Object.entries(schema).flatMap(([word, value]) => (value === undefined ? [] : [[word, value]])),
  );
