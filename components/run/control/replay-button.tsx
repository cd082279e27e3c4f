"use client";

import { CirclePlay, History } from "lucide-react";
import dynamic from "next/dynamic";
import type { ReactNode } from "react";
import { useRun, useRunViewStore } from "@/components/run/run-context";
import { Button } from "@/components/ui/button";
import type { MenuEntry } from "@/components/ui/menu";
import { useDialog } from "@/components/ui/use-dialog";

const ReplayDialog = dynamic(() => import("./replay-dialog").then((m) => m.ReplayDialog), { ssr: false });

/** The way to a replay of a run, as an entry of a menu, and the dialog that it opens. */
export function useReplay(runId: string, workflowId: string | null): { entry: MenuEntry; dialog: ReactNode } {
  const { open, dialog } = useDialog((close) => (
    <ReplayDialog runId={runId} workflowId={workflowId} onClose={close} />
  ));
  return { entry: { label: "Replay with recorded answers", icon: <History />, onSelect: open }, dialog };
}

/** Plays the recorded run from its beginning, once it has ended. */
export function WatchAgain() {
  const store = useRunViewStore();
  const isOver = useRun(({ head }) => head.run.status === "finished", false);
  if (!store || !isOver) return null;
  return (
    <Button
      icon={<CirclePlay aria-hidden />}
      onClick={() => {
        store.goTo(1);
        store.setPlaying(true);
      }}
      className="max-sm:px-2.5"
    >
      <span className="max-sm:sr-only">Watch again</span>
    </Button>
  );
}
