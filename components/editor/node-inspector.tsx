"use client";

import { ArrowRight, Copy, Trash2, Unplug, Waypoints } from "lucide-react";
import { useDeferredValue, useMemo } from "react";
import { KindIcon } from "@/components/canvas/kind-icon";
import { AssignmentsField } from "@/components/forms/assignments-field";
import { DurationField } from "@/components/forms/duration-field";
import { ExpressionField } from "@/components/forms/expression-field";
import { FieldView } from "@/components/forms/field-view";
import { type FormScope, FormScopeContext, writersOf } from "@/components/forms/form-scope";
import { JsonField } from "@/components/forms/json-field";
import { KeysField } from "@/components/forms/keys-field";
import { SchemaField } from "@/components/forms/schema-field";
import { Button } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { IconButton } from "@/components/ui/icon-button";
import { Menu } from "@/components/ui/menu";
import { NumberField } from "@/components/ui/number-field";
import { Select } from "@/components/ui/select";
import { TextArea } from "@/components/ui/text-area";
import { TextField } from "@/components/ui/text-field";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { JsonSchema } from "@/server/domain/base/values";
import { type Analysis, analyse } from "@/server/domain/graph/analysis";
import { stateProperties, type WorkflowGraph, type WorkflowNode } from "@/server/domain/graph/graph";
import { type Field, getNodeKind, isCrewNode, type Join, type NodeBase } from "@/server/domain/nodes";
import { durationText } from "@/server/domain/nodes/wait";
import { keysAvailableAt, type Problem } from "@/server/domain/problems/problems";
import { templateKeys } from "@/server/domain/text/template";
import { useEditorCommands } from "./commands";
import { useEditor, useEditorStore } from "./editor-store";
import { edits } from "./edits";
import { useProblemsAt } from "./use-problems";

/** Everything about one node: drawn from its kind's fields, then what every node has. */
export function NodeInspector({ id, roles }: { id: string; roles: readonly RoleDefinition[] }) {
  const graph = useEditor(({ doc }) => doc.graph);
  const node = graph.nodes[id];
  if (!node) return null;
  return <Inspector key={id} graph={graph} node={node} roles={roles} />;
}

interface Props {
  graph: WorkflowGraph;
  node: WorkflowNode;
  roles: readonly RoleDefinition[];
}

function Inspector({ graph, node, roles }: Props) {
  const kind = getNodeKind(node.node_type);
  const problems = useProblemsAt("node", node.id);
  // What can be read here follows the drawing with a delay: typing comes first, also in large drawings.
  const settled = useDeferredValue(graph);
  const analysis = useMemo(() => analyse(settled), [settled]);
  const keys = useMemo(() => keysAvailableAt(settled, node.id, analysis), [settled, node.id, analysis]);
  const scope: FormScope = { graph, node, roles, keys };
  const runs = kind.executes !== false;
  const canFail = runs && !kind.begins && !kind.ends;
  return (
    <FormScopeContext.Provider value={scope}>
      <NodeHeader node={node} />
      <div className="flex flex-col gap-5 px-4 pt-1 pb-5">
        {kind.begins ? (
          <Inputs node={node} problems={problems} />
        ) : (
          <KindFields node={node} problems={problems} />
        )}
        {isCrewNode(node) ? <UnfoldButton /> : null}
      </div>
      {runs && !kind.begins && <Keys node={node} scope={scope} problems={problems} />}
      <AsideFields node={node} problems={problems} />
      {kind.hasExit !== false && <JoinSection graph={graph} node={node} />}
      {canFail && <Failing node={node} />}
      {analysis.isJoin(node.id) && <Joining node={node} incoming={forwardEdges(analysis, node.id)} />}
      {runs && <Advanced node={node} isLoop={analysis.loops.has(node.id)} problems={problems} />}
    </FormScopeContext.Provider>
  );
}

