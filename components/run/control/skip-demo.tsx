"use client";

import { useMutation } from "@tanstack/react-query";
import { FastForward } from "lucide-react";
import { useState } from "react";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { useRun } from "../run-context";
import { isWatching, playFast } from "../start/demo-watch";

/** While a demo run plays slowly, skips the wait: the rest is answered at once. */
export function SkipDemo({ runId }: { runId: string }) {
  const [isSlow, setSlow] = useState(() => isWatching(runId));
  const isDemo = useRun(({ head }) => head.run.provider_summary?.simulated || head.run.simulated, false);
  const isOver = useRun(({ head }) => head.run.status === "finished", false);
  const skip = useMutation(
    useTrpc().runs.skipDemo.mutationOptions({
      onSuccess: () => {
        playFast();
        setSlow(false);
      },
    }),
  );
  if (!isSlow || !isDemo || isOver) return null;
  return (
    <Button
      icon={<FastForward aria-hidden />}
      pending={skip.isPending}
      title="Skip slow demo playback"
      onClick={() => skip.mutate({ run_id: runId })}
    >
      Skip
    </Button>
  );
}
