"use client";

import { useState } from "react";
import { z } from "zod";
import { NumberField } from "@/components/ui/input/number-field";
import { Select } from "@/components/ui/input/select";
import { TextArea } from "@/components/ui/input/text-area";
import { TextField } from "@/components/ui/input/text-field";
import { FoldedRow, RowList } from "@/components/ui/row-list";
import { guardrailFunctions } from "@/server/domain/agent/guardrail-functions";
import { GUARDRAIL_KINDS, GUARDRAIL_TARGETS, Guardrail } from "@/server/domain/agent/role";
import { guardrailNote } from "@/server/domain/agent/unchecked";
import { isSameJson } from "@/server/domain/base/json";
import type { FieldProps } from "../field-props";
import { useFormScope } from "../form-scope";
import { SchemaField } from "../schema/schema-field";
import { ExpressionField } from "./expression-field";
import {
  changedRow,
  describeGuardrail,
  type GuardedKeys,
  type GuardrailErrors,
  guardedReads,
  guardrailErrors,
  isWhole,
  keptOf,
  rowsOf,
  schemaOf,
} from "./guardrail-rows";
import { freshKey } from "./named-rows";

const NO_KEYS: GuardedKeys = { input: [], output: [] };

export interface GuardrailsFieldProps extends Omit<FieldProps, "onChange" | "value"> {
  value: readonly Guardrail[];
  keys?: GuardedKeys;
  onChange: (rules: Guardrail[]) => void;
  /** Called when a guardrail becomes incomplete, and when all are complete again. */
  onErrorChange?: (message: string | null) => void;
}

/** Guardrails on the input and output of an agent. Incomplete ones stay here and are not saved. */
export function GuardrailsField({
  label,
  hideLabel,
  hint,
  error,
  value,
  keys = NO_KEYS,
  onChange,
  onErrorChange,
}: GuardrailsFieldProps) {
  const [written, setWritten] = useState(() => rowsOf(value));
  const rows = isSameJson(keptOf(written), [...value]) ? written : rowsOf(value);
  const write = (next: typeof rows) => {
    setWritten(next);
    const unfinished = next.find(({ now }) => !isWhole(now));
    onErrorChange?.(unfinished ? `Complete the guardrail “${unfinished.now.name}”.` : null);
    if (!isSameJson(keptOf(next), [...value])) onChange(keptOf(next));
  };
  return (
    <RowList
      {...{ label, hideLabel, hint, error }}
      plain
      items={rows}
      addLabel="Add guardrail"
      newItem={() => {
        const name = freshKey(
          "rule",
          rows.map(({ now }) => now.name),
        );
        return { now: Guardrail.parse({ name, kind: "expression", spec: "" }), kept: null };
      }}
      onItemsChange={write}
      removeLabel={({ now }, at) => `Remove guardrail ${now.name || at + 1}`}
    >
      {(row, at, remove, set) => (
        <FoldedRow
          label={`Guardrail ${row.now.name || at + 1}`}
          isOpenAtFirst={row.kept === null}
          remove={remove}
          summary={
            <span className="flex min-w-0 flex-1 flex-col">
              <span className="truncate font-medium">{row.now.name || "Unnamed"}</span>
              <span className="line-clamp-2 text-[13px] text-ink-3 [overflow-wrap:anywhere]">
                {isWhole(row.now) ? describeGuardrail(row.now) : "Incomplete, not active"}
              </span>
            </span>
          }
        >
          <GuardrailFields rule={row.now} keys={keys} onChange={(change) => set(changedRow(row, change))} />
        </FoldedRow>
      )}
    </RowList>
  );
}

const TARGETS = Guardrail.shape.target
  .unwrap()
  .options.map((value) => ({ value, label: GUARDRAIL_TARGETS[value] }));
const KINDS = Guardrail.shape.kind.options.map((value) => ({ value, label: GUARDRAIL_KINDS[value] }));
const OTHERWISE: { value: Guardrail["on_fail"]; label: string }[] = [
  { value: "retry", label: "Retry" },
  { value: "fail", label: "Fail" },
  { value: "escalate", label: "Ask a person" },
  { value: "warn", label: "Warn" },
];

