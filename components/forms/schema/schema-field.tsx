"use client";

import { Braces, ChevronRight, List, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { Field } from "@/components/ui/input/field";
import { Select } from "@/components/ui/input/select";
import { Switch } from "@/components/ui/input/switch";
import { TextField } from "@/components/ui/input/text-field";
import type { JsonSchema } from "@/server/domain/base/values";
import { keyError } from "../crew/assignments-field";
import type { FieldProps } from "../field-props";
import { DraftField } from "../fields/draft-field";
import { freshKey } from "../fields/named-rows";
import { JsonField } from "./json-field";
import { asSchema, describeType } from "./schema-labels";
import {
  choicesError,
  choicesOfText,
  newRow,
  presetError,
  readSchema,
  SCHEMA_TYPE_LABELS,
  type SchemaRow,
  type SchemaType,
  schemaTypes,
  unlistedKeywords,
  withType,
  writeSchema,
} from "./schema-rows";

export interface SchemaFieldProps extends FieldProps<JsonSchema | undefined> {
  /** The noun for a row, such as "input". */
  itemName?: string;
  /** Called when the JSON text becomes invalid or valid. */
  onErrorChange?: (message: string | null) => void;
}

/** Edits an object schema as rows, or as JSON Schema. */
export function SchemaField(props: SchemaFieldProps) {
  const { value, onChange, onErrorChange } = props;
  const schema = asSchema(value);
  const { rows, reason } = readSchema(schema);
  const [wantsJson, setWantsJson] = useState(false);
  if (!wantsJson && rows)
    return <Rows {...props} schema={schema} rows={rows} onWantJson={() => setWantsJson(true)} />;
  return (
    <div className="flex flex-col gap-1">
      <JsonField
        label={props.label}
        hint={reason ?? props.hint ?? "JSON Schema"}
        error={props.error}
        value={schema}
        onChange={(next) => {
          // Stay in the text view while typing, even once rows could show the schema.
          setWantsJson(true);
          onChange(asSchema(next));
        }}
        onErrorChange={onErrorChange}
        check={(json) => (asSchema(json) ? null : "Enter a schema object: { … }")}
      />
      {rows && (
        <Button
          size="sm"
          variant="ghost"
          icon={<List aria-hidden />}
          className="self-start"
          onClick={() => {
            setWantsJson(false);
            onErrorChange?.(null);
          }}
        >
          Show as rows
        </Button>
      )}
    </div>
  );
}

function Rows({
  label,
  hideLabel,
  hint,
  error,
  onChange,
  itemName = "value",
  schema,
  rows,
  onWantJson,
}: SchemaFieldProps & { schema: JsonSchema | undefined; rows: SchemaRow[]; onWantJson: () => void }) {
  const write = (next: SchemaRow[]) => onChange(writeSchema(next, schema));
  const names = rows.map(({ name }) => name);
  const [added, setAdded] = useState<number | null>(null);
  const otherKeywords = unlistedKeywords(schema);
  return (
    <Field {...{ label, hideLabel, hint, error }} group>
      {rows.length > 0 && (
        <ul className="flex flex-col gap-2">
          {rows.map((row, at) => (
            <li key={at} className="flex flex-col gap-2 rounded-lg border border-line bg-bg p-2.5">
              <RowFields
                row={row}
                at={at}
                names={names}
                isNew={at === added}
                onChange={(next) => write(rows.map((old, i) => (i === at ? next : old)))}
                onRemove={() => write(rows.filter((_, i) => i !== at))}
              />
            </li>
          ))}
        </ul>
      )}
      {otherKeywords.length > 0 && (
        <p className="text-xs text-ink-3">
          Also in the JSON: {otherKeywords.join(", ")}. Editing rows doesn't change this.
        </p>
      )}
      <div className="flex gap-1">
        <Button
          size="sm"
          icon={<Plus aria-hidden />}
          onClick={() => {
            setAdded(rows.length);
            write([...rows, newRow(freshKey(itemName, names))]);
          }}
        >
          Add {itemName}
        </Button>
        <Button size="sm" variant="ghost" icon={<Braces aria-hidden />} onClick={onWantJson}>
          JSON
        </Button>
      </div>
    </Field>
  );
}

interface RowProps {
  row: SchemaRow;
  at: number;
  names: readonly string[];
  isNew: boolean;
  onChange: (row: SchemaRow) => void;
  onRemove: () => void;
}

function RowFields({ row, at, names, isNew, onChange, onRemove }: RowProps) {
  return (
    <>
      <div className="flex items-end gap-1.5">
        <DraftField
          label={`Name of value ${at + 1}`}
          hideLabel
          mono
          value={row.name}
          isNew={isNew}
          onCommit={(name) => onChange({ ...row, name })}
          check={(name) => keyError(name, names, at)}
          fieldClassName="flex-1"
        />
        <TypeSelect row={row} onChange={onChange} />
        <IconButton
          label={`Remove ${row.name}`}
          variant="danger"
          icon={<Trash2 aria-hidden />}
          onClick={onRemove}
        />
      </div>
      <TypeDetails row={row} onChange={onChange} />
      <details className="group/row">
        <summary className="flex list-none items-center gap-1.5 truncate rounded text-xs text-ink-3 hover:text-ink-2 [&::-webkit-details-marker]:hidden">
          <ChevronRight
            aria-hidden
            className="size-3 shrink-0 transition-transform group-open/row:rotate-90"
          />
          <span className="truncate">{describeRow(row)}</span>
        </summary>
        <div className="flex flex-col gap-2 pt-2">
          {row.type !== "json" && (
            <TextField
              label={`Description of ${row.name}`}
              hideLabel
              placeholder="Description"
              value={row.description}
              onValueChange={(description) => onChange({ ...row, description })}
            />
          )}
          <div className="grid grid-cols-2 items-start gap-3">
            <PresetField row={row} onChange={onChange} />
            <div className="pt-1.5">
              <Switch
                label="Required"
                checked={row.required}
                onCheckedChange={(required) => onChange({ ...row, required })}
              />
            </div>
          </div>
        </div>
      </details>
    </>
  );
}

type RowPartProps = Pick<RowProps, "row" | "onChange">;

export function TypeSelect({ row, onChange }: RowPartProps) {
  return (
    <Select<SchemaType>
      label={`Type of ${row.name}`}
      hideLabel
      options={schemaTypes.map((value) => ({ value, label: SCHEMA_TYPE_LABELS[value] }))}
      value={row.type}
      onValueChange={(type) => onChange(withType(row, type))}
      fieldClassName="w-32"
    />
  );
}

/** The choices of type `choice`, or the schema of type `json`. */
export function TypeDetails({ row, onChange }: RowPartProps) {
  if (row.type === "choice")
    return (
      <DraftField
        label={`Options for ${row.name}`}
        hideLabel
        multiline
        hint="Options, one per line"
        value={row.choices.join("\n")}
        onCommit={(text) => onChange({ ...row, choices: choicesOfText(text) })}
        check={choicesError}
      />
    );
  if (row.type !== "json") return null;
  return (
    <JsonField
      label={`Schema of ${row.name}`}
      hideLabel
      hint="JSON Schema for anything the other types can't express"
      value={row.json}
      onChange={(json) => onChange({ ...row, json: json ?? {} })}
      check={(json) => (typeof json === "boolean" || asSchema(json) ? null : "Enter a schema object: { … }")}
    />
  );
}

/** The default value. */
export function PresetField({ row, onChange }: RowPartProps) {
  if (row.type === "json") return null;
  return (
    <TextField
      label={`Default of ${row.name}`}
      hideLabel
      placeholder="Default"
      value={row.preset}
      error={presetError(row) ?? undefined}
      onValueChange={(preset) => onChange({ ...row, preset })}
    />
  );
}

function describeRow({ type, required, preset, description, rest, json }: SchemaRow): string {
  const kept = Object.keys(rest).filter((key) => key !== "type");
  const parts = [
    required ? "Required" : "Optional",
    type === "json" ? describeType(asSchema(json) ?? {}) : null,
    preset ? `default ${preset}` : null,
    description || null,
    kept.length > 0 ? `also ${kept.join(", ")} in the JSON` : null,
  ];
  return parts.filter(Boolean).join(" · ");
}
