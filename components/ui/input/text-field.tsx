"use client";

import clsx from "clsx";
import type { ComponentProps, ReactNode } from "react";
import { Field, type FieldLabelProps } from "./field";

export interface TextFieldProps
  extends FieldLabelProps,
    Omit<ComponentProps<"input">, "value" | "onChange" | "children"> {
  value: string;
  onValueChange: (value: string) => void;
  /** Uses a monospaced font, for data. */
  mono?: boolean | undefined;
  /** Inside the field, before the text. */
  icon?: ReactNode;
  fieldClassName?: string | undefined;
}

/** One line of text. */
export function TextField({
  label,
  hideLabel,
  hint,
  error,
  aside,
  value,
  onValueChange,
  mono,
  icon,
  className,
  fieldClassName,
  ...rest
}: TextFieldProps) {
  return (
    <Field {...{ label, hideLabel, hint, error, aside }} className={fieldClassName}>
      {(control) => (
        <span className="relative block">
          {icon ? (
            <span className="pointer-events-none absolute inset-y-0 left-2.5 flex items-center text-ink-3 [&>svg]:size-4">
              {icon}
            </span>
          ) : null}
          <input
            type="text"
            autoComplete="off"
            {...rest}
            {...control}
            value={value}
            onChange={(event) => onValueChange(event.target.value)}
            className={clsx(
              "control h-8 px-2.5 pointer-coarse:h-10",
              icon && "pl-8",
              mono && "font-mono text-[13px]",
              className,
            )}
          />
        </span>
      )}
    </Field>
  );
}