interface GuardrailFieldsProps {
  rule: Guardrail;
  keys: GuardedKeys;
  onChange: (change: Partial<Guardrail>) => void;
}

function GuardrailFields({ rule, keys, onChange }: GuardrailFieldsProps) {
  const errors = guardrailErrors(rule);
  return (
    <div className="@container flex flex-col gap-3">
      <TextField
        label="Name"
        value={rule.name}
        error={errors.name}
        onValueChange={(name) => onChange({ name })}
      />
      <div className="grid grid-cols-1 gap-3 @xs:grid-cols-2">
        <Select
          label="Applies to"
          options={TARGETS}
          value={rule.target}
          onValueChange={(target) => onChange({ target })}
        />
        <Select
          label="Check type"
          options={KINDS}
          value={rule.kind}
          onValueChange={(kind) => onChange({ kind })}
        />
      </div>
      <SpecField rule={rule} keys={keys} errors={errors} onChange={onChange} />
      <div className="grid grid-cols-1 gap-3 @xs:grid-cols-2">
        <Select
          label="On failure"
          options={rule.target === "input" ? OTHERWISE.filter(({ value }) => value !== "retry") : OTHERWISE}
          value={rule.on_fail}
          onValueChange={(on_fail) => onChange({ on_fail })}
        />
        {rule.on_fail === "retry" ? (
          <NumberField
            label="Max retries"
            min={1}
            max={10}
            value={rule.max_retries}
            onValueChange={(times) => onChange({ max_retries: Math.round(times ?? 2) })}
          />
        ) : null}
      </div>
    </div>
  );
}

function SpecField({
  rule: { kind, spec, target },
  keys,
  errors,
  onChange,
}: GuardrailFieldsProps & { errors: GuardrailErrors }) {
  const set = (next: string) => onChange({ spec: next });
  switch (kind) {
    case "expression": {
      const reads = guardedReads(target, keys);
      const mayRead = `Can read ${reads.join(", ")} and the state`;
      return (
        <ExpressionField
          label="Condition"
          hint={mayRead}
          // Errors replace the hint, but beginners need both.
          error={errors.spec && (spec.trim() === "" ? `${errors.spec} ${mayRead}` : errors.spec)}
          result="bool"
          placeholder={`size(${reads[0]}) < 2000`}
          variables={reads}
          value={spec}
          onChange={set}
        />
      );
    }
    case "json_schema":
      return (
        <SchemaField
          label="Schema"
          error={errors.spec}
          value={schemaOf(spec)}
          onChange={(schema) => set(schema === undefined ? "" : JSON.stringify(schema))}
          hint={guardrailNote({ kind, spec }) ?? undefined}
        />
      );
    case "regex":
      return (
        <TextField
          label="Pattern"
          mono
          placeholder="^[A-Z]"
          hint={guardrailNote({ kind, spec }) ?? "Regular expression, matched anywhere in the text"}
          error={errors.spec}
          value={spec}
          onValueChange={set}
        />
      );
    case "llm_judge":
      return (
        <TextArea
          label="Rule"
          hint="A model judges the value against this rule only"
          placeholder="It doesn't mention any competitors."
          rows={2}
          error={errors.spec}
          value={spec}
          onValueChange={set}
        />
      );
    case "registered":
      return (
        <Select
          label="Check"
          error={errors.spec}
          options={guardrailFunctions().map(({ name, description }) => ({
            value: name,
            label: name,
            hint: description,
          }))}
          value={spec || null}
          onValueChange={set}
        />
      );
  }
}

const Guardrails = z.array(Guardrail);

/** Guardrails of a task, in addition to those of its role. */
export function TaskGuardrails({ value, ...props }: FieldProps) {
  const { node } = useFormScope();
  return (
    <GuardrailsField
      {...props}
      value={Guardrails.safeParse(value).data ?? []}
      keys={{
        input: node ? [...node.input_keys, ...node.optional_input_keys] : [],
        output: node?.output_keys ?? [],
      }}
    />
  );
}
