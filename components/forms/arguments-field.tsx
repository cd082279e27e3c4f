"use client";

import { expressionOf, type ToolArgument } from "@/server/domain/nodes/tool-call";
import { AssignmentsField } from "./assignments-field";
import type { FieldProps } from "./field-view";

/** Arguments of a tool: all are shown as expressions, a fixed value as the JSON that says the same. */
export function ArgumentsField({ value, onChange, ...words }: FieldProps) {
  const args = (value ?? {}) as Record<string, ToolArgument>;
  const shown = Object.fromEntries(
    Object.entries(args).map(([name, argument]) => [
      name,
      expressionOf(argument) ?? JSON.stringify(argument),
    ]),
  );
  return (
    <AssignmentsField
      {...words}
      keyLabel="Argument"
      itemName="argument"
      value={shown}
      onChange={(next) =>
        onChange(
          Object.fromEntries(
            Object.entries(next as Record<string, string>).map(([name, expression]) => [
              name,
              shown[name] === expression ? args[name] : { $expr: expression },
            ]),
          ),
        )
      }
    />
  );
}
