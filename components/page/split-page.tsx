import clsx from "clsx";
import { ChevronLeft } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";

export interface SplitPageProps {
  /** Labels the list and the link back to it, such as "All crews". */
  label: string;
  /** The URL of the list alone. */
  href: string;
  list: ReactNode;
  /** Whether an item is open; phones then show it instead of the list. */
  isOpen: boolean;
  children: ReactNode;
}

/** A list next to its open item. Phones show one of the two. */
export function SplitPage({ label, href, list, isOpen, children }: SplitPageProps) {
  return (
    <div className="flex h-full min-h-0">
      <section
        aria-label={label}
        className={clsx(
          "flex min-h-0 w-full shrink-0 flex-col border-line md:w-76 md:border-r",
          isOpen && "max-md:hidden",
        )}
      >
        {list}
      </section>
      <div className={clsx("flex min-h-0 min-w-0 flex-1 flex-col", !isOpen && "max-md:hidden")}>
        {isOpen ? (
          <Link href={href} className="flex items-center gap-1 px-3 py-3 text-[13px] text-ink-2 md:hidden">
            <ChevronLeft aria-hidden="true" className="size-4" /> {label}
          </Link>
        ) : null}
        {children}
      </div>
    </div>
  );
}
