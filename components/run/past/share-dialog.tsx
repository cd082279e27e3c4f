"use client";

import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { useTrpcClient } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { Dialog } from "@/components/ui/dialog";
import type { ShareChoice } from "@/server/domain/run/share/shared-run";

const PARTS: readonly { key: keyof ShareChoice; label: string; hint: string }[] = [
  { key: "state", label: "Values", hint: "Input, state and output" },
  {
    key: "prompts",
    label: "Prompts and answers",
    hint: "What agents were told and said, and what people were asked and answered",
  },
  { key: "tool_results", label: "Tools", hint: "What they were asked and what they gave" },
  { key: "files", label: "Files", hint: "What was written into the run's workspace" },
];

/** Saves the run around as one HTML file, with what a person wants in it. */
export function ShareDialog({ runId, onClose }: { runId: string; onClose: () => void }) {
  const client = useTrpcClient();
  const [choice, setChoice] = useState<ShareChoice>({
    prompts: true,
    tool_results: false,
    files: false,
    state: true,
  });
  const save = useMutation({
    mutationFn: () => client.runs.share.query({ run_id: runId, ...choice }),
    onSuccess({ file_name, html }) {
      download(file_name, html);
      onClose();
    },
  });
  return (
    <Dialog
      title="Share this run"
      description="One HTML file that opens without Troupe and without a network. The drawing, the steps, times and costs are always in it; keys are taken out."
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            icon={<Download aria-hidden />}
            pending={save.isPending}
            onClick={() => save.mutate()}
          >
            Save the file
          </Button>
        </>
      }
    >
      <fieldset className="flex flex-col gap-3">
        <legend className="mb-2 text-[13px] font-medium">What else goes in</legend>
        {PARTS.map(({ key, label, hint }) => (
          <Checkbox
            key={key}
            label={label}
            hint={hint}
            checked={choice[key]}
            onCheckedChange={(isIn) => setChoice({ ...choice, [key]: isIn })}
          />
        ))}
      </fieldset>
    </Dialog>
  );
}

function download(name: string, html: string): void {
  const address = URL.createObjectURL(new Blob([html], { type: "text/html" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
