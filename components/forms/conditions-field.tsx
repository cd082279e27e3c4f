"use client";

import { ArrowDown, ArrowUp, Plus, Trash2, X } from "lucide-react";
import { useId, useState } from "react";
import { Button } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { IconButton } from "@/components/ui/icon-button";
import { SegmentedControl } from "@/components/ui/segmented-control";
import { Select } from "@/components/ui/select";
import { TextField } from "@/components/ui/text-field";
import {
  type ConditionRow,
  type ConditionRows,
  type Operator,
  operators,
  readRows,
  writeRows,
} from "./cel-rows";
import { DraftField } from "./draft-field";
import { ExpressionField } from "./expression-field";
import type { FieldProps } from "./field-props";
import { useFormScope } from "./form-scope";

interface Condition {
  label: string;
  when: string;
}

const toConditions = (value: unknown): Condition[] => (Array.isArray(value) ? (value as Condition[]) : []);

/** The ways out of a router and when each is taken: built row by row, or written as an expression. */
export function ConditionsField({ label, hint, error, value, onChange }: FieldProps) {
  const conditions = toConditions(value);
  const set = (at: number, patch: Partial<Condition>) =>
    onChange(conditions.map((condition, i) => (i === at ? { ...condition, ...patch } : condition)));
  const move = (at: number, to: number) => {
    const next = [...conditions];
    const [moved] = next.splice(at, 1);
    if (moved) next.splice(to, 0, moved);
    onChange(next);
  };
  const labels = conditions.map((condition) => condition.label);
  return (
    <Field label={label} hint={hint} error={error} group>
      <ol className="flex flex-col gap-3">
        {conditions.map((condition, at) => (
          <li key={at} className="rounded-lg border border-line bg-bg p-3">
            <div className="mb-2 flex items-end gap-1">
              <DraftField
                label={`Way out ${at + 1}`}
                value={condition.label}
                onCommit={(text) => set(at, { label: text.trim() })}
                check={(text) => labelFault(text, labels, at)}
                fieldClassName="flex-1"
              />
              <IconButton
                label={`Move way ${at + 1} up`}
                icon={<ArrowUp aria-hidden />}
                disabled={at === 0}
                onClick={() => move(at, at - 1)}
              />
              <IconButton
                label={`Move way ${at + 1} down`}
                icon={<ArrowDown aria-hidden />}
                disabled={at === conditions.length - 1}
                onClick={() => move(at, at + 1)}
              />
              <IconButton
                label={`Remove way ${at + 1}`}
                variant="danger"
                icon={<Trash2 aria-hidden />}
                onClick={() => onChange(conditions.filter((_, i) => i !== at))}
              />
            </div>
            <ConditionBuilder
              label={`Condition of way ${at + 1}`}
              value={condition.when}
              onChange={(when) => set(at, { when })}
            />
          </li>
        ))}
      </ol>
      <Button
        size="sm"
        icon={<Plus aria-hidden />}
        className="self-start"
        onClick={() => onChange([...conditions, { label: freshLabel(labels), when: "" }])}
      >
        Add a way out
      </Button>
    </Field>
  );
}

function labelFault(text: string, labels: readonly string[], at: number): string | null {
  if (text.trim() === "") return "A way out needs a name";
  if (text.length > 200) return "At most 200 characters";
  return labels.some((label, i) => i !== at && label === text.trim())
    ? "Another way out has this name"
    : null;
}

function freshLabel(labels: readonly string[]): string {
  for (let n = labels.length + 1; ; n++) if (!labels.includes(`way ${n}`)) return `way ${n}`;
}

/** One condition: as rows where rows can say it, else as text. */
export function ConditionBuilder({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const fitting = value.trim() === "" ? EMPTY : readRows(value);
  // Rows that cannot be written yet, because a key is missing, live only here.
  const [draft, setDraft] = useState<{ of: string; rows: ConditionRows } | null>(null);
  const [wantsText, setWantsText] = useState(false);
  const rows = draft?.of === value ? draft.rows : fitting;
  const setRows = (next: ConditionRows) => {
    const written = writeRows(next);
    setDraft({ of: written ?? value, rows: next });
    if (written !== null && written !== value) onChange(written);
  };
  if (wantsText || rows === null)
    return (
      <div className="flex flex-col gap-1">
        <ExpressionField label={label} hideLabel value={value} onChange={onChange} result="bool" />
        {fitting && (
          <Button size="sm" variant="ghost" className="self-start" onClick={() => setWantsText(false)}>
            Build it instead
          </Button>
        )}
      </div>
    );
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="sr-only">{label}</legend>
      {rows.rows.map((row, at) => (
        <Row
          key={at}
          label={`${label}, row ${at + 1}`}
          row={row}
          onChange={(next) => setRows({ ...rows, rows: rows.rows.map((old, i) => (i === at ? next : old)) })}
          {...(rows.rows.length > 1
            ? { onRemove: () => setRows({ ...rows, rows: rows.rows.filter((_, i) => i !== at) }) }
            : {})}
        />
      ))}
      <div className="flex flex-wrap items-center gap-1">
        {rows.rows.length > 1 && (
          <SegmentedControl
            label={`${label}: which rows must hold`}
            size="sm"
            options={[
              { value: "and", label: "all hold" },
              { value: "or", label: "one holds" },
            ]}
            value={rows.join}
            onValueChange={(join) => setRows({ ...rows, join })}
          />
        )}
        <Button
          size="sm"
          variant="ghost"
          icon={<Plus aria-hidden />}
          onClick={() => setRows({ ...rows, rows: [...rows.rows, { ...NEW_ROW }] })}
        >
          Add a row
        </Button>
        <Button size="sm" variant="ghost" className="ml-auto" onClick={() => setWantsText(true)}>
          Write it as text
        </Button>
      </div>
    </fieldset>
  );
}

const NEW_ROW: ConditionRow = { key: "", operator: "is", value: "" };
const EMPTY: ConditionRows = { join: "and", rows: [NEW_ROW] };

interface RowProps {
  label: string;
  row: ConditionRow;
  onChange: (row: ConditionRow) => void;
  onRemove?: () => void;
}

function Row({ label, row, onChange, onRemove }: RowProps) {
  const { keys } = useFormScope();
  const id = useId();
  const { hasValue } = operators[row.operator];
  return (
    <div className="flex items-start gap-1.5">
      <div className="grid min-w-0 flex-1 grid-cols-[minmax(0,1fr)_auto] gap-1.5">
        <TextField
          label={`${label}: key`}
          hideLabel
          mono
          list={id}
          placeholder="key"
          value={row.key}
          onValueChange={(key) => onChange({ ...row, key: key.trim().replace(/^state\./, "") })}
        />
        <datalist id={id}>
          {keys.map(({ key }) => (
            <option key={key} value={key} />
          ))}
        </datalist>
        <Select<Operator>
          label={`${label}: compared how`}
          hideLabel
          options={(Object.keys(operators) as Operator[]).map((value) => ({
            value,
            label: operators[value].label,
          }))}
          value={row.operator}
          onValueChange={(operator) => onChange({ ...row, operator })}
          fieldClassName="w-36"
        />
        {hasValue && (
          <TextField
            label={`${label}: value`}
            hideLabel
            placeholder="value"
            value={row.value}
            onValueChange={(value) => onChange({ ...row, value })}
            fieldClassName="col-span-2"
          />
        )}
      </div>
      {onRemove && <IconButton label={`Remove ${label}`} icon={<X aria-hidden />} onClick={onRemove} />}
    </div>
  );
}
