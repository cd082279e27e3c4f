"use client";

import {
  cloneElement,
  type HTMLAttributes,
  lazy,
  type ReactElement,
  Suspense,
  useEffect,
  useState,
} from "react";
import type { MenuEntry } from "./menu";

const MenuAtPoint = lazy(() => import("./menu-popup").then((m) => ({ default: m.MenuAtPoint })));

const LONG_PRESS_MS = 500;

/** A menu at the pointer. Its entries must be reachable in another way, too. */
export function ContextMenu({
  children,
  items,
  onOpenChange,
}: {
  /** The target area; an element that accepts DOM props. */
  children: ReactElement<HTMLAttributes<Element>>;
  items: readonly MenuEntry[];
  onOpenChange?: ((open: boolean) => void) | undefined;
}) {
  const [point, setPoint] = useState<{ x: number; y: number } | null>(null);
  const [isOpen, setOpen] = useState(false);
  const [press] = useState(newPress);
  useEffect(() => press.end, [press]);

  const open = ({ clientX: x, clientY: y }: { clientX: number; clientY: number }) => {
    press.end();
    setPoint({ x, y });
    setOpen(true);
    onOpenChange?.(true);
  };

  return (
    <>
      {cloneElement(children, {
        onContextMenu(event) {
          children.props.onContextMenu?.(event);
          event.preventDefault();
          open(event);
        },
        // Not every browser opens a context menu on a long press.
        onTouchStart: ({ touches }) => press.begin(touches, open),
        onTouchMove: press.end,
        onTouchEnd: press.end,
        onTouchCancel: press.end,
      })}
      {point && (
        <Suspense fallback={null}>
          <MenuAtPoint
            point={point}
            isOpen={isOpen}
            items={items}
            onClose={() => {
              setOpen(false);
              onOpenChange?.(false);
            }}
          />
        </Suspense>
      )}
    </>
  );
}

function newPress() {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = () => clearTimeout(timer);
  const begin = (touches: TouchListLike, open: (at: TouchPoint) => void) => {
    end();
    const touch = touches[0];
    if (touch && touches.length === 1) timer = setTimeout(() => open(touch), LONG_PRESS_MS);
  };
  return { begin, end };
}

type TouchPoint = { clientX: number; clientY: number };
type TouchListLike = ArrayLike<TouchPoint>;
