"use client";

import { useEffect, useEffectEvent, useSyncExternalStore } from "react";
import { useTrpcClient } from "@/components/trpc";

type Client = ReturnType<typeof useTrpcClient>;

/** One stream for all who listen on a page: browsers allow only six of them. */
const streams = new WeakMap<Client, { listeners: Set<() => void>; stop: () => void }>();

function listen(client: Client, onTick: () => void): () => void {
  let stream = streams.get(client);
  if (!stream) {
    const listeners = new Set<() => void>();
    const notify = () => {
      for (const listener of listeners) listener();
    };
    const { unsubscribe } = client.runs.overview.subscribe(undefined, { onData: notify });
    stream = { listeners, stop: unsubscribe };
    streams.set(client, stream);
  }
  const { listeners, stop } = stream;
  listeners.add(onTick);
  return () => {
    listeners.delete(onTick);
    if (listeners.size > 0) return;
    streams.delete(client);
    stop();
  };
}

const watchVisibility = (onChange: () => void) => {
  document.addEventListener("visibilitychange", onChange);
  return () => document.removeEventListener("visibilitychange", onChange);
};

/** Calls back whenever any run changes its status or its questions. A hidden tab lets go of its stream. */
export function useRunTicks(onTick: () => void) {
  const client = useTrpcClient();
  const hidden = useSyncExternalStore(
    watchVisibility,
    () => document.hidden,
    () => true,
  );
  const notify = useEffectEvent(onTick);
  useEffect(() => (hidden ? undefined : listen(client, () => notify())), [client, hidden]);
}
