"use client";

import { Switch as Base } from "@base-ui/react/switch";
import { type ReactNode, useId } from "react";
import { OptionLabel } from "./field";

export interface SwitchProps {
  label: string;
  hint?: ReactNode;
  checked: boolean;
  onCheckedChange: (checked: boolean) => void;
  disabled?: boolean | undefined;
  hideLabel?: boolean | undefined;
}

/** On or off; takes effect immediately. */
export function Switch({ label, hint, checked, onCheckedChange, disabled, hideLabel }: SwitchProps) {
  const id = useId();
  return (
    <div className="flex items-start gap-3">
      {hideLabel ? null : <OptionLabel id={id} label={label} hint={hint} className="flex-1" />}
      <Base.Root
        checked={checked}
        onCheckedChange={(next) => onCheckedChange(next)}
        disabled={disabled}
        aria-label={hideLabel ? label : undefined}
        aria-labelledby={hideLabel ? undefined : `${id}l`}
        aria-describedby={hint && !hideLabel ? `${id}h` : undefined}
        className="relative mt-px inline-flex h-5 w-8.5 shrink-0 cursor-pointer rounded-full bg-ink-3/60 p-0.5 transition-colors data-[checked]:bg-accent data-[disabled]:cursor-not-allowed data-[disabled]:opacity-50"
      >
        <Base.Thumb className="size-4 rounded-full bg-raised shadow-1 transition-transform data-[checked]:translate-x-3.5 dark:bg-ink data-[checked]:dark:bg-accent-ink" />
      </Base.Root>
    </div>
  );
}
