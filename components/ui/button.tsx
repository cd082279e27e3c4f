"use client";

import clsx from "clsx";
import Link from "next/link";
import type { ComponentProps, ReactNode } from "react";
import { Spinner } from "./spinner";

export type ButtonVariant = "primary" | "secondary" | "ghost" | "danger";
export type ButtonSize = "sm" | "md";

interface ButtonAppearance {
  variant?: ButtonVariant | undefined;
  size?: ButtonSize | undefined;
  /** Shown before the label, 16 px. */
  icon?: ReactNode;
  /** Shows a spinner and ignores clicks. */
  pending?: boolean | undefined;
}

export type ButtonProps = ButtonAppearance & ComponentProps<"button">;

const variants: Record<ButtonVariant, string> = {
  primary:
    "border-transparent bg-accent text-accent-ink hover:bg-accent-hover data-[popup-open]:bg-accent-hover",
  secondary: "border-line-strong bg-raised text-ink hover:bg-sunken data-[popup-open]:bg-sunken",
  ghost:
    "border-transparent bg-transparent text-ink-2 hover:bg-ink/6 hover:text-ink data-[popup-open]:bg-ink/6",
  danger: "border-failed/40 bg-raised text-failed hover:border-failed hover:bg-failed/8",
};

const sizes: Record<ButtonSize, string> = {
  sm: "h-7 gap-1.5 px-2.5 text-[13px] pointer-coarse:h-9",
  md: "h-8 gap-2 px-3 text-sm pointer-coarse:h-10",
};

/** The classes of a button, for other elements that look like one. */
export function buttonClass({ variant = "secondary", size = "md" }: ButtonAppearance = {}): string {
  return clsx(
    "inline-flex shrink-0 select-none items-center justify-center whitespace-nowrap rounded-lg border font-medium",
    "transition-colors duration-100 disabled:pointer-events-none disabled:opacity-50",
    variants[variant],
    sizes[size],
  );
}

/** A button. One view has at most one `primary`. */
export function Button({
  variant,
  size,
  icon,
  pending,
  className,
  children,
  disabled,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled || pending}
      aria-busy={pending || undefined}
      className={clsx(buttonClass({ variant, size }), className)}
    >
      {pending ? <Spinner size={14} /> : <Mark>{icon}</Mark>}
      {children}
    </button>
  );
}

/** A link that looks like a button, for navigation. */
export function ButtonLink({
  variant,
  size,
  icon,
  className,
  children,
  ...rest
}: Omit<ButtonAppearance, "pending"> & ComponentProps<typeof Link>) {
  return (
    <Link {...rest} className={clsx(buttonClass({ variant, size }), className)}>
      <Mark>{icon}</Mark>
      {children}
    </Link>
  );
}

function Mark({ children }: { children: ReactNode }) {
  return children ? <span className="inline-flex [&>svg]:size-4">{children}</span> : null;
}
