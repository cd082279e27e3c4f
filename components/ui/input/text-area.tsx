"use client";

import clsx from "clsx";
import type { ComponentProps } from "react";
import { Field, type FieldLabelProps } from "./field";

export interface TextAreaProps
  extends FieldLabelProps,
    Omit<ComponentProps<"textarea">, "value" | "onChange" | "children"> {
  value: string;
  onValueChange: (value: string) => void;
  mono?: boolean | undefined;
  fieldClassName?: string | undefined;
}

/** A multi-line text field that grows up to a limit. */
export function TextArea({
  label,
  hideLabel,
  hint,
  error,
  aside,
  value,
  onValueChange,
  mono,
  rows = 3,
  className,
  fieldClassName,
  ...rest
}: TextAreaProps) {
  return (
    <Field {...{ label, hideLabel, hint, error, aside }} className={fieldClassName}>
      {(control) => (
        <textarea
          {...rest}
          {...control}
          rows={rows}
          value={value}
          onChange={(event) => onValueChange(event.target.value)}
          className={clsx(
            "control field-sizing-content max-h-96 resize-y px-2.5 py-1.5",
            mono && "font-mono text-[13px] leading-5",
            className,
          )}
          style={{ minHeight: `calc(${rows} * 1.25rem + 14px)` }}
        />
      )}
    </Field>
  );
}
