"use client";

import { useQueryClient } from "@tanstack/react-query";
import { CirclePlay, History } from "lucide-react";
import dynamic from "next/dynamic";
import { useRouter } from "next/navigation";
import type { ReactNode } from "react";
import { useRun, useRunViewStore } from "@/components/run/run-context";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import type { MenuEntry } from "@/components/ui/overlay/menu";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { replayForm } from "../control/command-forms";

const CommandDialog = dynamic(() => import("../control/command-dialog").then((m) => m.CommandDialog), {
  ssr: false,
});

/** The menu item for a replay, and its dialog. */
export function useReplay(runId: string, workflowId: string | null): { entry: MenuEntry; dialog: ReactNode } {
  const router = useRouter();
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const show = (id: string) => {
    void queryClient.invalidateQueries(trpc.runs.family.pathFilter());
    router.push(`/workflows/${workflowId ?? "-"}/runs/${id}`);
  };
  const { open, dialog } = useDialog((close) => (
    <CommandDialog form={replayForm(runId, show)} onClose={close} />
  ));
  return { entry: { label: "Replay run", icon: <History />, onSelect: open }, dialog };
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
