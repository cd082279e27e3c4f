"use client";

import { exitLabels } from "@/components/forms/ports";
import { SuggestField } from "@/components/ui/input/suggest-field";
import type { FieldProps } from "../field-props";
import { useFormScope } from "../form-scope";

/** The name of a route: one of the node's, or a new one. */
export function LabelField({
  label,
  hint,
  error,
  value,
  onChange,
  placeholder,
}: FieldProps & { placeholder?: string }) {
  const { graph, node } = useFormScope();
  const labels = node ? exitLabels(graph, node.id) : [];
  return (
    <SuggestField
      label={label}
      hint={hint}
      error={error}
      suggestions={labels.map((known) => ({ value: known }))}
      maxLength={200}
      placeholder={placeholder ?? "None"}
      value={typeof value === "string" ? value : ""}
      onValueChange={(text) => onChange(text === "" ? undefined : text)}
    />
  );
}
