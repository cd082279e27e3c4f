"use client";

import { type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";

/**
 * A row or column of controls with one Tab stop. Arrows move between controls, Home and End to the ends. Tab returns to
 * the last one. Text fields do not belong here: they need the arrow keys.
 */
export function Toolbar({
  label,
  orientation = "horizontal",
  className,
  children,
}: {
  /** The accessible name. */
  label: string;
  orientation?: "horizontal" | "vertical";
  className?: string;
  children: ReactNode;
}) {
  const bar = useRef<HTMLDivElement>(null);
  const stop = useRef<HTMLElement | null>(null);
  useEffect(() => {
    const element = bar.current;
    if (!element) return;
    const settle = () => {
      const controls = controlsOf(element);
      if (!stop.current || !controls.includes(stop.current)) stop.current = controls[0] ?? null;
      for (const control of controls) {
        const tabIndex = control === stop.current ? 0 : -1;
        if (control.tabIndex !== tabIndex) control.tabIndex = tabIndex;
      }
    };
    settle();
    // Controls change without a render of this component, and some are hidden on phones.
    const observer = new MutationObserver(settle);
    observer.observe(element, { childList: true, subtree: true });
    window.addEventListener("resize", settle);
    return () => {
      observer.disconnect();
      window.removeEventListener("resize", settle);
    };
  }, []);
  const moveTo = (control: HTMLElement | undefined) => {
    if (!control) return;
    if (stop.current) stop.current.tabIndex = -1;
    stop.current = control;
    control.tabIndex = 0;
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !(event.target instanceof HTMLElement)) return;
    // Menus opened from here render elsewhere and handle arrow keys themselves.
    if (!event.currentTarget.contains(event.target)) return;
    const controls = controlsOf(event.currentTarget);
    const to = goal(event.key, orientation, controls.indexOf(event.target), controls.length);
    if (to === null) return;
    event.preventDefault();
    event.stopPropagation();
    moveTo(controls[to]);
    controls[to]?.focus();
  };
  return (
    <div
      ref={bar}
      role="toolbar"
      aria-label={label}
      aria-orientation={orientation}
      className={className}
      onKeyDownCapture={onKeyDown}
      onFocus={({ currentTarget, target }) => {
        if (target instanceof HTMLElement && controlsOf(currentTarget).includes(target)) moveTo(target);
      }}
    >
      {children}
    </div>
  );
}

const controlsOf = (bar: HTMLElement) =>
  [...bar.querySelectorAll<HTMLElement>("a[href], button")].filter(
    (control) => typeof control.checkVisibility !== "function" || control.checkVisibility(),
  );

function goal(key: string, orientation: string, from: number, count: number): number | null {
  if (from < 0) return null;
  if (key === (orientation === "vertical" ? "ArrowDown" : "ArrowRight")) return (from + 1) % count;
  if (key === (orientation === "vertical" ? "ArrowUp" : "ArrowLeft")) return (from - 1 + count) % count;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}
