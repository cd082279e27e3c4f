import clsx from "clsx";

/** A placeholder for loading content. */
export function Skeleton({ className }: { className?: string }) {
  return (
    <div
      aria-hidden="true"
      className={clsx("animate-pulse rounded-md bg-ink/7 motion-reduce:animate-none", className)}
    />
  );
}
