"use client";

import { FlaskConical } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { useRun } from "@/components/run/run-context";
import { useRunPage } from "@/components/run/run-page-context";
import { useRunAgain } from "@/components/run/start/run-again";
import { Button } from "@/components/ui/button";

export const KeepDialog = dynamic(() => import("./keep-dialog").then((module) => module.KeepDialog), {
  ssr: false,
});

/** Keeps a run that has ended as a test of its workflow; not there where the workflow is gone. */
export function KeepButton() {
  const [isOpen, setOpen] = useState(false);
  const isOver = useRun(({ head }) => head.run.status === "finished", false);
  const page = useRunPage();
  const again = useRunAgain();
  if (!isOver || !page || !again || again.isGone) return null;
  return (
    <>
      <Button icon={<FlaskConical aria-hidden />} className="self-start" onClick={() => setOpen(true)}>
        Keep this as a test
      </Button>
      {isOpen ? <KeepDialog runId={page.runId} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
