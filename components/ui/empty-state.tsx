import clsx from "clsx";
import type { ReactNode } from "react";

/** An empty state: what will appear here, and the first action. */
export function EmptyState({
  icon,
  title,
  children,
  actions,
  isPage,
  className,
}: {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
  /** It is the whole page, and its title the page's heading. */
  isPage?: boolean | undefined;
  className?: string | undefined;
}) {
  const Title = isPage ? "h1" : "p";
  return (
    <div className={clsx("flex flex-col items-center gap-3 px-6 py-12 text-center", className)}>
      {icon ? (
        <span aria-hidden="true" className="text-ink-3 [&>svg]:size-6 [&>svg]:stroke-[1.5]">
          {icon}
        </span>
      ) : null}
      <Title className="text-sm font-medium text-ink">{title}</Title>
      {children ? <div className="max-w-sm text-sm text-ink-2">{children}</div> : null}
      {actions ? <div className="mt-1 flex flex-wrap justify-center gap-2">{actions}</div> : null}
    </div>
  );
}
