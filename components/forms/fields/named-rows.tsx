"use client";

import type { ReactNode } from "react";
import { RowList } from "@/components/ui/row-list";
import { isText, recordOf } from "@/server/domain/base/guards";
import type { FieldProps } from "../field-props";
import { DraftField } from "./draft-field";

export interface NamedRowsProps extends FieldProps<Record<string, string>> {
  /** The label of the left side, and the noun for a row. */
  nameLabel: string;
  itemName: string;
  /** The base of new names; `itemName` if absent. */
  newName?: string;
  /** Why a name is invalid; null if it is valid. `at`: its index in the names. */
  checkName: (name: string, names: readonly string[], at: number) => string | null;
  valueField: (row: { name: string; value: string; onChange: (value: string) => void }) => ReactNode;
}

/** Names with texts, stored as an object. */
export function NamedRows(props: NamedRowsProps) {
  const { label, hint, error, value, onChange, nameLabel, itemName, newName = itemName } = props;
  const { checkName, valueField } = props;
  // Imported settings may hold other values: show them as JSON, so that changes of other rows keep them.
  const entries = Object.entries(recordOf(value)).map(([name, held]): [string, string] => [
    name,
    isText(held) ? held : (JSON.stringify(held) ?? ""),
  ]);
  const names = entries.map(([name]) => name);
  return (
    <RowList
      label={label}
      hint={hint}
      error={error}
      items={entries}
      addLabel={`Add ${itemName}`}
      newItem={(): [string, string] => [freshKey(newName, names), ""]}
      onItemsChange={(next) => onChange(Object.fromEntries(next))}
      removeLabel={([name]) => `Remove ${name}`}
    >
      {([name, text], at, remove, set) => (
        <>
          <div className="flex items-center gap-1">
            <DraftField
              label={`${nameLabel} ${at + 1}`}
              hideLabel
              mono
              value={name}
              onCommit={(next) => set([next, text])}
              check={(next) => checkName(next, names, at)}
              fieldClassName="flex-1"
            />
            {remove}
          </div>
          {valueField({
            name,
            value: text,
            onChange: (next) => set([name, next]),
          })}
        </>
      )}
    </RowList>
  );
}

/** An unused name that begins with `base`. */
export function freshKey(base: string, taken: readonly string[]): string {
  const stem = base.replace(/[^A-Za-z0-9_]/g, "_");
  if (!taken.includes(stem)) return stem;
  for (let n = 2; ; n++) if (!taken.includes(`${stem}_${n}`)) return `${stem}_${n}`;
}
