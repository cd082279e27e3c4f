"use client";

import clsx from "clsx";
import { type KeyboardEvent, type PointerEvent, useRef } from "react";

/** A line between two parts that can be dragged, or moved with the arrow keys. `value` is a share in percent. */
export function Splitter({
  label,
  orientation,
  value,
  min,
  max,
  onValueChange,
  className,
}: {
  label: string;
  /** Of the line: a vertical one stands between left and right. */
  orientation: "vertical" | "horizontal";
  /** Share of the part after the line. */
  value: number;
  min: number;
  max: number;
  onValueChange: (value: number) => void;
  className?: string;
}) {
  const isDragging = useRef(false);
  const set = (next: number) => onValueChange(Math.round(Math.min(max, Math.max(min, next)) * 10) / 10);
  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    if (!isDragging.current) return;
    const box = event.currentTarget.parentElement?.getBoundingClientRect();
    if (!box) return;
    set(
      orientation === "vertical"
        ? ((box.right - event.clientX) / box.width) * 100
        : ((box.bottom - event.clientY) / box.height) * 100,
    );
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const [less, more] = orientation === "vertical" ? ["ArrowRight", "ArrowLeft"] : ["ArrowDown", "ArrowUp"];
    const step = event.key === more ? 4 : event.key === less ? -4 : 0;
    if (step === 0) return;
    event.preventDefault();
    set(value + step);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that moves is a control
    <div
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={orientation}
      aria-valuenow={Math.round(value)}
      aria-valuemin={min}
      aria-valuemax={max}
      onPointerDown={(event) => {
        isDragging.current = true;
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={onPointerMove}
      onPointerUp={() => {
        isDragging.current = false;
      }}
      onKeyDown={onKeyDown}
      className={clsx(
        "group/split relative z-10 shrink-0 touch-none",
        orientation === "vertical"
          ? "-mx-1 w-2 cursor-col-resize"
          : "flex h-5 cursor-row-resize items-center justify-center border-t border-line bg-surface",
        className,
      )}
    >
      {orientation === "vertical" ? (
        <span className="absolute inset-y-0 left-1/2 w-px bg-line transition-colors group-hover/split:w-0.5 group-hover/split:bg-accent" />
      ) : (
        <span className="h-1 w-9 rounded-full bg-line-strong" />
      )}
    </div>
  );
}
