"use client";

import { Checkbox } from "./checkbox";
import { Field, type FieldLabelProps } from "./field";

export interface CheckboxGroupProps extends FieldLabelProps {
  options: readonly { value: string; label: string; hint?: string | undefined }[];
  value: readonly string[];
  /** Called with the checked options, in their order. */
  onValueChange: (value: string[]) => void;
  className?: string | undefined;
}

/** Picks any number of options. */
export function CheckboxGroup({
  options,
  value,
  onValueChange,
  className,
  ...labelProps
}: CheckboxGroupProps) {
  return (
    <Field {...labelProps} group>
      <ul className={className ?? "flex flex-col gap-2"}>
        {options.map((option) => (
          <li key={option.value}>
            <Checkbox
              label={option.label}
              hint={option.hint}
              checked={value.includes(option.value)}
              onCheckedChange={(on) =>
                onValueChange(
                  options
                    .map((other) => other.value)
                    .filter((other) => (other === option.value ? on : value.includes(other))),
                )
              }
            />
          </li>
        ))}
      </ul>
    </Field>
  );
}
