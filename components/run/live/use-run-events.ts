"use client";

import { useEffect, useRef, useState } from "react";
import { useTrpcClient } from "@/components/trpc";
import { type Following, followRun, type NewsHandlers } from "./run-stream";
import { newRunViewStore, type RunViewStore } from "./run-view-store";

/** Opens a run: one subscription that fills the store, for as long as the component is there. */
export function useRunEvents(runId: string): { store: RunViewStore; resume: () => void } {
  const client = useTrpcClient();
  const [store] = useState(() => newRunViewStore());
  const following = useRef<Following | null>(null);

  useEffect(() => {
    const subscribe = (after: number, handlers: NewsHandlers) =>
      client.runs.follow.subscribe(
        { run_id: runId, lastEventId: after > 0 ? String(after) : null },
        {
          onData: (message) => handlers.onData(message.data),
          onConnectionStateChange: ({ state }) => {
            if (state === "pending") handlers.onState("open");
            else if (state === "connecting") handlers.onState("connecting");
          },
          onError: (error) => {
            const status = error.data?.httpStatus ?? 0;
            handlers.onClosed({ isFinal: status >= 400 && status < 500, message: error.message });
          },
          onComplete: () => handlers.onClosed({ isFinal: false }),
        },
      );
    const mine = followRun(store, subscribe);
    following.current = mine;
    return () => mine.stop();
  }, [client, runId, store]);

  return { store, resume: () => following.current?.resume() };
}
