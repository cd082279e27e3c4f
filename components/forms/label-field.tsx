"use client";

import { useId } from "react";
import { exitLabels } from "@/components/forms/ports";
import { TextField } from "@/components/ui/text-field";
import type { FieldProps } from "./field-props";
import { useFormScope } from "./form-scope";

/** The name of a way out: one that the node has, or a new one. */
export function LabelField({
  label,
  hint,
  error,
  value,
  onChange,
  placeholder,
}: FieldProps & { placeholder?: string }) {
  const { graph, node } = useFormScope();
  const id = useId();
  const labels = node ? exitLabels(graph, node.id) : [];
  return (
    <>
      <TextField
        label={label}
        hint={hint}
        error={error}
        list={id}
        maxLength={200}
        placeholder={placeholder ?? "None"}
        value={typeof value === "string" ? value : ""}
        onValueChange={(text) => onChange(text === "" ? undefined : text)}
      />
      <datalist id={id}>
        {labels.map((known) => (
          <option key={known} value={known} />
        ))}
      </datalist>
    </>
  );
}
