import clsx from "clsx";

/** A spinner. Only a labeled one is announced; others need visible text beside them. */
export function Spinner({
  size = 16,
  label,
  className,
}: {
  size?: number | undefined;
  label?: string | undefined;
  className?: string | undefined;
}) {
  return (
    <span role={label ? "status" : undefined} className={clsx("inline-flex shrink-0", className)}>
      <svg
        aria-hidden="true"
        width={size}
        height={size}
        viewBox="0 0 16 16"
        fill="none"
        className="animate-spin motion-reduce:[animation-duration:3s]"
      >
        <circle cx="8" cy="8" r="6.25" stroke="currentColor" strokeOpacity="0.2" strokeWidth="1.5" />
        <path
          d="M14.25 8A6.25 6.25 0 0 0 8 1.75"
          stroke="currentColor"
          strokeWidth="1.5"
          strokeLinecap="round"
        />
      </svg>
      {label ? <span className="sr-only">{label}</span> : null}
    </span>
  );
}
