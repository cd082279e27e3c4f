"use client";

import { StateKey } from "@/server/domain/base/values";
import type { FieldProps } from "../field-props";
import { ExpressionField } from "../fields/expression-field";
import { NamedRows } from "../fields/named-rows";

export interface AssignmentsProps extends FieldProps<Record<string, string>> {
  /** The label of the keys, and the noun for a row. */
  keyLabel?: string;
  itemName?: string;
  variables?: readonly string[];
}

/** Keys with the expressions for their values. */
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
          placeholder={variables?.includes("item") ? "item" : "state.count + 1"}
          variables={variables}
        />
      )}
    />
  );
}

/** Why a state key is invalid or taken; null if it is neither. */
export function keyError(name: string, names: readonly string[], at: number): string | null {
  const parsed = StateKey.safeParse(name);
  if (!parsed.success) return parsed.error.issues[0]?.message ?? "Invalid key. Use letters, digits and _.";
  return names.some((other, i) => i !== at && other === name) ? "This name is already in use." : null;
}
