"use client";

import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark" | "system";
const KEY = "troupe.theme";
const CHANGED = "troupe:theme";

/** The chosen theme, which public/theme.js applies. */
export function useTheme(): Theme {
  return useSyncExternalStore(watch, readTheme, () => "system");
}

export function setTheme(theme: Theme) {
  localStorage.setItem(KEY, theme);
  window.dispatchEvent(new Event(CHANGED));
}

function readTheme(): Theme {
  const chosen = localStorage.getItem(KEY);
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

function watch(onChange: () => void) {
  window.addEventListener(CHANGED, onChange);
  window.addEventListener("storage", onChange);
  return () => {
    window.removeEventListener(CHANGED, onChange);
    window.removeEventListener("storage", onChange);
  };
}
