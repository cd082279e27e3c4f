"use client";

import { Checkbox } from "@/components/ui/checkbox";
import { CodeArea } from "@/components/ui/code-area";
import { Field } from "@/components/ui/field";
import { Select } from "@/components/ui/select";
import { Switch } from "@/components/ui/switch";
import { TextArea } from "@/components/ui/text-area";
import { TextField } from "@/components/ui/text-field";
import {
  type Entered,
  type InputError,
  type InputField,
  type InputValues,
  takenFor,
  textOf,
} from "./input-fields";
import { describeType } from "./schema-words";

interface InputFieldsProps {
  fields: readonly InputField[];
  values: InputValues;
  errors: readonly InputError[];
  /** Short fields, where many stand below each other. */
  compact?: boolean;
  autoFocus?: boolean;
  onChange: (values: InputValues, errors: readonly InputError[]) => void;
}

/** The fields of a form made of a schema. What was wrong with one is forgotten once it is changed. */
export function InputFields({ fields, values, errors, compact, autoFocus, onChange }: InputFieldsProps) {
  return fields.map((field, at) => (
    <InputFieldControl
      key={field.key}
      field={field}
      value={values[field.key] ?? field.initial}
      error={errors.find(({ key }) => key === field.key)?.message}
      autoFocus={autoFocus && at === 0}
      compact={compact}
      onValueChange={(value) =>
        onChange(
          { ...values, [field.key]: value },
          errors.filter(({ key }) => key !== field.key),
        )
      }
    />
  ));
}

/** One thing that is asked for, in the control that fits its type. */
function InputFieldControl({
  field,
  value,
  error,
  autoFocus,
  compact,
  onValueChange,
}: {
  field: InputField;
  value: Entered;
  error?: string | undefined;
  autoFocus?: boolean | undefined;
  compact?: boolean | undefined;
  onValueChange: (value: Entered) => void;
}) {
  const text = typeof value === "string" ? value : "";
  const described = {
    label: field.title,
    hint:
      field.example && text === "" ? (
        <Example field={field} onUse={onValueChange} />
      ) : (
        (takenFor(field, value) ?? hintOf(field))
      ),
    error,
    aside: field.isRequired || field.as === "switch" ? undefined : "Optional",
  };
  switch (field.as) {
    case "switch":
      return (
        <Switch
          label={field.title}
          hint={error ?? field.description}
          checked={value === true}
          onCheckedChange={onValueChange}
        />
      );
    case "choice":
      return (
        <Select
          {...described}
          value={text || null}
          onValueChange={onValueChange}
          options={[
            ...(field.isRequired || field.initial !== "" ? [] : [{ value: "", label: "Not given" }]),
            ...(field.options ?? []).map(({ value, title }) => ({ value: textOf(value), label: title })),
          ]}
        />
      );
    case "choices":
      return (
        <Choices
          field={field}
          ticked={typeof value === "object" ? value : []}
          error={error}
          onValueChange={onValueChange}
        />
      );
    case "number":
      return (
        <TextField
          {...described}
          value={text}
          onValueChange={onValueChange}
          inputMode={field.isInteger ? "numeric" : "decimal"}
          autoFocus={autoFocus}
          className="tabular-nums"
          fieldClassName={compact ? "max-w-48" : undefined}
        />
      );
    case "line":
      return <TextField {...described} value={text} onValueChange={onValueChange} autoFocus={autoFocus} />;
    case "json":
      return (
        <CodeArea
          {...described}
          value={text}
          onValueChange={onValueChange}
          language="json"
          {...(compact ? { compact, minLines: 2 } : {})}
        />
      );
    case "text":
    case "any":
      return (
        <TextArea
          {...described}
          value={text}
          onValueChange={onValueChange}
          rows={compact ? 1 : 4}
          autoFocus={autoFocus}
        />
      );
  }
}

/** What it is for; and what is meant, where the control does not say it. */
export function hintOf({ as, schema, description = "" }: InputField): string | undefined {
  const shape =
    as === "json" ? describeType(schema) : as === "any" ? 'A text; or JSON, such as 5, true or {"a": 1}' : "";
  return [description.replace(/\.$/, ""), shape].filter(Boolean).join(". ") || undefined;
}

/** Several of a list, each with a tick of its own. */
function Choices({
  field,
  ticked,
  error,
  onValueChange,
}: {
  field: InputField;
  ticked: readonly string[];
  error: string | undefined;
  onValueChange: (ticked: string[]) => void;
}) {
  const all = (field.options ?? []).map(({ value, title }) => ({ text: textOf(value), title }));
  return (
    <Field
      group
      label={field.title}
      hint={field.description}
      error={error}
      aside={field.isRequired ? undefined : "Optional"}
    >
      {all.map(({ text, title }) => (
        <Checkbox
          key={text}
          label={title}
          checked={ticked.includes(text)}
          onCheckedChange={(checked) =>
            onValueChange(
              all.flatMap((one) =>
                (one.text === text ? checked : ticked.includes(one.text)) ? [one.text] : [],
              ),
            )
          }
        />
      ))}
    </Field>
  );
}

/** What the field is for, and a text to try it with. */
function Example({ field, onUse }: { field: InputField; onUse: (value: string) => void }) {
  return (
    <>
      {field.description ? <>{field.description} </> : null}
      <button
        type="button"
        className="cursor-pointer text-left text-accent underline decoration-dotted underline-offset-2 hover:text-accent-hover"
        onClick={({ currentTarget }) => {
          onUse(field.example ?? "");
          // The button disappears, so the focus moves to the field that it filled.
          currentTarget
            .closest("p")
            ?.parentElement?.querySelector<HTMLElement>("input, textarea, [contenteditable=true]")
            ?.focus();
        }}
      >
        Try “{field.example}”
      </button>
    </>
  );
}
