"use client";

import { z } from "zod";
import { RowList } from "@/components/ui/row-list";
import type { FieldProps } from "../field-props";
import { DraftField } from "./draft-field";
import { SecondsField } from "./duration-field";

const Levels = z.array(z.object({ after_s: z.number(), to: z.string() })).catch([]);
const HOUR_S = 3600;

/** Who is asked next if no one answers, and after how long. */
export function EscalationField({ label, hint, error, value, onChange }: FieldProps) {
  const levels = Levels.parse(value ?? []);
  return (
    <RowList
      label={label}
      hint={hint}
      error={error}
      items={levels}
      addLabel="Add level"
      newItem={() => ({ after_s: (levels.at(-1)?.after_s ?? 0) + HOUR_S, to: "team lead" })}
      onItemsChange={(next) => onChange(next.length === 0 ? undefined : next)}
      removeLabel={({ to }) => `Remove ${to || "this level"}`}
    >
      {({ after_s, to }, at, remove, set) => (
        <>
          <div className="flex items-end gap-1">
            <DraftField
              label={`Level ${at + 1}: assignee`}
              value={to}
              onCommit={(next) => set({ after_s, to: next })}
              check={(next) =>
                next.trim() === ""
                  ? "Enter an assignee."
                  : next.length > 200
                    ? "Use at most 200 characters."
                    : null
              }
              fieldClassName="flex-1"
            />
            {remove}
          </div>
          <SecondsField
            label={`Level ${at + 1}: ask after`}
            value={after_s}
            onChange={(next) => set({ to, after_s: next ?? 1 })}
          />
        </>
      )}
    </RowList>
  );
}
