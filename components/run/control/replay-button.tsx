"use client";

import { History } from "lucide-react";
import dynamic from "next/dynamic";
import { type ReactNode, useState } from "react";
import { useRun } from "@/components/run/run-context";
import { Button } from "@/components/ui/button";
import type { MenuEntry } from "@/components/ui/menu";

const Dialog = dynamic(() => import("./replay-dialog").then((m) => m.ReplayDialog), { ssr: false });

/** The way to a replay of a run, as an entry of a menu, and the dialog that it opens. */
export function useReplay(runId: string, workflowId: string | null): { entry: MenuEntry; dialog: ReactNode } {
  const [isOpen, setOpen] = useState(false);
  return {
    entry: { label: "Replay with recorded answers", icon: <History />, onSelect: () => setOpen(true) },
    dialog: isOpen ? <Dialog runId={runId} workflowId={workflowId} onClose={() => setOpen(false)} /> : null,
  };
}

/** Replays the run of the page that is looked at, once it has ended. */
export function ReplayButton({ runId }: { runId: string }) {
  const workflowId = useRun<string | null>(({ head }) => head.run.workflow_id, null);
  const isOver = useRun(({ head }) => head.run.status === "finished", false);
  const isAlone = useRun(({ head }) => head.run.only_node !== undefined, false);
  const [isOpen, setOpen] = useState(false);
  if (!isOver || isAlone) return null;
  return (
    <>
      <Button
        icon={<History aria-hidden />}
        aria-label="Replay with recorded answers"
        onClick={() => setOpen(true)}
        className="max-lg:px-2.5"
      >
        <span className="max-xl:sr-only">Replay</span>
      </Button>
      {isOpen ? <Dialog runId={runId} workflowId={workflowId} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
