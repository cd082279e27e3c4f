"use client";

import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { FormDialog } from "@/components/forms/form-dialog";
import { useTrpcClient } from "@/components/trpc";
import { CheckboxGroup } from "@/components/ui/input/checkbox-group";
import type { ShareChoice } from "@/server/domain/run/share/shared-run";

const PARTS: readonly { value: keyof ShareChoice; label: string; hint: string }[] = [
  { value: "state", label: "Values", hint: "Input, state and output" },
  {
    value: "prompts",
    label: "Prompts and answers",
    hint: "What agents were told and said, and what people were asked and answered",
  },
  { value: "tool_results", label: "Tools", hint: "What they were asked and what they gave" },
  { value: "files", label: "Files", hint: "What was written into the run's workspace" },
];

/** Saves the run as one HTML file, with the selected parts. */
export function ShareDialog({ runId, onClose }: { runId: string; onClose: () => void }) {
  const client = useTrpcClient();
  const [chosen, setChosen] = useState<readonly string[]>(["state", "prompts"]);
  const has = (part: keyof ShareChoice) => chosen.includes(part);
  const save = useMutation({
    mutationFn: () =>
      client.runs.share.query({
        run_id: runId,
        state: has("state"),
        prompts: has("prompts"),
        tool_results: has("tool_results"),
        files: has("files"),
      }),
    onSuccess({ file_name, html }) {
      download(file_name, html);
      onClose();
    },
  });
  return (
    <FormDialog
      title="Share this run"
      description="One HTML file that opens without Troupe and without a network. The drawing, the steps, times and costs are always in it; keys are taken out."
      submit="Save the file"
      icon={<Download aria-hidden />}
      mutation={save}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <CheckboxGroup
        label="What else goes in"
        className="flex flex-col gap-3"
        options={PARTS}
        value={chosen}
        onValueChange={setChosen}
      />
    </FormDialog>
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
