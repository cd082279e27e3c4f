"use client";

import {
  cloneElement,
  type HTMLAttributes,
  lazy,
  type ReactElement,
  type ReactNode,
  Suspense,
  useEffect,
  useState,
} from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";

export interface TooltipProps {
  content: ReactNode;
  side?: "top" | "bottom" | "left" | "right" | undefined;
  /** A single element that accepts DOM props. */
  children: ReactElement<HTMLAttributes<Element>>;
}

const load = () => import("./tooltip-popup");
const Popup = lazy(load);

const DELAY_MS = 400;
/** Time to move the pointer from the element to the tooltip. */
const GRACE_MS = 120;
/** Adjacent tooltips open without a delay. */
const FOLLOW_MS = 400;
let lastClosedAt = 0;

/**
 * A short text about the element inside it. Never the only place of something a person must know.
 *
 * The trigger is not Base UI's: a page holds hundreds of tooltips, Base UI's takes about ten times as long to mount as
 * these listeners, and only its popup needs loading, on the first hover or focus.
 */
export function Tooltip({ content, side = "top", children }: TooltipProps) {
  const [tip] = useState(newTip);
  const anchor = useStore(tip.anchor, ({ element }) => element);
  useEffect(() => tip.drop, [tip]);
  return (
    <>
      {cloneElement(children, tip.listeners(children.props))}
      {anchor && (
        <Suspense fallback={null}>
          <Popup
            anchor={anchor}
            side={side}
            content={content}
            onHover={tip.keep}
            onLeave={tip.hideSoon}
            onClose={tip.hide}
          />
        </Suspense>
      )}
    </>
  );
}

/** Opens after a moment under the pointer, or at once on keyboard focus. */
function newTip() {
  const anchor = createStore<{ element: Element | null }>(() => ({ element: null }));
  let timer: ReturnType<typeof setTimeout> | undefined;

  const keep = () => clearTimeout(timer);
  const drop = () => {
    keep();
    window.removeEventListener("keydown", onKeyDown);
  };
  const hide = () => {
    drop();
    if (!anchor.getState().element) return;
    lastClosedAt = Date.now();
    anchor.setState({ element: null });
  };
  const onKeyDown = ({ key }: KeyboardEvent) => {
    if (key === "Escape") hide();
  };
  const show = (element: Element) => {
    keep();
    window.addEventListener("keydown", onKeyDown);
    anchor.setState({ element });
  };
  const hideSoon = () => {
    keep();
    if (!anchor.getState().element) return;
    lastClosedAt = Date.now();
    timer = setTimeout(hide, GRACE_MS);
  };

  /** Called besides the element's own handlers. */
  const listeners = (own: HTMLAttributes<Element>): HTMLAttributes<Element> => ({
    onPointerEnter(event) {
      own.onPointerEnter?.(event);
      if (event.pointerType === "touch") return;
      void load();
      keep();
      const element = event.currentTarget;
      if (Date.now() - lastClosedAt < FOLLOW_MS) show(element);
      else timer = setTimeout(() => show(element), DELAY_MS);
    },
    onPointerLeave(event) {
      own.onPointerLeave?.(event);
      hideSoon();
    },
    onPointerDown(event) {
      own.onPointerDown?.(event);
      hide();
    },
    onFocus(event) {
      own.onFocus?.(event);
      if (event.currentTarget.matches(":focus-visible")) show(event.currentTarget);
    },
    onBlur(event) {
      own.onBlur?.(event);
      hide();
    },
  });
  return { anchor, keep, hide, hideSoon, drop, listeners };
}
