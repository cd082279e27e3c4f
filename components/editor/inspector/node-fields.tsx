"use client";

import { NOTE_LEAST, NOTE_MOST, sizeOfNote } from "@/components/canvas/cards/note-size";
import { FieldView } from "@/components/forms/field-view";
import { SchemaField } from "@/components/forms/schema/schema-field";
import { Disclosure } from "@/components/ui/disclosure";
import { NumberField } from "@/components/ui/input/number-field";
import { defined } from "@/server/domain/base/defined";
import { isObject, isText, recordOf } from "@/server/domain/base/guards";
import { asSchema } from "@/server/domain/base/json-schema";
import type { JsonSchema } from "@/server/domain/base/values";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { type Field, getNodeKind, settingsOf } from "@/server/domain/nodes";
import { useEditorStore } from "../editing/editor-store";
import { edits } from "../editing/edits";
import { textEdits } from "../editing/text-edits";
import { FieldWarnings } from "../problem-actions";
import type { ShownProblem } from "../use-problems";
import { mistakeAt, warningsAt } from "./node-form";

/** What a run asks for: the start's keys and the shape of its input, which are one thing to a person. */
export function Inputs({ node, problems }: { node: WorkflowNode; problems: readonly ShownProblem[] }) {
  const store = useEditorStore();
  const { input_schema } = settingsOf(node);
  return (
    <div data-field="input_schema">
      <SchemaField
        label="Inputs"
        hint="Values to enter when a run starts"
        error={mistakeAt(problems, "input_schema") ?? mistakeAt(problems, "output_keys")}
        itemName="input"
        value={inputSchema(node.output_keys, input_schema)}
        onChange={(schema) =>
          store.getState().edit(edits.setInputs, { id: node.id, schema }, { mergeKey: node.id })
        }
      />
      <FieldWarnings
        problems={[...warningsAt(problems, "input_schema"), ...warningsAt(problems, "output_keys")]}
      />
    </div>
  );
}

/** As runs read it: a key without a shape is a text; without any shape all are required. */
function inputSchema(keys: readonly string[], schema: JsonSchema | undefined): JsonSchema | undefined {
  const properties = asSchema(schema?.properties);
  const missing = keys.filter((key) => !Object.hasOwn(properties, key));
  if (missing.length === 0) return schema;
  const added = Object.fromEntries(missing.map((key) => [key, { type: "string" }]));
  return {
    ...schema,
    type: "object",
    properties: { ...properties, ...added },
    ...defined({ required: schema ? undefined : missing }),
  };
}

/** Whether a field starts collapsed. */
const isAside = (field: Field, node: WorkflowNode) =>
  field.as === "llm" || (field.as === "schema" && !getNodeKind(node.node_type).begins);

function fieldsOf(node: WorkflowNode): Field[] {
  const config = recordOf(node.config);
  // A kind's type is known to its own file only: for all kinds alike, their settings are read by name.
  const fields = getNodeKind(node.node_type).fields as readonly Field[];
  return fields.filter(({ showIf }) => !showIf || showIf(config));
}

export function KindFields({ node, problems }: { node: WorkflowNode; problems: readonly ShownProblem[] }) {
  const fields = fieldsOf(node).filter((field) => !field.isRare && !isAside(field, node));
  return fields.map((field) => <KindField key={field.key} node={node} field={field} problems={problems} />);
}

export function AsideFields({ node, problems }: { node: WorkflowNode; problems: readonly ShownProblem[] }) {
  const config = recordOf(node.config);
  const fields = fieldsOf(node);
  const rare = fields.filter(({ isRare }) => isRare);
  const configured = rare.filter(({ key }) => isSet(config[key]));
  return (
    <>
      {fields
        .filter((field) => !field.isRare && isAside(field, node))
        .map((field) => (
          <Disclosure
            variant="section"
            key={field.key}
            title={field.label}
            aside={summarize(config[field.key])}
          >
            <KindField node={node} field={field} problems={problems} hideLabel />
          </Disclosure>
        ))}
      {rare.length > 0 ? (
        <Disclosure
          variant="section"
          title="More"
          aside={configured.map(({ label }) => label).join(", ") || "Default"}
        >
          {rare.map((field) => (
            <KindField key={field.key} node={node} field={field} problems={problems} />
          ))}
        </Disclosure>
      ) : null}
    </>
  );
}

const isSet = (value: unknown) =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);

function summarize(value: unknown): string {
  if (value === undefined || value === null) return "Default";
  const { model, properties } = recordOf(value);
  if (isText(model)) return model;
  return isObject(properties) ? Object.keys(properties).join(", ") : "Set";
}

interface KindFieldProps {
  node: WorkflowNode;
  field: Field;
  problems: readonly ShownProblem[];
  hideLabel?: boolean;
}

function KindField({ node, field, problems, hideLabel }: KindFieldProps) {
  const store = useEditorStore();
  const { key } = field;
  const warnings = warningsAt(problems, key);
  // Below a whole crew or plan no one would see them.
  const isLong = field.as === "crew" || field.as === "plan";
  return (
    <div data-field={key} className="empty:hidden">
      {isLong ? <FieldWarnings problems={warnings} /> : null}
      <FieldView
        field={field}
        label={field.label}
        hideLabel={hideLabel}
        hint={field.hint}
        error={mistakeAt(problems, key)}
        value={recordOf(node.config)[key]}
        onChange={(value) =>
          store
            .getState()
            .edit(
              textEdits.setConfig,
              { id: node.id, patch: { [key]: value } },
              { mergeKey: `${node.id} ${key}` },
            )
        }
      />
      {isLong ? null : <FieldWarnings problems={warnings} />}
    </div>
  );
}

/** How large a note is, for those who do not drag its corner. */
export function NoteSize({ node }: { node: WorkflowNode }) {
  const store = useEditorStore();
  const { width, height } = sizeOfNote(node);
  const set = (size: { width?: number; height?: number }) =>
    store.getState().edit(edits.resize, { id: node.id, size }, { mergeKey: node.id });
  return (
    <div className="grid grid-cols-2 gap-3">
      <NumberField
        label="Width"
        min={NOTE_LEAST.width}
        max={NOTE_MOST.width}
        step={8}
        placeholder="240"
        value={width ?? null}
        onValueChange={(next) => set({ width: next ?? 240 })}
      />
      <NumberField
        label="Height"
        min={NOTE_LEAST.height}
        max={NOTE_MOST.height}
        step={8}
        placeholder="Auto"
        value={height ?? null}
        onValueChange={(next) => set({ height: next ?? NOTE_LEAST.height })}
      />
    </div>
  );
}