const forwardEdges = ({ incoming, backEdges }: Analysis, id: string) =>
  (incoming.get(id) ?? []).filter((edge) => !backEdges.has(edge.id)).length;

function NodeHeader({ node }: { node: WorkflowNode }) {
  const kind = getNodeKind(node.node_type);
  const commands = useEditorCommands();
  const set = useSetNode(node.id);
  return (
    <>
      {/* It stays where it is: beside it stands what closes the settings. */}
      <header className="sticky top-0 z-5 flex items-center gap-1 bg-surface px-4 pt-4 pr-12 pb-3">
        <span className="grid size-8 place-items-center rounded-lg bg-sunken text-ink-2">
          <KindIcon name={kind.icon} />
        </span>
        <span className="ml-1.5 min-w-0 flex-1">
          <span className="block text-[13px] font-semibold">{kind.title}</span>
          <span className="block truncate text-xs text-ink-3">{kind.hint}</span>
        </span>
        <IconButton
          label="Duplicate"
          shortcut="Ctrl D"
          size="sm"
          icon={<Copy aria-hidden />}
          onClick={commands.duplicate}
        />
        <IconButton
          label="Delete"
          shortcut="Del"
          size="sm"
          variant="danger"
          icon={<Trash2 aria-hidden />}
          onClick={commands.remove}
        />
      </header>
      <div data-field="name" className="px-4 pb-4">
        <TextField label="Name" value={node.name} maxLength={200} onValueChange={(name) => set({ name })} />
      </div>
    </>
  );
}

function UnfoldButton() {
  const commands = useEditorCommands();
  return (
    <Button size="sm" icon={<Waypoints />} className="self-start" onClick={commands.unfold}>
      Unfold into nodes…
    </Button>
  );
}

/** What a run asks for: the start's keys and the shape of its input, which are one thing to a person. */
function Inputs({ node, problems }: { node: WorkflowNode; problems: readonly Problem[] }) {
  const store = useEditorStore();
  const { input_schema } = node.config as { input_schema?: JsonSchema };
  return (
    <div data-field="input_schema">
      <SchemaField
        label="Asks for"
        hint="What a run asks for when it starts"
        error={errorAt(problems, "input_schema") ?? errorAt(problems, "output_keys")}
        itemName="input"
        value={inputSchema(node.output_keys, input_schema)}
        onChange={(schema) =>
          store
            .getState()
            .edit(
              edits.setInputs,
              { id: node.id, schema: schema as JsonSchema | undefined },
              { mergeKey: node.id },
            )
        }
      />
    </div>
  );
}

/** As runs read it: a key without a shape is a text; without any shape all are required. */
function inputSchema(keys: readonly string[], schema: JsonSchema | undefined): JsonSchema | undefined {
  const properties = (schema?.properties ?? {}) as Record<string, JsonSchema>;
  const missing = keys.filter((key) => !Object.hasOwn(properties, key));
  if (missing.length === 0) return schema;
  const added = Object.fromEntries(missing.map((key) => [key, { type: "string" }]));
  return {
    ...schema,
    type: "object",
    properties: { ...properties, ...added },
    ...(schema ? {} : { required: missing }),
  };
}

/** What can wait behind a line until somebody wants it. */
const isAside = (field: Field, node: WorkflowNode) =>
  field.as === "llm" || (field.as === "schema" && !getNodeKind(node.node_type).begins);

function fieldsOf(node: WorkflowNode): Field[] {
  const config = node.config as Record<string, unknown>;
  const fields = getNodeKind(node.node_type).fields as readonly Field[];
  return fields.filter(({ showIf }) => !showIf || showIf(config));
}

function KindFields({ node, problems }: { node: WorkflowNode; problems: readonly Problem[] }) {
  const fields = fieldsOf(node).filter((field) => !field.isRare && !isAside(field, node));
  return fields.map((field) => <KindField key={field.key} node={node} field={field} problems={problems} />);
}

