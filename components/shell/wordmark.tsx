import clsx from "clsx";

/** A stage arch with one light. */
export function Emblem({ size = 24 }: { size?: number }) {
  return (
    <svg aria-hidden="true" width={size} height={size} viewBox="0 0 32 32" className="shrink-0">
      <rect width="32" height="32" rx="8" className="fill-[#6d1f4b] dark:fill-[#7d2a58]" />
      <path
        d="M7 25c0-8 4-13 9-18 5 5 9 10 9 18"
        fill="none"
        stroke="#f4e3c8"
        strokeWidth="2.4"
        strokeLinecap="round"
      />
      <circle cx="16" cy="21" r="3.4" fill="#f4e3c8" />
    </svg>
  );
}

export function Wordmark({ className }: { className?: string }) {
  return (
    <span className={clsx("font-serif text-[26px] leading-none tracking-[-0.01em]", className)}>Troupe</span>
  );
}
