"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { toApiError, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Select } from "@/components/ui/select";
import { TextArea } from "@/components/ui/text-area";
import { toast } from "@/components/ui/toasts";
import type { MemoryListed } from "./memory-page";

const DAY = 24 * 3_600_000;
const KEEP = [
  { value: "same", label: "As it is" },
  { value: "ever", label: "For good" },
  { value: "1", label: "For a day" },
  { value: "7", label: "For a week" },
  { value: "30", label: "For 30 days" },
] as const;
const IMPORTANCE = [
  { value: "0.2", label: "Little" },
  { value: "0.5", label: "Usual" },
  { value: "0.9", label: "High" },
] as const;

/** Corrects a memory: its text, how long it is kept, and how easily it is found again. */
export function MemoryDialog({ memory, onClose }: { memory: MemoryListed; onClose: () => void }) {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const [value, setValue] = useState(memory.value);
  const [keep, setKeep] = useState<(typeof KEEP)[number]["value"]>("same");
  const nearest = IMPORTANCE.reduce((best, option) =>
    Math.abs(Number(option.value) - memory.importance) < Math.abs(Number(best.value) - memory.importance)
      ? option
      : best,
  ).value;
  const [importance, setImportance] = useState<(typeof IMPORTANCE)[number]["value"]>(nearest);
  const update = useMutation(
    trpc.memories.update.mutationOptions({
      onError: () => {},
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.memories.pathFilter());
        onClose();
        toast(`Changed “${memory.key}”`, { tone: "success" });
      },
    }),
  );
  return (
    <Dialog
      open
      onOpenChange={onClose}
      sticky
      title={`Change “${memory.key}”`}
      description={
        memory.tainted
          ? "It came from content of strangers. With a text of your own, you vouch for it, and the mark goes."
          : undefined
      }
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            disabled={value.trim() === ""}
            pending={update.isPending}
            onClick={() =>
              update.mutate({
                id: memory.id,
                ...(value === memory.value ? {} : { value }),
                ...(importance === nearest ? {} : { importance: Number(importance) }),
                ...(keep === "same"
                  ? {}
                  : { expires_at: keep === "ever" ? null : Date.now() + Number(keep) * DAY }),
              })
            }
          >
            Save
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <TextArea label="What is remembered" rows={5} value={value} onValueChange={setValue} />
        <div className="grid gap-4 sm:grid-cols-2">
          <Select label="Keep it" options={KEEP} value={keep} onValueChange={setKeep} />
          <Select
            label="Importance"
            options={IMPORTANCE}
            value={importance}
            onValueChange={setImportance}
            hint="Important memories are found first."
          />
        </div>
        {update.error ? (
          <p role="alert" className="text-[13px] text-failed">
            {toApiError(update.error).message}
          </p>
        ) : null}
      </div>
    </Dialog>
  );
}
