"use client";

import { useSyncExternalStore } from "react";

const never = () => () => {};
const isApple = () => /Mac|iPhone|iPad/.test(navigator.userAgent);

/** A shortcut as keycaps: `keys="mod+k"`, where `mod` is Ctrl, or ⌘ on Apple devices. */
export function Kbd({ keys }: { keys: string }) {
  const apple = useSyncExternalStore(never, isApple, () => false);
  return (
    <span className="inline-flex shrink-0 gap-0.5">
      {keys.split("+").map((key) => (
        <kbd
          key={key}
          className="inline-flex h-5 min-w-5 items-center justify-center rounded-[5px] border border-line border-b-line-strong bg-surface px-1 font-sans text-xs text-ink-2"
        >
          {keyWord(key, apple)}
        </kbd>
      ))}
    </span>
  );
}

function keyWord(key: string, apple: boolean): string {
  if (key === "mod") return apple ? "⌘" : "Ctrl";
  if (key === "alt") return apple ? "⌥" : "Alt";
  if (key === "shift") return apple ? "⇧" : "Shift";
  const arrow = arrows[key];
  if (arrow) return arrow;
  return key.length === 1 ? key.toUpperCase() : key;
}

const arrows: Record<string, string> = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };
