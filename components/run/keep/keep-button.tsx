"use client";

import { FlaskConical } from "lucide-react";
import dynamic from "next/dynamic";
import { useRun } from "@/components/run/run-context";
import { useRunPage } from "@/components/run/run-page-context";
import { useRunAgain } from "@/components/run/start/run-again";
import { Button } from "@/components/ui/button";
import { useDialog } from "@/components/ui/overlay/use-dialog";

const KeepDialog = dynamic(() => import("./keep-dialog").then((module) => module.KeepDialog), {
  ssr: false,
});

/** The dialog that keeps a run as a test. */
export const useKeeping = (runId: string) =>
  useDialog((close) => <KeepDialog runId={runId} onClose={close} />);

/** Keeps a run that has ended as a test of its workflow; not there where the workflow is gone. */
export function KeepButton() {
  const isOver = useRun(({ head }) => head.run.status === "finished", false);
  const page = useRunPage();
  const again = useRunAgain();
  const keeping = useKeeping(page?.runId ?? "");
  if (!isOver || !page || !again || again.isGone) return null;
  return (
    <>
      <Button icon={<FlaskConical aria-hidden />} className="self-start" onClick={keeping.open}>
        Save as test
      </Button>
      {keeping.dialog}
    </>
  );
}
