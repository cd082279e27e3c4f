"use client";

import type { FieldProps } from "../field-props";
import { NamedRows } from "./named-rows";
import { TemplateField } from "./template-field";

/** Names with template texts, such as the headers of a request. */
export function PairsField(props: FieldProps<Record<string, string>>) {
  return (
    <NamedRows
      {...props}
      nameLabel="Name"
      itemName="row"
      newName="name"
      checkName={nameError}
      valueField={({ name, value, onChange }) => (
        <TemplateField
          label={`Value of ${name}`}
          hideLabel
          minLines={1}
          value={value}
          onChange={(text) => onChange(typeof text === "string" ? text : "")}
        />
      )}
    />
  );
}

function nameError(name: string, names: readonly string[], at: number): string | null {
  if (name.trim() !== name || name === "") return "Enter a name without leading or trailing spaces.";
  if (name.length > 200) return "Use at most 200 characters.";
  return names.some((other, i) => i !== at && other === name) ? "This name is already in use." : null;
}
