"use client";

import { type ReactNode, useState } from "react";
import { CheckboxGroup } from "@/components/ui/input/checkbox-group";
import { CodeArea } from "@/components/ui/input/code-area";
import type { FieldLabelProps } from "@/components/ui/input/field";
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
  shown,
  takenFor,
  textOf,
} from "./input-fields";
import { describeType } from "./schema-labels";

interface InputFieldsProps {
  fields: readonly InputField[];
  values: InputValues;
  errors: readonly InputError[];
  /** Short fields for long forms. */
  compact?: boolean;
  autoFocus?: boolean;
  onChange: (values: InputValues, errors: readonly InputError[]) => void;
}

/** The fields of a form made from a schema. Changing a field clears its error. */
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

/** The input of a form made from a schema. `props` go to `InputFields`. */
export function useInput(fields: readonly InputField[], initial: () => InputValues = () => ({})) {
  const [values, setValues] = useState(initial);
  const [errors, setErrors] = useState<readonly InputError[]>([]);
  const onChange = (next: InputValues, remaining: readonly InputError[]) => {
    setValues(next);
    setErrors(remaining);
  };
  /** The input; null if a field is invalid, which then shows its error. */
  const read = (): JsonObject | null => {
    const { input, errors: found } = readInput(fields, values);
    setErrors(found);
    return found.length > 0 ? null : input;
  };
  return { props: { fields, values, errors, onChange }, read, setErrors };
}

interface ControlProps {
  field: InputField;
  value: Entered;
  error?: string | undefined;
  autoFocus?: boolean | undefined;
  compact?: boolean | undefined;
  onValueChange: (value: Entered) => void;
}

/** A field, in the control that fits its type. */
function InputFieldControl(props: ControlProps) {
  const { field, value, error, onValueChange } = props;
  const text = typeof value === "string" ? value : "";
  const example =
    field.example !== undefined && text === "" ? <Example field={field} onUse={onValueChange} /> : null;
  return CONTROLS[field.as]({
    ...props,
    text,
    described: {
      label: field.title,
      hint: example ?? takenFor(field, value) ?? hintOf(field),
      error:
        error && example ? (
          <>
            {error} {example}
          </>
        ) : (
          error
        ),
      aside: field.isRequired || field.as === "switch" ? undefined : "Optional",
    },
  });
}

type DescribedProps = ControlProps & {
  /** The value if it is a text, or an empty text. */
  text: string;
  described: Pick<FieldLabelProps, "label" | "hint" | "error" | "aside">;
};

const TextControl = ({ described, text, onValueChange, compact, autoFocus }: DescribedProps) => (
  <TextArea
    {...described}
    value={text}
    onValueChange={onValueChange}
    rows={compact ? 1 : 4}
    autoFocus={autoFocus}
  />
);

const CONTROLS: Record<InputField["as"], (props: DescribedProps) => ReactNode> = {
  switch: ({ field, value, error, onValueChange }) => (
    <Switch
      label={field.title}
      hint={error ?? field.description}
      checked={value === true}
      onCheckedChange={onValueChange}
    />
  ),
  choice: ({ field, described, text, onValueChange }) => (
    <Select
      {...described}
      value={text || null}
      onValueChange={onValueChange}
      options={[
        ...(field.isRequired || field.initial !== "" ? [] : [{ value: "", label: "Not set" }]),
        ...optionsOf(field),
      ]}
    />
  ),
  choices: ({ field, value, error, described, onValueChange }) => (
    <CheckboxGroup
      label={field.title}
      hint={field.description}
      error={error}
      aside={described.aside}
      options={optionsOf(field)}
      value={typeof value === "object" ? value : []}
      onValueChange={onValueChange}
    />
  ),
  number: ({ field, described, text, onValueChange, autoFocus, compact }) => (
    <TextField
      {...described}
      value={text}
      onValueChange={onValueChange}
      inputMode={field.isInteger ? "numeric" : "decimal"}
      autoFocus={autoFocus}
      className="tabular-nums"
      fieldClassName={compact ? "max-w-48" : undefined}
    />
  ),
  line: ({ described, text, onValueChange, autoFocus }) => (
    <TextField {...described} value={text} onValueChange={onValueChange} autoFocus={autoFocus} />
  ),
  json: ({ described, text, onValueChange, compact }) => (
    <CodeArea
      {...described}
      value={text}
      onValueChange={onValueChange}
      language="json"
      compact={compact}
      minLines={compact ? 2 : undefined}
    />
  ),
  text: TextControl,
  any: TextControl,
};

const optionsOf = ({ options = [] }: InputField) =>
  options.map(({ value, title }) => ({ value: textOf(value), label: title }));

/** The description, and the expected type if the control does not show it. */
export function hintOf({ as, schema, description = "" }: InputField): string | undefined {
  const shape =
    as === "json" ? describeType(schema) : as === "any" ? 'Text, or JSON such as 5, true or {"a": 1}' : "";
  return [description.replace(/\.$/, ""), shape].filter(Boolean).join(". ") || undefined;
}

/** The description, and an example that fills the field. */
function Example({ field, onUse }: { field: InputField; onUse: (value: Entered) => void }) {
  return (
    <>
      {field.description ? <>{field.description} </> : null}
      <button
        type="button"
        className="cursor-pointer text-left text-accent underline decoration-dotted underline-offset-2 hover:text-accent-hover"
        onClick={({ currentTarget }) => {
          onUse(shown(field, field.example));
          // The button disappears, so the focus moves to the field that it filled.
          currentTarget
            .closest("p")
            ?.parentElement?.querySelector<HTMLElement>("input, textarea, [contenteditable=true]")
            ?.focus();
        }}
      >
        {typeof field.example === "string" ? `Try “${field.example}”` : "Use example"}
      </button>
    </>
  );
}
