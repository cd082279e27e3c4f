"use client";

import { StateKey } from "@/server/domain/base/values";
import type { FieldProps } from "../field-props";
import { ExpressionField } from "../fields/expression-field";
import { NamedRows } from "../fields/named-rows";

export interface AssignmentsProps extends FieldProps<Record<string, string>> {
  /** What is on the left side of the equals sign, and what one such line is called. */
  keyLabel?: string;
  itemName?: string;
  variables?: readonly string[];
}

/** Keys, and the expressions that their values come from. */
export function AssignmentsField({
  keyLabel = "Key",
  itemName = "value",
  variables,
  ...props
}: AssignmentsProps) {
  return (
    <NamedRows
      {...props}
      nameLabel={keyLabel}
      itemName={itemName}
      checkName={keyError}
      valueField={({ name, value, onChange }) => (
        <ExpressionField
          label={`Expression for ${name}`}
          hideLabel
          value={value}
          onChange={onChange}
          placeholder="state.count + 1"
          variables={variables}
        />
      )}
    />
  );
}

/** What is wrong with a key of the state at its place among the others; null if nothing is. */
export function keyError(name: string, names: readonly string[], at: number): string | null {
  const parsed = StateKey.safeParse(name);
  if (!parsed.success) return parsed.error.issues[0]?.message ?? "This cannot be a key";
  return names.some((other, i) => i !== at && other === name) ? "There is one with this name already" : null;
}
