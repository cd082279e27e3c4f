"use client";

import { Radio } from "@base-ui/react/radio";
import { RadioGroup } from "@base-ui/react/radio-group";
import clsx from "clsx";
import type { ReactNode } from "react";

export interface SegmentedControlProps<V extends string> {
  /** The accessible name of the group. */
  label: string;
  options: readonly { value: V; label: string; icon?: ReactNode; iconOnly?: boolean }[];
  value: V;
  onValueChange: (value: V) => void;
  size?: "sm" | "md" | undefined;
  /** Segments share the width. */
  fill?: boolean | undefined;
  className?: string | undefined;
}

/** A few options side by side, one of them selected. */
export function SegmentedControl<V extends string>({
  label,
  options,
  value,
  onValueChange,
  size = "md",
  fill,
  className,
}: SegmentedControlProps<V>) {
  return (
    <RadioGroup
      aria-label={label}
      value={value}
      onValueChange={(next) => onValueChange(next)}
      className={clsx(
        "rounded-lg border border-line bg-sunken p-0.5",
        fill ? "flex" : "inline-flex",
        className,
      )}
    >
      {options.map((option) => (
        <Radio.Root
          key={option.value}
          value={option.value}
          aria-label={option.label}
          title={option.iconOnly ? option.label : undefined}
          className={clsx(
            "inline-flex cursor-pointer select-none items-center justify-center gap-1.5 rounded-md border border-transparent text-center text-[13px] leading-4.5 text-ink-2 transition-colors hover:text-ink",
            "data-[checked]:border-line data-[checked]:bg-raised data-[checked]:font-medium data-[checked]:text-ink data-[checked]:shadow-1 [&_svg]:size-4",
            // It grows if labels need a second line.
            size === "sm" ? "min-h-6 pointer-coarse:min-h-8" : "min-h-7 pointer-coarse:min-h-9",
            option.iconOnly ? "w-8" : "px-2.5",
            fill && "flex-1",
          )}
        >
          {option.icon}
          {option.iconOnly ? null : option.label}
        </Radio.Root>
      ))}
    </RadioGroup>
  );
}
