"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { History } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { FormDialog } from "@/components/forms/form-dialog";
import { useTrpc } from "@/components/trpc";
import { SegmentedControl } from "@/components/ui/segmented-control";
import type { ReplayMode } from "@/server/domain/run/lineage";
import { DoingsNote, RecordedNote } from "./recorded-note";

const MEANS: Readonly<Record<ReplayMode, string>> = {
  strict:
    "No call is made. Where something is asked that was never asked before, the replay ends there and shows the difference.",
  lenient:
    "Where something is asked that was never asked before, you are asked first. What you approve is a real call and may cost something.",
};

interface ReplayDialogProps {
  runId: string;
  workflowId: string | null;
  onClose: () => void;
}

/** Asks how a run is to be carried out again with its recorded answers. */
export function ReplayDialog({ runId, workflowId, onClose }: ReplayDialogProps) {
  const [mode, setMode] = useState<ReplayMode>("strict");
  const router = useRouter();
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const replay = useMutation(
    trpc.runs.replay.mutationOptions({
      onSuccess({ run_id }) {
        void queryClient.invalidateQueries(trpc.runs.family.pathFilter());
        onClose();
        router.push(`/workflows/${workflowId ?? "-"}/runs/${run_id}`);
      },
    }),
  );
  return (
    <FormDialog
      title="Replay with recorded answers"
      description="Another run from the beginning, on the same drawing. Models, tools and people answer as they did in this run, so it costs nothing. This run stays as it is."
      submit="Replay"
      icon={<History aria-hidden />}
      mutation={replay}
      onSubmit={() => replay.mutate({ run_id: runId, mode })}
      onClose={onClose}
    >
      <RecordedNote runId={runId} before="replay" />
      <DoingsNote runId={runId} as="replay" />
      <SegmentedControl
        label="When an answer is missing"
        className="self-start"
        value={mode}
        onValueChange={setMode}
        options={[
          { value: "strict", label: "Strict" },
          { value: "lenient", label: "Lenient" },
        ]}
      />
      <p className="text-[13px] text-ink-2">{MEANS[mode]}</p>
    </FormDialog>
  );
}
