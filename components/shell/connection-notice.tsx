"use client";

import { useQueryClient } from "@tanstack/react-query";
import { Unplug } from "lucide-react";
import { useEffect } from "react";
import { useIsServerReachable } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Spinner } from "@/components/ui/spinner";

/** Says that what is shown may be old, because the server cannot be reached. */
export function ConnectionNotice({
  state,
  onRetry,
}: {
  /** `retrying`: it comes back by itself; `lost`: a person has to ask for it. */
  state: "retrying" | "lost";
  onRetry?: () => void;
}) {
  return (
    <div
      role="status"
      className="flex items-center gap-3 rounded-lg border border-waiting/50 bg-raised px-3 py-2 text-[13px] shadow-1"
    >
      {state === "retrying" ? (
        <Spinner size={14} />
      ) : (
        <Unplug aria-hidden="true" className="size-4 text-waiting" />
      )}
      <span className="min-w-0 flex-1">
        {state === "retrying" ? "Disconnected, retrying…" : "Disconnected. What you see may be old."}
      </span>
      {onRetry ? (
        <Button size="sm" onClick={onRetry}>
          Retry now
        </Button>
      ) : null}
    </div>
  );
}

/** Asks again every few seconds while the server cannot be reached, and says so. */
export function ServerWatch() {
  const isReachable = useIsServerReachable();
  const queryClient = useQueryClient();
  useEffect(() => {
    if (isReachable) return;
    const timer = setInterval(() => void queryClient.refetchQueries({ type: "active" }), 5_000);
    return () => clearInterval(timer);
  }, [isReachable, queryClient]);
  if (isReachable) return null;
  return (
    <div className="fixed bottom-18 left-1/2 z-40 w-[min(26rem,calc(100vw-2rem))] -translate-x-1/2 md:bottom-6">
      <ConnectionNotice
        state="retrying"
        onRetry={() => void queryClient.refetchQueries({ type: "active" })}
      />
    </div>
  );
}
