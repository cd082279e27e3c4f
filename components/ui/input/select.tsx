"use client";

import { Select as Base } from "@base-ui/react/select";
import clsx from "clsx";
import { Check, ChevronsUpDown } from "lucide-react";
import type { ReactNode } from "react";
import { Field, type FieldLabelProps } from "./field";

export interface SelectOption<V extends string = string> {
  value: V;
  label: string;
  /** A second, muted line. */
  hint?: string | undefined;
  icon?: ReactNode;
}

export interface SelectProps<V extends string> extends FieldLabelProps {
  options: readonly SelectOption<V>[];
  /** Null if nothing is chosen. */
  value: V | null;
  onValueChange: (value: V) => void;
  placeholder?: string | undefined;
  disabled?: boolean | undefined;
  size?: "sm" | "md" | undefined;
  className?: string | undefined;
  fieldClassName?: string | undefined;
}

/** Picks one of several options. */
export function Select<V extends string>({
  label,
  hideLabel,
  hint,
  error,
  aside,
  options,
  value,
  onValueChange,
  placeholder = "Choose…",
  disabled,
  size = "md",
  className,
  fieldClassName,
}: SelectProps<V>) {
  const chosen = options.find((option) => option.value === value);
  return (
    <Field {...{ label, hideLabel, hint, error, aside }} className={fieldClassName}>
      {(control) => (
        <Base.Root
          items={options}
          value={value}
          disabled={disabled}
          onValueChange={(next) => {
            if (next !== null) onValueChange(next);
          }}
        >
          <Base.Trigger
            {...control}
            className={clsx(
              "control flex items-center gap-2 px-2.5 text-left",
              size === "sm" ? "h-7 text-[13px] pointer-coarse:h-9" : "h-8 pointer-coarse:h-10",
              className,
            )}
          >
            {chosen?.icon}
            <span className={clsx("min-w-0 flex-1 truncate", !chosen && "text-ink-3")}>
              {chosen ? chosen.label : (value ?? placeholder)}
            </span>
            <ChevronsUpDown aria-hidden="true" className="size-3.5 shrink-0 text-ink-3" />
          </Base.Trigger>
          <Base.Portal>
            <Base.Positioner
              // Not on the element around it, which stays in the page after the list closes.
              role="region"
              aria-label="Options"
              className="z-[60] outline-none"
              sideOffset={4}
              alignItemWithTrigger={false}
            >
              <Base.Popup className="popup max-h-[min(var(--available-height),24rem)] min-w-(--anchor-width) max-w-96 overflow-y-auto p-1 outline-none">
                {options.map((option) => (
                  <Base.Item
                    key={option.value}
                    value={option.value}
                    className="grid cursor-default grid-cols-[1rem_1fr] items-start gap-x-2 rounded-md px-2 py-1.5 text-sm outline-none data-[highlighted]:bg-ink/6 pointer-coarse:py-2.5"
                  >
                    <Base.ItemIndicator className="col-start-1 pt-0.5">
                      <Check aria-hidden="true" className="size-4 text-accent" />
                    </Base.ItemIndicator>
                    <span className="col-start-2 flex min-w-0 flex-col">
                      <Base.ItemText className="flex items-center gap-2">
                        {option.icon}
                        {option.label}
                      </Base.ItemText>
                      {option.hint ? <span className="text-xs text-ink-3">{option.hint}</span> : null}
                    </span>
                  </Base.Item>
                ))}
              </Base.Popup>
            </Base.Positioner>
          </Base.Portal>
        </Base.Root>
      )}
    </Field>
  );
}