function AsideFields({ node, problems }: { node: WorkflowNode; problems: readonly Problem[] }) {
  const config = node.config as Record<string, unknown>;
  const fields = fieldsOf(node);
  const rare = fields.filter(({ isRare }) => isRare);
  const said = rare.filter(({ key }) => isSaid(config[key]));
  return (
    <>
      {fields
        .filter((field) => !field.isRare && isAside(field, node))
        .map((field) => (
          <Disclosure look="section" key={field.key} title={field.label} aside={summarize(config[field.key])}>
            <KindField node={node} field={field} problems={problems} hideLabel />
          </Disclosure>
        ))}
      {rare.length > 0 ? (
        <Disclosure
          look="section"
          title="More"
          aside={said.map(({ label }) => label).join(", ") || "Default"}
        >
          {rare.map((field) => (
            <KindField key={field.key} node={node} field={field} problems={problems} />
          ))}
        </Disclosure>
      ) : null}
    </>
  );
}

const isSaid = (value: unknown) =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);

function summarize(value: unknown): string {
  if (value === undefined || value === null) return "Default";
  const { model, properties } = value as { model?: string; properties?: object };
  return model ?? (properties ? Object.keys(properties).join(", ") : "Set");
}

interface KindFieldProps {
  node: WorkflowNode;
  field: Field;
  problems: readonly Problem[];
  hideLabel?: boolean;
}

function KindField({ node, field, problems, hideLabel }: KindFieldProps) {
  const store = useEditorStore();
  const { key } = field;
  return (
    <div data-field={key} className="empty:hidden">
      <FieldView
        field={field}
        label={field.label}
        hideLabel={hideLabel}
        hint={field.hint}
        error={errorAt(problems, key)}
        value={(node.config as Record<string, unknown>)[key]}
        onChange={(value) =>
          store
            .getState()
            .edit(
              edits.setConfig,
              { id: node.id, patch: { [key]: value } },
              { mergeKey: `${node.id} ${key}` },
            )
        }
      />
    </div>
  );
}

/** What state the node reads and writes. */
function Keys({
  node,
  scope,
  problems,
}: {
  node: WorkflowNode;
  scope: FormScope;
  problems: readonly Problem[];
}) {
  const kind = getNodeKind(node.node_type);
  const set = useSetNode(node.id);
  const reads = scope.keys.map((key) => ({ key: key.key, detail: writersOf(scope, key) }));
  const known = [...new Set([...Object.keys(stateProperties(scope.graph)), ...allKeys(scope.graph)])];
  const mentioned = mentionedKeys(node).filter(
    (key) => !node.input_keys.includes(key) && !node.optional_input_keys.includes(key),
  );
  const keys = [...node.input_keys, ...node.output_keys].join(", ");
  return (
    <Disclosure
      look="section"
      title={kind.ends ? "Hands out" : "Reads and writes"}
      isOpen
      aside={keys || "Nothing"}
    >
      <div data-field="input_keys" className="flex flex-col gap-2">
        <KeysField
          label={kind.ends ? "Keys" : "Reads"}
          {...(kind.ends ? { hint: "Empty: the whole state, as it is when the run ends" } : {})}
          error={errorAt(problems, "input_keys")}
          keys={node.input_keys}
          onChange={(input_keys) => set({ input_keys })}
          suggestions={reads}
          placeholder="Keys this node needs"
        />
        {mentioned.length > 0 && (
          <button
            type="button"
            onClick={() => set({ input_keys: [...node.input_keys, ...mentioned] })}
            className="self-start rounded-md px-1 text-left text-xs text-ink-2 underline decoration-line-strong underline-offset-2 hover:text-accent"
          >
            Also take what the task mentions: {mentioned.join(", ")}
          </button>
        )}
      </div>
      {!kind.ends && (
        <div data-field="optional_input_keys">
          <KeysField
            label="Reads if there"
            keys={node.optional_input_keys}
            onChange={(optional_input_keys) => set({ optional_input_keys })}
            suggestions={reads}
            placeholder="Optional"
          />
        </div>
      )}
      {!kind.ends && !kind.routes && (
        <div data-field="output_keys">
          <KeysField
            label="Writes"
            error={errorAt(problems, "output_keys")}
            keys={node.output_keys}
            onChange={(output_keys) => set({ output_keys })}
            suggestions={known.map((key) => ({ key }))}
            placeholder="Keys this node produces"
          />
        </div>
      )}
    </Disclosure>
  );
}

