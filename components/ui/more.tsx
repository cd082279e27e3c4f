import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

/** What few people need, folded away. */
export function More({ title = "More", children }: { title?: string; children: ReactNode }) {
  return (
    <details className="group/more rounded-lg border border-line">
      <summary className="flex h-9 list-none items-center gap-2 px-2.5 text-[13px] text-ink-2 hover:text-ink [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden
          className="size-3.5 text-ink-3 transition-transform group-open/more:rotate-90"
        />
        {title}
      </summary>
      <div className="flex flex-col gap-4 border-t border-line p-3">{children}</div>
    </details>
  );
}
