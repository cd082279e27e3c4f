/** A or B, in the color of its run. */
export const SideLetter = ({ side }: { side: "a" | "b" }) => (
  <span
    data-only={side}
    className="inline-flex size-5 shrink-0 items-center justify-center rounded-md bg-(--own) text-xs font-semibold text-bg"
  >
    {side.toUpperCase()}
  </span>
);
