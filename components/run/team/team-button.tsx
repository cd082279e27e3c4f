"use client";

import { UserRoundCog } from "lucide-react";
import dynamic from "next/dynamic";
import { useRun } from "@/components/run/run-context";
import { useRunPage } from "@/components/run/run-page-context";
import { Button } from "@/components/ui/button";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { useIsActive } from "../control/use-control";

const TeamDialog = dynamic(() => import("./team-dialog").then((m) => m.TeamDialog), { ssr: false });

/** Opens the team dialog; nothing if the run has ended, is quarantined or shows the past. */
export function TeamButton({ nodeId, member }: { nodeId: string; member?: string }) {
  const page = useRunPage();
  const isActive = useIsActive();
  const isPast = useRun(({ cursor }) => cursor !== null, false);
  const team = useDialog((close) =>
    page ? <TeamDialog runId={page.runId} nodeId={nodeId} member={member} onClose={close} /> : null,
  );
  if (!page || page.held || !isActive || isPast) return null;
  return (
    <>
      <Button size="sm" icon={<UserRoundCog aria-hidden />} onClick={team.open}>
        {member === undefined ? "Edit crew…" : "Edit member…"}
      </Button>
      {team.dialog}
    </>
  );
}
