import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTrpc } from "@/components/trpc";
import { useEditor } from "./editing/editor-store";

const NONE: readonly string[] = [];

/** What this workflow needs but isn't allowed to use: keys without a grant. */
export function useWithheld(): readonly string[] {
  const id = useEditor((editor) => editor.id);
  const grants = useQuery(useTrpc().workflows.capabilities.queryOptions({ id })).data;
  return useMemo(() => {
    const withheld = grants?.flatMap(({ key, allowed }) => (allowed ? [] : [key])) ?? NONE;
    return withheld.length > 0 ? withheld : NONE;
  }, [grants]);
}

/** Allows and withholds what this workflow would use, by key. */
export function useAllow() {
  const id = useEditor((editor) => editor.id);
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const { mutate, isPending } = useMutation(
    trpc.workflows.allow.mutationOptions({
      onSettled: () => queryClient.invalidateQueries(trpc.workflows.capabilities.queryFilter({ id })),
    }),
  );
  return {
    change: (keys: { allow?: string[]; withhold?: string[] }) => mutate({ id, ...keys }),
    isPending,
  };
}
