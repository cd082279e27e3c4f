"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { downloadText } from "@/components/page/download";
import { type Answers, useTrpc, useTrpcClient } from "@/components/trpc";
import { toast } from "@/components/ui/toasts";

export type ExportKind = "included" | "referenced" | "openhands" | "yaml";

/** Appended to the URL of a workflow: opens its run dialog, filled with the suggested input if it never ran in this browser. */
export const ASKS_TO_RUN = "?run=1";

/** A file that leaves out parts of its workflow; confirmed before the download. */
export type LossyFile = Answers["workflows"]["export"];

/** A workflow to delete that others run. */
interface UsedWorkflow {
  name: string;
  callers: readonly { id: string; name: string }[];
  remove(): Promise<void>;
}

/** The actions of the workflow list. Each confirms with a toast, and deleting can be undone. */
export function useWorkflowActions() {
  const trpc = useTrpc();
  const client = useTrpcClient();
  const router = useRouter();
  const queryClient = useQueryClient();
  const refresh = () => queryClient.invalidateQueries(trpc.workflows.pathFilter());
  const open = async ({ id }: { id: string }, then = "") => {
    router.push(`/workflows/${id}${then}`);
    await refresh();
  };

  const [lossy, setLossy] = useState<LossyFile | null>(null);
  const [used, setUsed] = useState<UsedWorkflow | null>(null);

  const create = useMutation(trpc.workflows.create.mutationOptions({ onSuccess: (made) => open(made) }));
  const fromTemplate = useMutation(trpc.workflows.fromTemplate.mutationOptions());
  const rename = useMutation(trpc.workflows.rename.mutationOptions({ onSettled: refresh }));
  const duplicate = useMutation(trpc.workflows.duplicate.mutationOptions({ onSettled: refresh }));
  const restore = useMutation(trpc.workflows.restore.mutationOptions({ onSettled: refresh }));
  const remove = useMutation(trpc.workflows.remove.mutationOptions({ onSettled: refresh }));

  return {
    /** The template being opened, or "blank". */
    opening: create.isPending ? "blank" : fromTemplate.isPending ? fromTemplate.variables.key : null,
    create: () => create.mutate({}),
    fromTemplate: (key: string) => fromTemplate.mutate({ key }, { onSuccess: (made) => void open(made) }),
    /** Opens the template with its run dialog. */
    runTemplate: (key: string) =>
      fromTemplate.mutate({ key }, { onSuccess: (made) => void open(made, ASKS_TO_RUN) }),
    rename: (id: string, name: string) => rename.mutateAsync({ id, name }),
    duplicate: async (id: string, name: string) => {
      await duplicate.mutateAsync({ id });
      toast(`Duplicated “${name}”`);
    },
    /** Asks first if other workflows run it. */
    remove: async (id: string, name: string, onRemoved?: () => void) => {
      const all = await client.workflows.callable.query();
      const callers = all.filter((other) => other.id !== id && other.calls.includes(id));
      const removeNow = async () => {
        await remove.mutateAsync({ id });
        toast(`Deleted “${name}”`, { undo: () => restore.mutate({ id }) });
        onRemoved?.();
      };
      if (callers.length > 0) setUsed({ name, callers, remove: removeNow });
      else await removeNow();
    },
    exportFile: async (id: string, kind: ExportKind) => {
      const file = await client.workflows.export.query({
        id,
        flavour: kind === "openhands" ? "openhands" : "troupe",
        roles: kind === "referenced" ? "referenced" : "included",
        format: kind === "yaml" ? "yaml" : "json",
      });
      if (file.losses.length > 0) setLossy(file);
      else downloadText(file.file_name, file.text);
    },
    /** For ExportLosses, next to the component that offers exports. */
    lossy,
    settleLossy: () => setLossy(null),
    /** For RemoveUsed, next to the component that deletes. */
    used,
    settleUsed: () => setUsed(null),
  };
}
export type WorkflowActions = ReturnType<typeof useWorkflowActions>;
