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
    hint: "Agent messages, plus questions to people and their answers",
  },
  { value: "tool_results", label: "Tools", hint: "Tool inputs and outputs" },
  { value: "files", label: "Files", hint: "Files in the run's workspace" },
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
      description="Exports one HTML file that opens offline. It always includes the workflow, steps, times and costs; keys are redacted."
      submit="Download"
      icon={<Download aria-hidden />}
      mutation={save}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <CheckboxGroup
        label="Include"
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
