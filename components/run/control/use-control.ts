import { useMutation } from "@tanstack/react-query";
import { useRun } from "@/components/run/run-context";
import { useTrpc } from "@/components/trpc";
import type { Breakpoint } from "@/server/domain/agent/breakpoint/breakpoint";
import type { RunState } from "@/server/domain/run";

export type Paused = NonNullable<RunState["run"]["paused_at"]>;

/** Where the run is paused now, wherever the cursor is; null if it isn't. */
export const usePaused = (): Paused | null => useRun(({ head }) => head.run.paused_at ?? null, null);

/** Whether the run takes commands: it has started and not ended. */
export const useIsActive = (): boolean =>
  useRun(({ head, lastSeq }) => lastSeq > 0 && head.run.status !== "finished", false);

/** Sends commands to a run; rejections show the server's message. */
export function useControl(runId: string) {
  const trpc = useTrpc();
  const pause = useMutation(trpc.runs.pause.mutationOptions());
  const resume = useMutation(trpc.runs.resume.mutationOptions());
  const step = useMutation(trpc.runs.step.mutationOptions());
  const cancel = useMutation(trpc.runs.cancel.mutationOptions());
  const breakpoints = useMutation(trpc.runs.setBreakpoints.mutationOptions());
  const isBusy = pause.isPending || resume.isPending || step.isPending;
  return {
    runId,
    isBusy,
    isCancelling: cancel.isPending,
    pause: (now?: boolean) => pause.mutate({ run_id: runId, ...(now ? { now } : {}) }),
    resume: () => resume.mutate({ run_id: runId }),
    step: (granularity: "node" | "turn") => step.mutate({ run_id: runId, granularity }),
    cancel: () => cancel.mutate({ run_id: runId }),
    setBreakpoints: (list: Breakpoint[]) => breakpoints.mutateAsync({ run_id: runId, breakpoints: list }),
  };
}
export type RunControl = ReturnType<typeof useControl>;
