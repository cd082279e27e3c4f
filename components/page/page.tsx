import clsx from "clsx";
import type { ReactNode } from "react";

/** A page of text and lists: a serif title, its actions, and the content at a readable width. */
export function Page({
  title,
  description,
  actions,
  children,
  width = "wide",
}: {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  width?: "narrow" | "wide";
}) {
  return (
    <div
      className={clsx(
        "mx-auto flex min-h-full flex-col px-4 pt-6 pb-16 sm:px-8 sm:pt-10",
        width === "wide" ? "max-w-6xl" : "max-w-3xl",
      )}
    >
      <header className="mb-6 flex flex-wrap items-end gap-x-6 gap-y-3 sm:mb-8">
        <div className="min-w-min flex-1">
          <h1 className="font-serif text-[34px] leading-10 tracking-[-0.01em] sm:text-[40px] sm:leading-12">
            {title}
          </h1>
          {description ? <p className="mt-1 max-w-2xl text-ink-2">{description}</p> : null}
        </div>
        {actions ? <div className="flex flex-wrap items-center gap-2">{actions}</div> : null}
      </header>
      {children}
    </div>
  );
}
