import clsx from "clsx";
import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

type Variant = "line" | "section" | "box";

const VARIANTS: Readonly<
  Record<Variant, { whole: string; summary: string; title: string; aside: string; body: string }>
> = {
  line: {
    whole: "min-w-0",
    summary:
      "min-h-7 cursor-pointer rounded-md px-1 text-ink-2 hover:bg-ink/5 hover:text-ink pointer-coarse:min-h-10",
    title: "shrink-0 font-medium",
    aside: "text-xs [details[open]>summary>&]:invisible",
    body: "pt-1 pb-2",
  },
  section: {
    whole: "border-t border-line",
    summary: "h-11 px-4 font-semibold hover:bg-ink/3",
    title: "",
    aside: "ml-auto font-normal [details[open]>summary>&]:hidden",
    body: "flex flex-col gap-4 px-4 pt-1 pb-5",
  },
  box: {
    whole: "rounded-lg border border-line",
    summary: "h-9 px-2.5 text-ink-2 hover:text-ink",
    title: "",
    aside: "",
    body: "flex flex-col gap-4 border-t border-line p-3",
  },
};

/**
 * A part that opens and closes. `look`: a line among lines (the usual), a section of a panel, or a box in a form for what
 * few people need. `aside` says in a few words what a closed part holds.
 */
export function Disclosure({
  title,
  variant = "line",
  icon,
  aside,
  isOpen,
  children,
}: {
  title: string;
  variant?: Variant | undefined;
  icon?: ReactNode;
  aside?: string | undefined;
  isOpen?: boolean | undefined;
  children: ReactNode;
}) {
  const styles = VARIANTS[variant];
  return (
    <details open={isOpen} className={styles.whole}>
      <summary
        className={clsx(
          "flex list-none items-center gap-2 text-[13px] [&::-webkit-details-marker]:hidden",
          styles.summary,
        )}
      >
        <ChevronRight
          aria-hidden
          className="size-3.5 shrink-0 text-ink-3 transition-transform [details[open]>summary>&]:rotate-90"
        />
        {icon ? <span className="inline-flex shrink-0 text-ink-3 [&>svg]:size-3.5">{icon}</span> : null}
        <span className={styles.title}>{title}</span>
        {aside ? <span className={clsx("min-w-0 truncate text-ink-3", styles.aside)}>{aside}</span> : null}
      </summary>
      <div className={styles.body}>{children}</div>
    </details>
  );
}
