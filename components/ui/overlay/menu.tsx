"use client";

import { cloneElement, useState } from "react";
import type { MenuProps } from "./menu-popup";

export type { MenuEntry, MenuProps } from "./menu-popup";

const load = () => import("./menu-popup");
let loaded: Awaited<ReturnType<typeof load>> | null = null;

/** A menu behind a button. Everything but the button loads on hover or focus. */
export function Menu(props: MenuProps) {
  const [parts, setParts] = useState(loaded);
  const [isAsked, setAsked] = useState(false);
  if (parts) return <parts.WholeMenu {...props} isAsked={isAsked} />;

  const near = () => void load();
  const open = () => {
    setAsked(true);
    void load().then((all) => {
      loaded = all;
      setParts(all);
    });
  };
  return cloneElement(props.trigger, {
    "aria-haspopup": "menu",
    "aria-expanded": false,
    onPointerEnter: near,
    onFocus: near,
    onClick: open,
    onKeyDown(event) {
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      event.preventDefault();
      open();
    },
  });
}