/** Where it goes on: the lines from here, for mouse and keyboard. */
function JoinSection({ graph, node }: { graph: WorkflowGraph; node: WorkflowNode }) {
  const store = useEditorStore();
  const commands = useEditorCommands();
  const edges = graph.edges.filter(({ source_node_id }) => source_node_id === node.id);
  const others = Object.values(graph.nodes).filter(
    ({ id, node_type }) => id !== node.id && getNodeKind(node_type).hasEntry !== false,
  );
  return (
    <Disclosure
      look="section"
      title="Goes on to"
      aside={edges.map(({ target_node_id }) => graph.nodes[target_node_id]?.name).join(", ")}
    >
      {edges.length > 0 && (
        <ul className="flex flex-col gap-1">
          {edges.map((edge) => (
            <li key={edge.id} className="flex items-center gap-1">
              <button
                type="button"
                onClick={() => store.getState().select({ edges: [edge.id] })}
                className="flex h-8 min-w-0 flex-1 items-center gap-2 rounded-lg border border-line px-2.5 text-left text-[13px] hover:border-line-strong"
              >
                <ArrowRight aria-hidden className="size-3.5 shrink-0 text-ink-3" />
                <span className="min-w-0 flex-1 truncate">{graph.nodes[edge.target_node_id]?.name}</span>
                <span className="truncate text-xs text-ink-3">
                  {edge.kind === "error" ? "on error" : (edge.edge_label ?? "")}
                </span>
              </button>
              <IconButton
                label={`Disconnect ${graph.nodes[edge.target_node_id]?.name}`}
                size="sm"
                variant="danger"
                icon={<Unplug aria-hidden />}
                onClick={() => commands.editing.onRemoveEdge(edge.id)}
              />
            </li>
          ))}
        </ul>
      )}
      <Menu
        trigger={
          <Button size="sm" className="self-start">
            Connect to…
          </Button>
        }
        items={
          others.length === 0
            ? [{ label: "There is no other node", disabled: true }]
            : others.map(({ id, name, node_type }) => ({
                label: name || id,
                icon: <KindIcon name={getNodeKind(node_type).icon} />,
                onSelect: () => commands.editing.onConnect({ source: node.id, target: id }),
              }))
        }
      />
    </Disclosure>
  );
}

const ON_ERROR_OPTIONS: Record<NodeBase["on_error"], { label: string; hint: string }> = {
  fail_run: { label: "End the run as failed", hint: "After what is under way has settled" },
  error_edge: { label: "Take the way “on error”", hint: "A way of its own, drawn from the card" },
  continue: { label: "Go on with a default result", hint: "As if nothing had happened" },
  skip_branch: { label: "Skip this branch", hint: "Other branches go on" },
};

