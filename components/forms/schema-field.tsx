"use client";

import { Braces, ChevronRight, List, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { IconButton } from "@/components/ui/icon-button";
import { Select } from "@/components/ui/select";
import { Switch } from "@/components/ui/switch";
import { TextField } from "@/components/ui/text-field";
import type { JsonSchema } from "@/server/domain/base/values";
import { keyFault } from "./assignments-field";
import { DraftField } from "./draft-field";
import type { FieldProps } from "./field-view";
import { JsonField } from "./json-field";
import { freshKey } from "./named-rows";
import {
  presetFault,
  readSchema,
  SCHEMA_TYPE_LABELS,
  type SchemaRow,
  type SchemaType,
  schemaTypes,
  writeSchema,
} from "./schema-rows";

/** The shape of an object: a row for each value, or its JSON Schema. */
export function SchemaField(props: FieldProps & { itemName?: string }) {
  const { label, hideLabel, hint, error, value, onChange, itemName = "value" } = props;
  const schema = (value ?? undefined) as JsonSchema | undefined;
  const rows = readSchema(schema);
  const [wantsJson, setWantsJson] = useState(false);
  const write = (next: SchemaRow[]) => onChange(writeSchema(next, schema));
  if (wantsJson || rows === null)
    return (
      <div className="flex flex-col gap-1">
        <JsonField
          label={label}
          hint={hint ?? "JSON Schema"}
          error={error}
          value={schema}
          onChange={onChange}
          check={(json) =>
            json !== null && typeof json === "object" && !Array.isArray(json)
              ? null
              : "A schema is an object { … }"
          }
        />
        {rows && (
          <Button
            size="sm"
            variant="ghost"
            icon={<List aria-hidden />}
            className="self-start"
            onClick={() => setWantsJson(false)}
          >
            Show as rows
          </Button>
        )}
      </div>
    );
  const names = rows.map(({ name }) => name);
  return (
    <Field label={label} {...(hideLabel ? { hideLabel } : {})} hint={hint} error={error} group>
      {rows.length > 0 && (
        <ul className="flex flex-col gap-2">
          {rows.map((row, at) => (
            <li key={at} className="flex flex-col gap-2 rounded-lg border border-line bg-bg p-2.5">
              <RowFields
                row={row}
                at={at}
                names={names}
                onChange={(next) => write(rows.map((old, i) => (i === at ? next : old)))}
                onRemove={() => write(rows.filter((_, i) => i !== at))}
              />
            </li>
          ))}
        </ul>
      )}
      <div className="flex gap-1">
        <Button
          size="sm"
          icon={<Plus aria-hidden />}
          onClick={() =>
            write([
              ...rows,
              {
                name: freshKey(itemName, names),
                type: "string",
                required: false,
                description: "",
                preset: "",
                rest: {},
              },
            ])
          }
        >
          Add {/^[aeiou]/.test(itemName) ? "an" : "a"} {itemName}
        </Button>
        <Button size="sm" variant="ghost" icon={<Braces aria-hidden />} onClick={() => setWantsJson(true)}>
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
  onChange: (row: SchemaRow) => void;
  onRemove: () => void;
}

function RowFields({ row, at, names, onChange, onRemove }: RowProps) {
  return (
    <>
      <div className="flex items-end gap-1.5">
        <DraftField
          label={`Name of value ${at + 1}`}
          hideLabel
          mono
          value={row.name}
          onCommit={(name) => onChange({ ...row, name })}
          check={(name) => keyFault(name, names, at)}
          fieldClassName="flex-1"
        />
        <Select<SchemaType>
          label={`Type of ${row.name}`}
          hideLabel
          options={schemaTypes.map((value) => ({ value, label: SCHEMA_TYPE_LABELS[value] }))}
          value={row.type}
          onValueChange={(type) => onChange({ ...row, type })}
          fieldClassName="w-32"
        />
        <IconButton
          label={`Remove ${row.name}`}
          variant="danger"
          icon={<Trash2 aria-hidden />}
          onClick={onRemove}
        />
      </div>
      <details className="group/row">
        <summary className="flex list-none items-center gap-1.5 truncate rounded text-xs text-ink-3 hover:text-ink-2 [&::-webkit-details-marker]:hidden">
          <ChevronRight
            aria-hidden
            className="size-3 shrink-0 transition-transform group-open/row:rotate-90"
          />
          <span className="truncate">{describeRow(row)}</span>
        </summary>
        <div className="flex flex-col gap-2 pt-2">
          <TextField
            label={`Description of ${row.name}`}
            hideLabel
            placeholder="What it is"
            value={row.description}
            onValueChange={(description) => onChange({ ...row, description })}
          />
          <div className="grid grid-cols-2 items-start gap-3">
            <TextField
              label={`Default of ${row.name}`}
              hideLabel
              placeholder="Default"
              value={row.preset}
              error={presetFault(row) ?? undefined}
              onValueChange={(preset) => onChange({ ...row, preset })}
            />
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

function describeRow({ required, preset, description }: SchemaRow): string {
  const parts = [
    required ? "Required" : "Optional",
    preset ? `by default ${preset}` : null,
    description || null,
  ];
  return parts.filter(Boolean).join(" · ");
}
