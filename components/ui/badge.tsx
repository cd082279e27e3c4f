import clsx from "clsx";
import type { ReactNode } from "react";

const tones = {
  neutral: "border-line bg-sunken text-ink-2",
  accent: "border-transparent bg-accent-soft text-accent",
  waiting: "border-waiting/35 bg-waiting/10 text-ink",
  failed: "border-failed/35 bg-failed/8 text-failed",
  completed: "border-completed/35 bg-completed/8 text-ink",
};

export function Badge({
  tone = "neutral",
  icon,
  children,
  className,
}: {
  tone?: keyof typeof tones | undefined;
  icon?: ReactNode;
  children: ReactNode;
  className?: string | undefined;
}) {
  return (
    <span
      className={clsx(
        "inline-flex h-5 shrink-0 items-center gap-1 whitespace-nowrap rounded-md border px-1.5 text-xs [&_svg]:size-3",
        tones[tone],
        className,
      )}
    >
      {icon}
      {children}
    </span>
  );
}