function Failing({ node }: { node: WorkflowNode }) {
  const set = useSetNode(node.id);
  const kind = getNodeKind(node.node_type);
  const { max_attempts, initial_delay_ms } = node.retry;
  const aside = [
    max_attempts > 1 ? `${max_attempts} attempts` : null,
    node.on_error === "fail_run" ? null : ON_ERROR_OPTIONS[node.on_error].label,
  ].filter(Boolean);
  return (
    <Disclosure look="section" title="When it fails" aside={aside.join(", ") || "The run fails"}>
      <div data-field="retry" className="grid grid-cols-2 gap-3">
        <NumberField
          label="Attempts"
          min={1}
          max={10}
          value={max_attempts}
          onValueChange={(attempts) =>
            set({
              retry: { ...node.retry, max_attempts: Math.min(10, Math.max(1, Math.round(attempts ?? 1))) },
            })
          }
        />
        <DurationField
          label="First pause"
          value={initial_delay_ms}
          onChange={(ms) =>
            set({ retry: { ...node.retry, initial_delay_ms: typeof ms === "number" ? ms : 1000 } })
          }
        />
      </div>
      <div data-field="on_error">
        <Select
          label="And then"
          options={(Object.keys(ON_ERROR_OPTIONS) as NodeBase["on_error"][]).map((value) => ({
            value,
            ...ON_ERROR_OPTIONS[value],
          }))}
          value={node.on_error}
          onValueChange={(on_error) => set({ on_error })}
        />
      </div>
      {node.on_error === "continue" && (
        <div data-field="default_output">
          <JsonField
            label="Default result"
            hint={`An object, for example { "${node.output_keys[0] ?? "answer"}": "" }`}
            value={node.default_output}
            onChange={(value) => set({ default_output: value as NodeBase["default_output"] })}
            check={(value) =>
              value !== null && typeof value === "object" && !Array.isArray(value)
                ? null
                : "An object { … } with a value for each key"
            }
          />
        </div>
      )}
      <div data-field="run_timeout_ms">
        <DurationField
          label="Time for one attempt"
          value={node.run_timeout_ms}
          onChange={(ms) => set({ run_timeout_ms: ms as number | undefined })}
          hint={kind.timeoutMs ? `Without a word: ${durationText(kind.timeoutMs)}` : undefined}
        />
      </div>
      <div data-field="idle_timeout_ms">
        <DurationField
          label="Longest silence"
          hint="How long a model may write nothing"
          value={node.idle_timeout_ms}
          onChange={(ms) => set({ idle_timeout_ms: ms as number | undefined })}
        />
      </div>
    </Disclosure>
  );
}

type JoinWord = "all" | "any" | "each" | "n";
const JOIN_OPTIONS: Record<JoinWord, { label: string; hint: string }> = {
  all: { label: "All that are still coming", hint: "Waits for every branch that can still arrive" },
  any: { label: "The first", hint: "Runs once, the others are ignored" },
  each: { label: "Each by itself", hint: "Runs once for every branch that arrives" },
  n: { label: "A certain number", hint: "Runs when that many have arrived" },
};

/** How several branches come together here. */
function Joining({ node, incoming }: { node: WorkflowNode; incoming: number }) {
  const set = useSetNode(node.id);
  const { join } = node;
  const word: JoinWord = typeof join === "object" ? "n" : join;
  const toJoin = (next: JoinWord): Join =>
    next === "n" ? { n: Math.min(2, incoming), on_shortfall: "error" } : next;
  return (
    <Disclosure look="section" title="Joining" isOpen aside={JOIN_OPTIONS[word].label}>
      <div data-field="join" className="flex flex-col gap-4">
        <Select
          label={`Waits for, of ${incoming} branches`}
          options={(Object.keys(JOIN_OPTIONS) as JoinWord[]).map((value) => ({
            value,
            ...JOIN_OPTIONS[value],
          }))}
          value={word}
          onValueChange={(next) => set({ join: toJoin(next) })}
        />
        {typeof join === "object" && (
          <>
            <NumberField
              label="How many"
              min={1}
              max={incoming}
              value={join.n}
              onValueChange={(n) => set({ join: { ...join, n: Math.max(1, Math.round(n ?? 1)) } })}
            />
            <Select
              label="If fewer arrive"
              options={[
                { value: "error", label: "Fail" },
                { value: "skip", label: "Skip this node" },
                { value: "fire", label: "Run with those" },
              ]}
              value={join.on_shortfall}
              onValueChange={(on_shortfall) => set({ join: { ...join, on_shortfall } })}
            />
          </>
        )}
      </div>
    </Disclosure>
  );
}

