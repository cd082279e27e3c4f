"use client";

import { useEffect, useRef, useState } from "react";
import { useTrpcClient } from "@/components/trpc";
import { errorMessage } from "@/server/domain/base/guards";
import type { RunEvent } from "@/server/domain/run/events";
import { type NewsHandlers, RunFollower } from "./run-stream";
import { RunViewStore } from "./run-view-store";

/** How often a run that is read by queries is read again. */
const POLL_MS = 800;

/**
 * Opens a run: one source that fills the store while the component is mounted. `poll`: by queries, without streamed text,
 * where a page shows several runs.
 */
export function useRunEvents(
  runId: string,
  source: "stream" | "poll" = "stream",
): { store: RunViewStore; resume: () => void } {
  const client = useTrpcClient();
  const [store] = useState(() => new RunViewStore());
  const follower = useRef<RunFollower | null>(null);

  useEffect(() => {
    const stream = (after: number, handlers: NewsHandlers) =>
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
    const poll = (after: number, handlers: NewsHandlers) =>
      pollRun((last) => client.runs.events.query({ run_id: runId, after: last }), after, handlers);
    const mine = new RunFollower(store, source === "poll" ? poll : stream);
    follower.current = mine;
    return () => mine.stop();
  }, [client, runId, store, source]);

  return { store, resume: () => follower.current?.resume() };
}

/** Reads a log by queries until its run is over. */
function pollRun(
  read: (after: number) => Promise<{ events: RunEvent[]; hasMore: boolean; isOver: boolean }>,
  after: number,
  { onData, onState, onClosed }: NewsHandlers,
) {
  let last = after;
  let isStopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const next = async () => {
    try {
      const { events, hasMore, isOver } = await read(last);
      if (isStopped) return;
      last = events.at(-1)?.seq ?? last;
      if (events.length > 0) onData({ kind: "events", events });
      if (isOver) onData({ kind: "end" });
      else timer = setTimeout(() => void next(), hasMore ? 0 : POLL_MS);
    } catch (error) {
      // Its row may be a moment later than the event of its parent.
      if (!isStopped) onClosed({ isFinal: false, message: errorMessage(error) });
    }
  };
  onState("open");
  void next();
  return {
    unsubscribe() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
