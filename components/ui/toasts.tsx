"use client";

import { lazy, Suspense, useEffect, useState } from "react";
import type { ShowToast, ToastOptions } from "./toast-stack";
import { whenSettled } from "./when-idle";

export type { ToastOptions } from "./toast-stack";

let showToast: ShowToast | null = null;
/** Toasts from before the stack was loaded. */
const early: [string, ToastOptions][] = [];
let wake: () => void = () => undefined;

/** Shows a toast. */
export function toast(message: string, options: ToastOptions = {}): void {
  if (showToast) showToast(message, options);
  else {
    early.push([message, options]);
    wake();
  }
}

const SETTLED_MS = 1_500;

const Stack = lazy(() => import("./toast-stack"));

function onReady(ready: ShowToast) {
  showToast = ready;
  for (const [message, options] of early.splice(0)) ready(message, options);
}

/** Renders the toasts; once, in the layout. It loads when the page is idle, or with the first toast. */
export function Toaster() {
  const [isWanted, setWanted] = useState(false);
  useEffect(() => {
    wake = () => setWanted(true);
    // The requests of the page come first.
    return whenSettled(wake, SETTLED_MS);
  }, []);
  return isWanted ? (
    <Suspense fallback={null}>
      <Stack onReady={onReady} />
    </Suspense>
  ) : null;
}
