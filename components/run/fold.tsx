import clsx from "clsx";
import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

/** A line that opens. */
export function Fold({
  icon,
  title,
  aside,
  children,
  isOpen,
}: {
  icon?: ReactNode;
  title: string;
  aside?: string | undefined;
  children: ReactNode;
  isOpen?: boolean | undefined;
}) {
  return (
    <details open={isOpen} className="group/fold min-w-0">
      <summary className="flex min-h-7 cursor-pointer list-none items-center gap-2 rounded-md px-1 text-[13px] text-ink-2 hover:bg-ink/5 hover:text-ink pointer-coarse:min-h-10 [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden
          className="size-3.5 shrink-0 text-ink-3 transition-transform [details[open]>summary>&]:rotate-90"
        />
        {icon ? <span className="inline-flex shrink-0 text-ink-3 [&>svg]:size-3.5">{icon}</span> : null}
        <span className="shrink-0 font-medium">{title}</span>
        {aside ? (
          <span className={clsx("min-w-0 truncate text-xs text-ink-3 [details[open]>summary>&]:invisible")}>
            {aside}
          </span>
        ) : null}
      </summary>
      <div className="pt-1 pb-2">{children}</div>
    </details>
  );
}
