"use client";

import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useTrpc } from "@/components/trpc";
import { defined } from "@/server/domain/base/defined";
import type { NodeTry, TryOutStore } from "./try-out-store";

const EVERY_MS = 700;

/** Watches the run of a single node until it ends, and reports the result. */
export function TryWatcher({
  workflowId,
  nodeId,
  name,
  one,
  store,
  onAnnounce,
}: {
  workflowId: string;
  nodeId: string;
  name: string;
  one: NodeTry;
  store: TryOutStore;
  onAnnounce: (text: string) => void;
}) {
  const { data, error } = useQuery({
    ...useTrpc().runs.nodeResult.queryOptions({
      workflow_id: workflowId,
      node_id: nodeId,
      run_id: one.run_id,
    }),
    refetchInterval: EVERY_MS,
    gcTime: 0,
    retry: false,
  });
  useEffect(() => {
    if (error || data === null) return store.forget(nodeId);
    if (!data) return;
    if (!data.is_over) {
      if (data.status === "waiting" && one.status !== "waiting")
        store.put(nodeId, { ...one, status: "waiting" });
      return;
    }
    const isDone = data.status === "completed";
    store.put(nodeId, {
      ...one,
      at: data.finished_at ?? Date.now(),
      status: isDone ? "completed" : "failed",
      output: data.output,
      ...defined({
        labels: data.labels || undefined,
        error: isDone ? undefined : (data.error ?? "It didn't finish."),
      }),
    });
    onAnnounce(isDone ? `${name} finished` : `${name} failed: ${data.error ?? "it didn't finish"}`);
  }, [data, error, nodeId, name, one, store, onAnnounce]);
  return null;
}
