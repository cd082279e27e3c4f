"use client";

import { useEffect, useRef, useState } from "react";
import { useTrpcClient } from "@/components/trpc";
import { type NewsHandlers, RunFollower } from "./run-stream";
import { RunViewStore } from "./run-view-store";

/** Opens a run: one subscription that fills the store while the component is mounted. */
export function useRunEvents(runId: string): { store: RunViewStore; resume: () => void } {
  const client = useTrpcClient();
  const [store] = useState(() => new RunViewStore());
  const follower = useRef<RunFollower | null>(null);

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
    const mine = new RunFollower(store, subscribe);
    follower.current = mine;
    return () => mine.stop();
  }, [client, runId, store]);

  return { store, resume: () => follower.current?.resume() };
}
