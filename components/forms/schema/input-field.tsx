"use client";

import { useState } from "react";
import { CheckboxGroup } from "@/components/ui/input/checkbox-group";
import { CodeArea } from "@/components/ui/input/code-area";
import { Select } from "@/components/ui/input/select";
import { Switch } from "@/components/ui/input/switch";
import { TextArea } from "@/components/ui/input/text-area";
import { TextField } from "@/components/ui/input/text-field";
import type { JsonObject } from "@/server/domain/base/values";
import {
  type Entered,
  type InputError,
  type InputField,
  type InputValues,
  readInput,
  takenFor,
  textOf,
} from "./input-fields";
import { describeType } from "./schema-labels";

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

/** What is entered into a form made of a schema: `props` are those of `InputFields`. */
export function useInput(fields: readonly InputField[], initial: () => InputValues = () => ({})) {
  const [values, setValues] = useState(initial);
  const [errors, setErrors] = useState<readonly InputError[]>([]);
  const onChange = (next: InputValues, remaining: readonly InputError[]) => {
    setValues(next);
    setErrors(remaining);
  };
  /** The input; null where something is wrong, which its field then says. */
  const read = (): JsonObject | null => {
    const { input, errors: found } = readInput(fields, values);
    setErrors(found);
    return found.length > 0 ? null : input;
  };
  return { props: { fields, values, errors, onChange }, read, setErrors };
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
        <CheckboxGroup
          label={field.title}
          hint={field.description}
          error={error}
          aside={described.aside}
          options={(field.options ?? []).map(({ value: one, title }) => ({
            value: textOf(one),
            label: title,
          }))}
          value={typeof value === "object" ? value : []}
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
          compact={compact}
          minLines={compact ? 2 : undefined}
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
