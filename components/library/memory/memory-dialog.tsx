"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { FormDialog } from "@/components/forms/form-dialog";
import { FormParts } from "@/components/forms/form-parts";
import { InputFields } from "@/components/forms/schema/input-field";
import { type InputValues, readInput, toField, toValues } from "@/components/forms/schema/input-fields";
import { type Answers, useInvalidate, useTrpc } from "@/components/trpc";
import { toast } from "@/components/ui/toasts";
import { MEMORY_SCOPES } from "@/server/domain/agent/memory/memory-scope";
import { defined } from "@/server/domain/base/defined";
import type { FormPart } from "@/server/domain/base/form";
import { isSameJson } from "@/server/domain/base/json";

/** A memory as the page lists it. */
export type MemoryListed = Answers["memories"]["list"]["memories"][number];

interface MemoryDraft {
  key: string;
  scope: "project" | "global" | "workflow";
  workflow_id: string | null;
  /** A number of days or "ever"; undefined keeps the expiry. */
  keep: string | undefined;
  importance: string;
}

const IMPORTANCE = [
  { value: "0.2", label: "Low" },
  { value: "0.5", label: "Normal" },
  { value: "0.9", label: "High" },
] as const;

const KEEP: FormPart<MemoryDraft> = {
  as: "columns",
  most: 2,
  areWide: true,
  parts: [
    {
      key: "keep",
      label: "Expires",
      as: "choice",
      options: [
        { value: "ever", label: "Never" },
        { value: "1", label: "After 1 day" },
        { value: "7", label: "After 1 week" },
        { value: "30", label: "After 30 days" },
      ],
    },
    {
      key: "importance",
      label: "Importance",
      as: "choice",
      options: IMPORTANCE,
      hint: "More important memories rank higher in searches",
    },
  ],
};

const NEW_MEMORY: readonly FormPart<MemoryDraft, "value">[] = [
  {
    key: "key",
    label: "Key",
    as: "text",
    isMono: true,
    empty: "",
    placeholder: "house_style",
    hint: "A short lookup key",
  },
  { slot: "value" },
  {
    as: "columns",
    most: 2,
    areWide: true,
    parts: [
      {
        key: "scope",
        label: "Scope",
        as: "choice",
        options: (["project", "global", "workflow"] as const).map((value) => ({
          value,
          label: MEMORY_SCOPES[value].title,
        })),
      },
      {
        key: "workflow_id",
        label: "Workflow",
        as: "choice",
        placeholder: "Choose a workflow",
        showIf: ({ scope }) => scope === "workflow",
      },
    ],
  },
  KEEP,
];

const REMEMBERED = [toField({ key: "value", schema: { title: "Value" }, required: true })];

const DAY_MS = 24 * 3_600_000;
const endOf = (keep: string) => (keep === "ever" ? null : Date.now() + Number(keep) * DAY_MS);

/** Edits a memory, or adds one if `memory` is null. */
export function MemoryDialog({ memory, onClose }: { memory: MemoryListed | null; onClose: () => void }) {
  const trpc = useTrpc();
  const invalidate = useInvalidate("memories");
  const workflows = useQuery(trpc.workflows.list.queryOptions(undefined, { enabled: memory === null }));
  const [entered, setEntered] = useState<InputValues>(() =>
    memory ? toValues(REMEMBERED, { value: memory.value }) : {},
  );
  const { value } = readInput(REMEMBERED, entered).input;
  const nearest = nearestImportance(memory?.importance ?? 0.5);
  const [draft, setDraft] = useState<MemoryDraft>({
    key: memory?.key ?? "",
    scope: "project",
    workflow_id: null,
    keep: memory ? undefined : "ever",
    importance: nearest,
  });
  const { scope, workflow_id, keep, importance } = draft;
  const key = draft.key.trim();
  const done = {
    onError: () => {},
    onSuccess: () => {
      void invalidate();
      onClose();
      toast(memory ? `Saved “${key}”` : `Added “${key}”`, { tone: "success" });
    },
  };
  const update = useMutation(trpc.memories.update.mutationOptions(done));
  const create = useMutation(trpc.memories.create.mutationOptions(done));
  const submit = () => {
    if (value === undefined) return;
    if (memory)
      update.mutate(
        defined({
          id: memory.id,
          value: isSameJson(value, memory.value) ? undefined : value,
          importance: importance === nearest ? undefined : Number(importance),
          expires_at: keep === undefined ? undefined : endOf(keep),
        }),
      );
    else
      create.mutate({
        place: scope === "workflow" ? { scope, workflow_id: workflow_id ?? "" } : { scope },
        key: draft.key,
        value,
        importance: Number(importance),
        expires_at: endOf(keep ?? "ever"),
      });
  };
  return (
    <FormDialog
      sticky
      title={memory ? `Edit “${memory.key}”` : "New memory"}
      description={describeMemory(memory)}
      submit={memory ? "Save" : "Add memory"}
      isIncomplete={value === undefined || key === "" || (scope === "workflow" && !workflow_id)}
      mutation={memory ? update : create}
      onSubmit={submit}
      onClose={onClose}
    >
      <FormParts
        parts={memory ? [{ slot: "value" }, KEEP] : NEW_MEMORY}
        value={draft}
        onChange={setDraft}
        now={{
          workflow_id: {
            options: (workflows.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
          },
          keep: memory ? { unset: "Unchanged" } : {},
        }}
        slots={{
          value: <InputFields fields={REMEMBERED} values={entered} errors={[]} onChange={setEntered} />,
        }}
      />
    </FormDialog>
  );
}

function describeMemory(memory: MemoryListed | null): string | undefined {
  if (!memory)
    return "Agents find it with search_memory or retrieve_memory if their role has these tools and they can access its scope.";
  return memory.tainted
    ? "This memory came from untrusted content. Changing the value marks it as trusted."
    : undefined;
}

const nearestImportance = (importance: number) =>
  IMPORTANCE.reduce((best, option) =>
    Math.abs(Number(option.value) - importance) < Math.abs(Number(best.value) - importance) ? option : best,
  ).value;
