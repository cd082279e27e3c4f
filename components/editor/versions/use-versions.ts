import { useQuery } from "@tanstack/react-query";
import { type Answers, useTrpc } from "@/components/trpc";
import { useEditor } from "../editing/editor-store";

export type Version = Answers["versions"]["list"][number];
export type Difference = Answers["versions"]["diff"]["differences"][number];

/** The published versions of the open workflow, newest first. */
export function useVersions() {
  const id = useEditor((state) => state.id);
  return useQuery(
    useTrpc().versions.list.queryOptions(
      { workflow_id: id },
      { refetchInterval: ({ state }) => (state.data?.[0]?.tests?.status === "running" ? 1_000 : false) },
    ),
  );
}

/** How the saved draft differs from a version; undefined while that is computed, or if there is no version. */
export function useDraftDifferences(version: number | undefined): readonly Difference[] | undefined {
  const id = useEditor((state) => state.id);
  const { data } = useQuery(
    useTrpc().versions.diff.queryOptions(
      { workflow_id: id, a: version ?? "draft", b: "draft" },
      { enabled: version !== undefined, placeholderData: (before) => before },
    ),
  );
  return version === undefined ? undefined : data?.differences;
}
