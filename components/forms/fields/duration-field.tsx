"use client";

import { useState } from "react";
import { Field } from "@/components/ui/input/field";
import { NumberField } from "@/components/ui/input/number-field";
import { Select } from "@/components/ui/input/select";
import type { FieldProps } from "../field-props";

const units = { ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 };
type Unit = keyof typeof units;
const UNIT_LABELS: Record<Unit, string> = {
  ms: "milliseconds",
  s: "seconds",
  min: "minutes",
  h: "hours",
  d: "days",
};
/** Units for durations of programs, and for those of people. */
const SHORT: readonly Unit[] = ["ms", "s", "min", "h"];
const LONG: readonly Unit[] = ["s", "min", "h", "d"];

/** The largest unit in which a duration is a round number. */
function unitOf(ms: number, isLong: boolean): Unit {
  if (isLong && ms >= units.d && ms % units.d === 0) return "d";
  if (ms >= units.h && ms % units.h === 0) return "h";
  if (ms >= units.min && ms % units.min === 0) return "min";
  return ms >= 1000 && ms % 100 === 0 ? "s" : ms === 0 ? "s" : "ms";
}

/** The time that people have, stored in whole seconds. */
export function SecondsField({
  value,
  onChange,
  ...labelProps
}: FieldProps<number | undefined> & { placeholder?: string | undefined }) {
  return (
    <DurationField
      {...labelProps}
      isLong
      value={typeof value === "number" ? value * 1000 : undefined}
      onChange={(ms) => onChange(ms === undefined ? undefined : Math.max(1, Math.round(ms / 1000)))}
    />
  );
}

/** A duration in a suitable unit, stored in milliseconds. `isLong`: offers units up to days. */
export function DurationField({
  label,
  hint,
  error,
  value,
  onChange,
  placeholder,
  isLong = false,
}: FieldProps<number | undefined> & { placeholder?: string | undefined; isLong?: boolean }) {
  const ms = typeof value === "number" ? value : null;
  const [unit, setUnit] = useState<Unit>(() => (ms === null ? (isLong ? "h" : "s") : unitOf(ms, isLong)));
  const set = (amount: number | null, unit: Unit) =>
    onChange(amount === null ? undefined : Math.max(0, Math.round(amount * units[unit])));
  return (
    <Field label={label} hint={hint} error={error} group>
      <div className="flex gap-2">
        <NumberField
          label={label}
          hideLabel
          min={0}
          value={ms === null ? null : ms / units[unit]}
          onValueChange={(amount) => set(amount, unit)}
          placeholder={placeholder}
          fieldClassName="flex-1"
        />
        <Select<Unit>
          label={`Unit of ${label}`}
          hideLabel
          options={(isLong ? LONG : SHORT).map((value) => ({ value, label: UNIT_LABELS[value] }))}
          value={unit}
          onValueChange={(next) => {
            setUnit(next);
            if (ms !== null) set(ms / units[unit], next);
          }}
          fieldClassName="w-32"
        />
      </div>
    </Field>
  );
}
