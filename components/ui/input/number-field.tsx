"use client";

import { NumberField as Base } from "@base-ui/react/number-field";
import { Minus, Plus } from "lucide-react";
import { Field, type FieldLabelProps } from "./field";

export interface NumberFieldProps extends FieldLabelProps {
  value: number | null;
  onValueChange: (value: number | null) => void;
  min?: number | undefined;
  max?: number | undefined;
  step?: number | undefined;
  /** Shown after the number, such as "s" or "US$". */
  unit?: string | undefined;
  placeholder?: string | undefined;
  disabled?: boolean | undefined;
  format?: Intl.NumberFormatOptions | undefined;
  fieldClassName?: string | undefined;
}

/** A number with step buttons and arrow keys; null if empty. */
export function NumberField({
  label,
  hideLabel,
  hint,
  error,
  aside,
  value,
  onValueChange,
  unit,
  placeholder,
  fieldClassName,
  format,
  ...rest
}: NumberFieldProps) {
  return (
    <Field {...{ label, hideLabel, hint, error, aside }} className={fieldClassName}>
      {(control) => (
        <Base.Root
          {...rest}
          id={control.id}
          value={value}
          onValueChange={(next) => onValueChange(next)}
          format={format ?? { maximumFractionDigits: 6, useGrouping: false }}
          locale="en-US"
        >
          <Base.Group className="control flex h-8 items-stretch pointer-coarse:h-10">
            <Base.Input
              {...control}
              placeholder={placeholder}
              className="w-full min-w-0 flex-1 bg-transparent px-2.5 tabular-nums outline-none"
            />
            {unit ? <span className="self-center pr-2 text-[13px] text-ink-3">{unit}</span> : null}
            <Base.Decrement aria-label={`Decrease ${label}`} className={step}>
              <Minus aria-hidden="true" className="size-3.5" />
            </Base.Decrement>
            <Base.Increment aria-label={`Increase ${label}`} className={step}>
              <Plus aria-hidden="true" className="size-3.5" />
            </Base.Increment>
          </Base.Group>
        </Base.Root>
      )}
    </Field>
  );
}

const step =
  "flex w-7 items-center justify-center border-l border-line text-ink-3 last:rounded-r-[7px] hover:bg-sunken hover:text-ink disabled:opacity-40 pointer-coarse:w-10";
