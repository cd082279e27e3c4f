import clsx from "clsx";
import { type ReactNode, useId } from "react";
import { Term } from "./term";

/** A part of a page or inspector, with a heading. */
export function Panel({
  title,
  description,
  actions,
  children,
  className,
  flush,
}: {
  title?: string | undefined;
  description?: ReactNode;
  actions?: ReactNode;
  /** Absent: only the header. */
  children?: ReactNode;
  className?: string | undefined;
  /** Without inner padding: for lists and tables. */
  flush?: boolean | undefined;
}) {
  const id = useId();
  return (
    <section
      aria-labelledby={title ? id : undefined}
      className={clsx("overflow-hidden rounded-xl border border-line bg-surface", className)}
    >
      {title ? (
        <header
          className={clsx(
            "flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3",
            children && "border-b border-line",
          )}
        >
          <div className="min-w-32 flex-1">
            <h2 id={id} className="text-sm font-semibold">
              <Term>{title}</Term>
            </h2>
            {description ? <p className="mt-0.5 text-[13px] text-ink-2">{description}</p> : null}
          </div>
          {actions}
        </header>
      ) : null}
      {flush || !children ? children : <div className="p-4">{children}</div>}
    </section>
  );
}

/** A titled part of a form, without a box of its own. */
export function Section({
  title,
  description,
  actions,
  children,
  className,
}: {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  className?: string | undefined;
}) {
  const id = useId();
  return (
    <section aria-labelledby={id} className={clsx("flex flex-col gap-3", className)}>
      <header className="flex items-baseline gap-3">
        <h3 id={id} className="text-xs font-semibold text-ink-2">
          <Term>{title}</Term>
        </h3>
        {description ? <p className="min-w-0 flex-1 text-xs text-ink-3">{description}</p> : null}
        {actions ? <div className="ml-auto">{actions}</div> : null}
      </header>
      {children}
    </section>
  );
}
