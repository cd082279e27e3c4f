"use client";

import { Plus, X } from "lucide-react";
import { useState } from "react";
import { UncheckedNotes } from "@/components/forms/unchecked-notes";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { CodeArea } from "@/components/ui/code-area";
import { IconButton } from "@/components/ui/icon-button";
import { SegmentedControl } from "@/components/ui/segmented-control";
import { Select } from "@/components/ui/select";
import { TextField } from "@/components/ui/text-field";
import { isSameJson, JsonSchema } from "@/server/domain/base/values";
import { type FieldType, fromFields, type SchemaField, toFields } from "./simple-schema";

const types: { value: FieldType; label: string; hint?: string }[] = [
  { value: "text", label: "Text" },
  { value: "choice", label: "Choice", hint: "One of some words" },
  { value: "number", label: "Number" },
  { value: "whole", label: "Whole number" },
  { value: "yes_no", label: "Yes or no" },
  { value: "list", label: "List of texts" },
  { value: "object", label: "Object" },
];

export interface SchemaEditorProps {
  label: string;
  hint?: string;
  value: JsonSchema | undefined;
  onValueChange: (value: JsonSchema | undefined) => void;
  /** Told when the JSON text cannot be read, and when it can again. */
  onFault: (message: string | null) => void;
}

/** A JSON schema, as a list of fields or as JSON. */
export function SchemaEditor({ label, hint, value, onValueChange, onFault }: SchemaEditorProps) {
  const [fields, setFields] = useState(() => toFields(value));
  const [text, setText] = useState(() => (value ? JSON.stringify(value, null, 2) : ""));
  const [mode, setMode] = useState<"fields" | "json">(fields ? "fields" : "json");
  const [fault, setFault] = useState<string | null>(null);
  const asFields = toFields(value);

  const changeFields = (next: SchemaField[]) => {
    setFields(next);
    const schema = fromFields(next);
    setText(schema ? JSON.stringify(schema, null, 2) : "");
    onValueChange(schema);
  };
  const changeText = (next: string) => {
    setText(next);
    const read = readSchema(next);
    setFault(read.fault);
    onFault(read.fault);
    if (read.fault === null && !isSameJson(read.schema ?? null, value ?? null)) {
      onValueChange(read.schema);
      setFields(toFields(read.schema));
    }
  };
  const changeMode = (next: "fields" | "json") => {
    if (next === "fields") setFields(asFields ?? []);
    setMode(next);
  };

  return (
    <fieldset aria-label={label} className="flex min-w-0 flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <div className="min-w-0 flex-1">
          <p className="text-[13px] font-medium">{label}</p>
          {hint ? <p className="text-[13px] text-ink-3">{hint}</p> : null}
        </div>
        <SegmentedControl
          size="sm"
          label={`${label}: edit as`}
          value={mode}
          onValueChange={changeMode}
          options={[
            ...(asFields && !fault ? [{ value: "fields" as const, label: "Fields" }] : []),
            { value: "json", label: "JSON" },
          ]}
        />
      </div>
      {mode === "fields" && fields ? (
        <Fields label={label} fields={fields} onChange={changeFields} />
      ) : (
        <CodeArea
          label={`${label} as JSON`}
          hideLabel
          language="json"
          value={text}
          onValueChange={changeText}
          error={fault ?? undefined}
          hint={asFields ? undefined : "This schema says more than a list of fields can show."}
          minLines={6}
        />
      )}
      <UncheckedNotes schema={value} label={label} />
    </fieldset>
  );
}

function readSchema(text: string): { schema: JsonSchema | undefined; fault: string | null } {
  if (text.trim() === "") return { schema: undefined, fault: null };
  try {
    const read = JsonSchema.safeParse(JSON.parse(text));
    return read.success
      ? { schema: read.data, fault: null }
      : { schema: undefined, fault: "A schema is a JSON object, in curly brackets." };
  } catch {
    return { schema: undefined, fault: "This is not JSON yet. The marks in the text say where." };
  }
}

function Fields({
  label,
  fields,
  onChange,
}: {
  label: string;
  fields: SchemaField[];
  onChange: (fields: SchemaField[]) => void;
}) {
  const set = (at: number, change: Partial<SchemaField>) =>
    onChange(fields.map((field, i) => (i === at ? { ...field, ...change } : field)));
  return (
    <div className="flex flex-col gap-2">
      {fields.length > 0 ? (
        <ol aria-label={`Fields of ${label}`} className="flex flex-col gap-2">
          {fields.map((field, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a name that is being typed is no identity
            <li key={at} className="flex flex-col gap-2 rounded-lg border border-line bg-bg p-2.5">
              <div className="flex items-center gap-2">
                <TextField
                  label={`Field ${at + 1}: name`}
                  hideLabel
                  mono
                  placeholder="name"
                  value={field.name}
                  onValueChange={(name) => set(at, { name: name.replace(/[^A-Za-z0-9_]/g, "_") })}
                  fieldClassName="flex-1"
                />
                <Select<FieldType>
                  label={`Field ${at + 1}: type`}
                  hideLabel
                  options={types}
                  value={field.type}
                  onValueChange={(type) => set(at, { type })}
                  fieldClassName="w-34 shrink-0"
                />
                <IconButton
                  size="sm"
                  plain
                  variant="danger"
                  label={`Remove field ${field.name || at + 1}`}
                  icon={<X aria-hidden="true" />}
                  onClick={() => onChange(fields.filter((_, i) => i !== at))}
                />
              </div>
              {field.type === "choice" ? (
                <TextField
                  label={`Field ${at + 1}: choices`}
                  hideLabel
                  placeholder="approved, rejected"
                  value={field.choices.join(", ")}
                  onValueChange={(text) => set(at, { choices: text.split(/,\s?/) })}
                  hint="The words to choose from, with commas between them"
                />
              ) : null}
              <TextField
                label={`Field ${at + 1}: meaning`}
                hideLabel
                placeholder="What it means, for the model"
                value={field.description}
                onValueChange={(description) => set(at, { description })}
              />
              <Checkbox
                label="Required"
                checked={field.required}
                onCheckedChange={(required) => set(at, { required })}
              />
            </li>
          ))}
        </ol>
      ) : null}
      <div>
        <Button
          size="sm"
          variant="ghost"
          icon={<Plus aria-hidden="true" />}
          onClick={() =>
            onChange([...fields, { name: "", type: "text", required: true, description: "", choices: [] }])
          }
        >
          Add field
        </Button>
      </div>
    </div>
  );
}
