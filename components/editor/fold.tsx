import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

/** A part of the inspector that opens and closes; closed, it says in a few words what it holds. */
export function Fold({
  title,
  aside,
  isOpen,
  children,
}: {
  title: string;
  aside?: string | undefined;
  isOpen?: boolean | undefined;
  children: ReactNode;
}) {
  return (
    <details open={isOpen} className="group/fold border-t border-line">
      <summary className="flex h-11 list-none items-center gap-2 px-4 text-[13px] font-semibold hover:bg-ink/3 [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden
          className="size-3.5 shrink-0 text-ink-3 transition-transform group-open/fold:rotate-90"
        />
        {title}
        {aside && (
          <span className="ml-auto min-w-0 truncate font-normal text-ink-3 group-open/fold:hidden">
            {aside}
          </span>
        )}
      </summary>
      <div className="flex flex-col gap-4 px-4 pt-1 pb-5">{children}</div>
    </details>
  );
}
