import clsx from "clsx";
import { Drama } from "lucide-react";

/** Labels content of the offline demo. `full`: the long label. */
export function SimulatedBadge({ full, className }: { full?: boolean; className?: string }) {
  const title = "Demo: a sample or placeholder answer, not written by an AI";
  return (
    <span
      title={full ? undefined : title}
      className={clsx(
        "inline-flex h-5 shrink-0 items-center gap-1 whitespace-nowrap rounded-md border border-dashed border-waiting/70 px-1.5 text-xs text-ink-2",
        className,
      )}
    >
      <Drama aria-hidden="true" className="size-3.5 text-waiting" strokeWidth={1.75} />
      {full ? (
        title
      ) : (
        <>
          Demo<span className="sr-only">, not written by an AI</span>
        </>
      )}
    </span>
  );
}
