"use client";

import { Plus, X } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { Select } from "@/components/ui/input/select";
import { SuggestField } from "@/components/ui/input/suggest-field";
import { keysOf } from "@/server/domain/base/guards";
import { useFormScope } from "../form-scope";
import { keyFacts, keySuggestions } from "../key-facts";
import {
  type ConditionRow,
  type ConditionRows,
  type Operator,
  operators,
  readRows,
  writeRows,
} from "./cel-rows";
import { ExpressionField } from "./expression-field";

/** A condition as rows if they can express it, otherwise as text. */
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
  // Incomplete rows without a key stay here.
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
            Use builder
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
            label={`${label}: match`}
            size="sm"
            options={[
              { value: "and", label: "all" },
              { value: "or", label: "any" },
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
          Add condition
        </Button>
        <Button size="sm" variant="ghost" className="ml-auto" onClick={() => setWantsText(true)}>
          Edit as expression
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
  const scope = useFormScope();
  const { hasValue } = operators[row.operator];
  return (
    <div className="flex items-start gap-1.5">
      <div className="grid min-w-0 flex-1 grid-cols-[minmax(0,1fr)_auto] gap-1.5">
        <SuggestField
          label={`${label}: key`}
          hideLabel
          mono
          placeholder="key"
          suggestions={keySuggestions(scope)}
          value={row.key}
          onValueChange={(key) => onChange({ ...row, key: key.trim().replace(/^state\./, "") })}
        />
        <Select<Operator>
          label={`${label}: operator`}
          hideLabel
          options={keysOf(operators).map((value) => ({
            value,
            label: operators[value].label,
          }))}
          value={row.operator}
          onValueChange={(operator) => onChange({ ...row, operator })}
          fieldClassName="w-36"
        />
        {hasValue && (
          <SuggestField
            label={`${label}: value`}
            hideLabel
            placeholder="value"
            suggestions={keyFacts(scope.graph, row.key).values.map((value) => ({ value }))}
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
