"use client";

import clsx from "clsx";
import type { ComponentProps, ReactNode } from "react";
import { Tooltip } from "./overlay/tooltip";
import { Spinner } from "./spinner";

export interface IconButtonProps extends Omit<ComponentProps<"button">, "aria-label" | "children"> {
  /** The accessible name and tooltip. */
  label: string;
  icon: ReactNode;
  /** Shown in the tooltip, such as "Ctrl Z". */
  shortcut?: string | undefined;
  variant?: "ghost" | "secondary" | "danger" | undefined;
  size?: "sm" | "md" | undefined;
  side?: "top" | "bottom" | "left" | "right" | undefined;
  /** The state of a toggle. */
  pressed?: boolean | undefined;
  pending?: boolean | undefined;
  /** Hides the tooltip, if the label is visible beside it. */
  plain?: boolean | undefined;
}

const variants = {
  ghost: "border-transparent text-ink-2 hover:bg-ink/6 hover:text-ink",
  secondary: "border-line-strong bg-raised text-ink-2 hover:bg-sunken hover:text-ink",
  danger: "border-transparent text-ink-2 hover:bg-failed/10 hover:text-failed",
};

/** A square button with an icon and a required label. */
export function IconButton({
  label,
  icon,
  shortcut,
  variant = "ghost",
  size = "md",
  side,
  pressed,
  pending,
  plain,
  className,
  disabled,
  ...rest
}: IconButtonProps) {
  const button = (
    <button
      type="button"
      {...rest}
      aria-label={label}
      aria-pressed={pressed}
      aria-busy={pending || undefined}
      // Not `disabled`: it stays focusable, so that people can read its tooltip.
      aria-disabled={disabled || pending || undefined}
      onClick={disabled || pending ? undefined : rest.onClick}
      className={clsx(
        "inline-flex shrink-0 items-center justify-center rounded-lg border transition-colors duration-100",
        "aria-disabled:cursor-not-allowed aria-disabled:opacity-45 aria-disabled:hover:bg-transparent",
        "data-[popup-open]:bg-ink/6 data-[popup-open]:text-ink [&_svg]:size-4",
        size === "sm" ? "size-7 pointer-coarse:size-9" : "size-8 pointer-coarse:size-10",
        variants[variant],
        pressed && "bg-accent-soft text-accent hover:bg-accent-soft hover:text-accent",
        className,
      )}
    >
      {pending ? <Spinner size={14} /> : icon}
    </button>
  );
  if (plain) return button;
  const content = shortcut ? (
    <>
      {label} <span className="ml-1 opacity-65">{shortcut}</span>
    </>
  ) : (
    label
  );
  return (
    <Tooltip content={content} side={side}>
      {button}
    </Tooltip>
  );
}
