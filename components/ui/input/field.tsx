"use client";

import clsx from "clsx";
import { type ReactNode, useId } from "react";
import { Term } from "../term";

/** Connects a control with its label, hint and error. Spread it on the control. */
export interface FieldControl {
  id: string;
  "aria-labelledby": string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

export interface FieldLabelProps {
  label: string;
  /** Shows the label to screen readers only. */
  hideLabel?: boolean | undefined;
  hint?: ReactNode;
  error?: ReactNode;
  /** Shown small at the end of the label's line, e.g. "Optional". */
  aside?: ReactNode;
}

export interface FieldProps extends FieldLabelProps {
  className?: string | undefined;
  /** The control, or a function that receives the props that connect it with the label. */
  children: ReactNode | ((control: FieldControl) => ReactNode);
  /** For a group of controls, such as checkboxes, that the label names. */
  group?: boolean | undefined;
}

/** A label, its control, and a hint or an error. */
export function Field({ label, hideLabel, hint, error, aside, className, children, group }: FieldProps) {
  const id = useId();
  const control: FieldControl = {
    id: `${id}c`,
    "aria-labelledby": `${id}l`,
    "aria-describedby": error ? `${id}e` : hint ? `${id}h` : undefined,
    "aria-invalid": error ? true : undefined,
  };
  const labelLine = (
    <>
      <Term>{label}</Term>
      {aside ? <span className="ml-auto font-normal text-ink-3">{aside}</span> : null}
    </>
  );
  const labelClass = clsx(
    "flex items-baseline gap-2 text-[13px] font-medium text-ink",
    hideLabel && "sr-only",
  );
  return (
    <div
      className={clsx("flex min-w-0 flex-col gap-1.5", className)}
      {...(group
        ? {
            role: "group",
            "aria-labelledby": control["aria-labelledby"],
            "aria-describedby": control["aria-describedby"],
            "data-invalid": control["aria-invalid"],
          }
        : {})}
    >
      {group ? (
        <span id={control["aria-labelledby"]} className={labelClass}>
          {labelLine}
        </span>
      ) : (
        <label id={control["aria-labelledby"]} htmlFor={control.id} className={labelClass}>
          {labelLine}
        </label>
      )}
      {typeof children === "function" ? children(control) : children}
      {error ? (
        <p id={`${id}e`} className="text-[13px] text-failed">
          {error}
        </p>
      ) : hint ? (
        <p id={`${id}h`} className="text-[13px] text-ink-3">
          {hint}
        </p>
      ) : null}
    </div>
  );
}

/** The text beside a checkbox or switch. */
export function OptionLabel(props: { id: string; label: string; hint?: ReactNode; className?: string }) {
  const { id, label, hint, className } = props;
  return (
    <span className={clsx("min-w-0", className)}>
      <label id={`${id}l`} htmlFor={id} className="block text-sm text-ink">
        {label}
      </label>
      {hint ? (
        <span id={`${id}h`} className="block text-[13px] text-ink-3">
          {hint}
        </span>
      ) : null}
    </span>
  );
}
