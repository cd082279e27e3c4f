"use client";

import { skipToken } from "@tanstack/react-query";
import { useSubscription } from "@trpc/tanstack-react-query";
import { useSyncExternalStore } from "react";
import { useTrpc } from "@/components/trpc";

const watchVisibility = (onChange: () => void) => {
  document.addEventListener("visibilitychange", onChange);
  return () => document.removeEventListener("visibilitychange", onChange);
};

/** Calls back whenever any run changes its status. A hidden tab lets go of its stream: browsers allow only six. */
export function useRunTicks(onTick: () => void) {
  const trpc = useTrpc();
  const hidden = useSyncExternalStore(
    watchVisibility,
    () => document.hidden,
    () => true,
  );
  useSubscription(trpc.runs.overview.subscriptionOptions(hidden ? skipToken : undefined, { onData: onTick }));
}
