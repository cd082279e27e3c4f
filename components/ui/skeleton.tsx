import clsx from "clsx";

/** Stands where something will be. */
export function Skeleton({ className }: { className?: string }) {
  return (
    <div
      aria-hidden="true"
      className={clsx("animate-pulse rounded-md bg-ink/7 motion-reduce:animate-none", className)}
    />
  );
}
