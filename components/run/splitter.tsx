"use client";

import { type KeyboardEvent, type PointerEvent, useRef } from "react";

/** A vertical splitter, moved by dragging or with the arrow keys. `value` is a percentage. */
export function Splitter({
  label,
  value,
  min,
  max,
  onValueChange,
}: {
  label: string;
  /** Share of the part after the line. */
  value: number;
  min: number;
  max: number;
  onValueChange: (value: number) => void;
}) {
  const isDragging = useRef(false);
  const set = (next: number) => onValueChange(Math.round(Math.min(max, Math.max(min, next)) * 10) / 10);
  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    if (!isDragging.current) return;
    const box = event.currentTarget.parentElement?.getBoundingClientRect();
    if (!box) return;
    set(((box.right - event.clientX) / box.width) * 100);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = event.key === "ArrowLeft" ? 4 : event.key === "ArrowRight" ? -4 : 0;
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
      aria-orientation="vertical"
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
      className="group/split relative z-10 -mx-1 w-2 shrink-0 cursor-col-resize touch-none"
    >
      <span className="absolute inset-y-0 left-1/2 w-px bg-line transition-colors group-hover/split:w-0.5 group-hover/split:bg-accent" />
    </div>
  );
}
