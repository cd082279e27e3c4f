"use client";

import { GitBranch } from "lucide-react";
import dynamic from "next/dynamic";
import { useRun } from "@/components/run/run-context";
import { useRunPage } from "@/components/run/run-page-context";
import { IconButton } from "@/components/ui/icon-button";
import { useDialog } from "@/components/ui/overlay/use-dialog";

const ForkDialog = dynamic(() => import("./fork-dialog").then((m) => m.ForkDialog), { ssr: false });

/** Opens the fork dialog at the cursor; only on a run's page. */
export function ForkButton() {
  const page = useRunPage();
  const hasBegun = useRun(({ state }) => state.seq > 0, false);
  const isAlone = useRun(({ head }) => head.run.only_node !== undefined, false);
  const fork = useDialog((close) => (page ? <ForkDialog runId={page.runId} onClose={close} /> : null));
  if (!page || !hasBegun || isAlone) return null;
  return (
    <>
      <IconButton
        label="Fork from this point"
        side="top"
        icon={<GitBranch aria-hidden />}
        onClick={fork.open}
      />
      {fork.dialog}
    </>
  );
}