function Advanced({
  node,
  isLoop,
  problems,
}: {
  node: WorkflowNode;
  isLoop: boolean;
  problems: readonly Problem[];
}) {
  const set = useSetNode(node.id);
  const orNothing = (text: string) => (text.trim() === "" ? undefined : text);
  const used = [
    node.when ? "only if" : null,
    node.input_mapping || node.output_mapping ? "mapping" : null,
    node.concurrency_key ? "one at a time" : null,
    node.max_iterations ? `${node.max_iterations} turns` : null,
  ].filter(Boolean);
  return (
    <Disclosure look="section" title="Advanced" aside={used.join(", ") || undefined}>
      <div data-field="description">
        <TextArea
          label="Description"
          hint="For people, and for models that choose a way here"
          rows={2}
          value={node.description ?? ""}
          onValueChange={(text) => set({ description: orNothing(text) })}
        />
      </div>
      {isLoop && (
        <div data-field="max_iterations">
          <NumberField
            label="Most turns of this loop"
            hint="A loop begins here"
            min={1}
            max={1000}
            placeholder="As the workflow says"
            value={node.max_iterations ?? null}
            onValueChange={(turns) =>
              set({
                max_iterations: turns === null ? undefined : Math.min(1000, Math.max(1, Math.round(turns))),
              })
            }
          />
        </div>
      )}
      <div data-field="when">
        <ExpressionField
          label="Only if"
          hint="Where this does not hold, the node is skipped and its ways are still taken"
          error={errorAt(problems, "when")}
          result="bool"
          value={node.when ?? ""}
          onChange={(text) => set({ when: orNothing(text) })}
        />
      </div>
      <div data-field="input_mapping">
        <AssignmentsField
          label="Input mapping"
          hint="A name inside this node, and where its value comes from"
          keyLabel="Name"
          itemName="mapping"
          variables={["nodes", "input", "run"]}
          value={node.input_mapping}
          onChange={(value) => set({ input_mapping: orEmpty(value) })}
        />
      </div>
      <div data-field="output_mapping">
        <AssignmentsField
          label="Output mapping"
          hint="A key of the state, and how it comes from the result"
          itemName="mapping"
          variables={["output"]}
          value={node.output_mapping}
          onChange={(value) => set({ output_mapping: orEmpty(value) })}
        />
      </div>
      <div data-field="concurrency_key">
        <TextField
          label="Never at the same time as"
          hint="Nodes with the same word here run one after another"
          maxLength={80}
          value={node.concurrency_key ?? ""}
          onValueChange={(text) => set({ concurrency_key: orNothing(text) })}
        />
      </div>
    </Disclosure>
  );
}

const orEmpty = (value: unknown) =>
  value && Object.keys(value).length > 0 ? (value as Record<string, string>) : undefined;

/** Changes of the node itself; quick typing into one field is one step back. */
function useSetNode(id: string) {
  const store = useEditorStore();
  return (patch: Partial<Omit<NodeBase, "id">>) =>
    store
      .getState()
      .edit(edits.setNode, { id, patch }, { mergeKey: `${id} ${Object.keys(patch).join(" ")}` });
}

/** The worst of what is wrong with a field, or with something inside it. */
export function errorAt(problems: readonly Problem[], field: string): string | undefined {
  const found = problems.filter(({ at }) => at.field === field || at.field?.startsWith(`${field}.`));
  return (found.find(({ severity }) => severity === "error") ?? found[0])?.message;
}

const allKeys = (graph: WorkflowGraph) =>
  Object.values(graph.nodes).flatMap(({ output_keys }) => output_keys);

/** The keys that a node's texts name. */
function mentionedKeys(node: WorkflowNode): string[] {
  const kind = getNodeKind(node.node_type);
  const named = (kind.templates?.(node.config) ?? []).flatMap(({ template }) => templateKeys(template));
  return [...new Set(named)];
}
