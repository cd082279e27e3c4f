"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { InputFields } from "@/components/forms/schema/input-field";
import { type InputValues, readInput, toField, toValues } from "@/components/forms/schema/input-fields";
import { toApiError, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Select } from "@/components/ui/select";
import { TextField } from "@/components/ui/text-field";
import { toast } from "@/components/ui/toasts";
import { MEMORY_SCOPES } from "@/server/domain/agent/memory-scope";
import { isSameJson } from "@/server/domain/base/json";
import type { MemoryListed } from "./memory";

const DAY = 24 * 3_600_000;
const KEEP = [
  { value: "ever", label: "For good" },
  { value: "1", label: "For a day" },
  { value: "7", label: "For a week" },
  { value: "30", label: "For 30 days" },
] as const;
type Keep = (typeof KEEP)[number]["value"];
const IMPORTANCE = [
  { value: "0.2", label: "Little" },
  { value: "0.5", label: "Usual" },
  { value: "0.9", label: "High" },
] as const;
type Importance = (typeof IMPORTANCE)[number]["value"];

/** What is remembered: a text, or any other JSON value. */
const REMEMBERED = [toField({ key: "value", schema: { title: "What is remembered" }, required: true })];

const endOf = (keep: Keep) => (keep === "ever" ? null : Date.now() + Number(keep) * DAY);

/** Corrects a memory: its text, how long it is kept, and how easily it is found again. */
export function MemoryDialog({ memory, onClose }: { memory: MemoryListed; onClose: () => void }) {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const [entered, setEntered] = useState<InputValues>(() => toValues(REMEMBERED, { value: memory.value }));
  const { value } = readInput(REMEMBERED, entered).input;
  const [keep, setKeep] = useState<Keep | "same">("same");
  const nearest = IMPORTANCE.reduce((best, option) =>
    Math.abs(Number(option.value) - memory.importance) < Math.abs(Number(best.value) - memory.importance)
      ? option
      : best,
  ).value;
  const [importance, setImportance] = useState<Importance>(nearest);
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
            disabled={value === undefined}
            pending={update.isPending}
            onClick={() =>
              update.mutate({
                id: memory.id,
                ...(value === undefined || isSameJson(value, memory.value) ? {} : { value }),
                ...(importance === nearest ? {} : { importance: Number(importance) }),
                ...(keep === "same" ? {} : { expires_at: endOf(keep) }),
              })
            }
          >
            Save
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <InputFields fields={REMEMBERED} values={entered} errors={[]} onChange={setEntered} />
        <div className="grid gap-4 sm:grid-cols-2">
          <Select
            label="Keep it"
            options={[{ value: "same", label: "As it is" }, ...KEEP]}
            value={keep}
            onValueChange={setKeep}
          />
          <ImportanceField value={importance} onValueChange={setImportance} />
        </div>
        <Failure error={update.error} />
      </div>
    </Dialog>
  );
}

/** Something that agents should know, in a person's own words. */
export function NewMemoryDialog({ onClose }: { onClose: () => void }) {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const workflows = useQuery(trpc.workflows.list.queryOptions());
  const [key, setKey] = useState("");
  const [entered, setEntered] = useState<InputValues>({});
  const { value } = readInput(REMEMBERED, entered).input;
  const [scope, setScope] = useState<"global" | "project" | "workflow">("project");
  const [workflowId, setWorkflowId] = useState("");
  const [keep, setKeep] = useState<Keep>("ever");
  const [importance, setImportance] = useState<Importance>("0.5");
  const create = useMutation(
    trpc.memories.create.mutationOptions({
      onError: () => {},
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.memories.pathFilter());
        onClose();
        toast(`Remembered “${key.trim()}”`, { tone: "success" });
      },
    }),
  );
  const place = scope === "workflow" ? { scope, workflow_id: workflowId } : { scope };
  const isPlaced = key.trim() !== "" && (scope !== "workflow" || workflowId !== "");
  return (
    <Dialog
      open
      onOpenChange={onClose}
      sticky
      title="Remember something"
      description="Agents find it with search_memory or retrieve_memory, where their role names these tools and their memory reaches this far."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            disabled={!isPlaced || value === undefined}
            pending={create.isPending}
            onClick={() => {
              if (value !== undefined)
                create.mutate({
                  place,
                  key,
                  value,
                  importance: Number(importance),
                  expires_at: endOf(keep),
                });
            }}
          >
            Remember
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <TextField
          label="Key"
          mono
          placeholder="house_style"
          value={key}
          onValueChange={setKey}
          hint="A short name under which it is found again."
        />
        <InputFields fields={REMEMBERED} values={entered} errors={[]} onChange={setEntered} />
        <div className="grid gap-4 sm:grid-cols-2">
          <Select
            label="How far it reaches"
            options={(["project", "global", "workflow"] as const).map((each) => ({
              value: each,
              label: MEMORY_SCOPES[each].title,
            }))}
            value={scope}
            onValueChange={setScope}
          />
          {scope === "workflow" ? (
            <Select
              label="Workflow"
              placeholder="Choose a workflow"
              options={(workflows.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
              value={workflowId}
              onValueChange={setWorkflowId}
            />
          ) : null}
          <Select label="Keep it" options={KEEP} value={keep} onValueChange={setKeep} />
          <ImportanceField value={importance} onValueChange={setImportance} />
        </div>
        <Failure error={create.error} />
      </div>
    </Dialog>
  );
}

function ImportanceField(props: { value: Importance; onValueChange: (value: Importance) => void }) {
  return (
    <Select label="Importance" options={IMPORTANCE} hint="Important memories are found first." {...props} />
  );
}

function Failure({ error }: { error: unknown }) {
  return error ? (
    <p role="alert" className="text-[13px] text-failed">
      {toApiError(error).message}
    </p>
  ) : null;
}
