"use client";

import { Checkbox as Base } from "@base-ui/react/checkbox";
import { Check, Minus } from "lucide-react";
import { type ReactNode, useId } from "react";
import { OptionLabel } from "./field";

export interface CheckboxProps {
  label: string;
  hint?: ReactNode;
  checked: boolean;
  /** Some of the items that it stands for are checked. */
  indeterminate?: boolean | undefined;
  onCheckedChange: (checked: boolean) => void;
  disabled?: boolean | undefined;
  hideLabel?: boolean | undefined;
}

/** Yes or no; takes effect when its form is saved. */
export function Checkbox({
  label,
  hint,
  checked,
  indeterminate,
  onCheckedChange,
  disabled,
  hideLabel,
}: CheckboxProps) {
  const id = useId();
  return (
    <div className="flex items-start gap-2.5">
      <Base.Root
        checked={checked}
        indeterminate={indeterminate}
        onCheckedChange={(next) => onCheckedChange(next)}
        disabled={disabled}
        aria-label={hideLabel ? label : undefined}
        aria-labelledby={hideLabel ? undefined : `${id}l`}
        aria-describedby={hint && !hideLabel ? `${id}h` : undefined}
        className="mt-0.5 flex size-4 shrink-0 cursor-pointer items-center justify-center rounded-[5px] border border-ink-3 bg-raised transition-colors data-[checked]:border-accent data-[checked]:bg-accent data-[indeterminate]:border-accent data-[indeterminate]:bg-accent data-[disabled]:opacity-50"
      >
        <Base.Indicator className="text-accent-ink">
          {indeterminate ? (
            <Minus aria-hidden="true" className="size-3" strokeWidth={3} />
          ) : (
            <Check aria-hidden="true" className="size-3" strokeWidth={3} />
          )}
        </Base.Indicator>
      </Base.Root>
      {hideLabel ? null : <OptionLabel id={id} label={label} hint={hint} />}
    </div>
  );
}
