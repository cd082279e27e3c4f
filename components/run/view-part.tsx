import type { ReactNode } from "react";
import { Term } from "@/components/ui/term";

/** A titled part of the inspector. */
export function ViewPart({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <h3 className="text-xs font-semibold text-ink-2">
        <Term>{title}</Term>
      </h3>
      {children}
    </section>
  );
}
