"use client";

import { Plus, Trash2 } from "lucide-react";
import { Button } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { IconButton } from "@/components/ui/icon-button";
import { StateKey } from "@/server/domain/values";
import { DraftField } from "./draft-field";
import { ExpressionField } from "./expression-field";
import type { FieldProps } from "./field-view";

export interface AssignmentsProps extends FieldProps {
  /** What is on the left side of the equals sign, and what one such line is called. */
  keyLabel?: string;
  itemName?: string;
  variables?: readonly string[];
}

/** Keys, and the expressions that their values come from. */
export function AssignmentsField(props: AssignmentsProps) {
  const { label, hint, error, value, onChange, keyLabel = "Key", itemName = "value", variables } = props;
  const entries = Object.entries((value ?? {}) as Record<string, string>);
  const write = (next: [string, string][]) => onChange(Object.fromEntries(next));
  const names = entries.map(([key]) => key);
  return (
    <Field label={label} hint={hint} error={error} group>
      <ul className="flex flex-col gap-3">
        {entries.map(([key, expression], at) => (
          <li key={at} className="flex flex-col gap-1.5 rounded-lg border border-line bg-bg p-2.5">
            <div className="flex items-end gap-1">
              <DraftField
                label={`${keyLabel} ${at + 1}`}
                mono
                value={key}
                onCommit={(name) => write(entries.map((entry, i) => (i === at ? [name, expression] : entry)))}
                check={(name) => keyFault(name, names, at)}
                fieldClassName="flex-1"
              />
              <IconButton
                label={`Remove ${key}`}
                variant="danger"
                icon={<Trash2 aria-hidden />}
                onClick={() => write(entries.filter((_, i) => i !== at))}
              />
            </div>
            <ExpressionField
              label={`Expression for ${key}`}
              hideLabel
              value={expression}
              onChange={(text) => write(entries.map((entry, i) => (i === at ? [key, text] : entry)))}
              placeholder="state.count + 1"
              {...(variables ? { variables } : {})}
            />
          </li>
        ))}
      </ul>
      <Button
        size="sm"
        icon={<Plus aria-hidden />}
        className="self-start"
        onClick={() => write([...entries, [freshKey(itemName, names), ""]])}
      >
        Add a {itemName}
      </Button>
    </Field>
  );
}

export function keyFault(name: string, names: readonly string[], at: number): string | null {
  const parsed = StateKey.safeParse(name);
  if (!parsed.success) return parsed.error.issues[0]?.message ?? "This cannot be a key";
  return names.some((other, i) => i !== at && other === name) ? "There is one with this name already" : null;
}

export function freshKey(base: string, taken: readonly string[]): string {
  const stem = base.replace(/[^A-Za-z0-9_]/g, "_");
  if (!taken.includes(stem)) return stem;
  for (let n = 2; ; n++) if (!taken.includes(`${stem}_${n}`)) return `${stem}_${n}`;
}
