import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { InputError } from "@/components/forms/schema/input-fields";
import { type Draft, useDraft } from "@/components/library/use-draft";
import { toApiError, useTrpc, useTrpcClient } from "@/components/trpc";
import { toast } from "@/components/ui/toasts";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import {
  type Faults,
  faultsOf,
  NEW_TEST,
  readDraft,
  type TestDraft,
  toDraft,
  withUnshown,
} from "./test-draft";
import { scenarioOf, type WholeTest } from "./use-tests";

/** A test as it is being written, and the way to save it. */
export interface TestWriting {
  draft: Draft<TestDraft>;
  isNew: boolean;
  isSaving: boolean;
  /** What is wrong, once somebody has tried to save it. */
  faults: Faults;
  errors: readonly InputError[];
  /** Saves over that revision, or over what it began with. */
  save: (revision?: number) => void;
}

const NO_FAULTS: Faults = {};
const NO_ERRORS: readonly InputError[] = [];

/** What is wrong beside the fields of the input, which say so themselves. */
function wrongIn(graph: WorkflowGraph, { fields, errors }: ReturnType<typeof readDraft>): Faults {
  const { input, ...faults } = faultsOf(graph, fields);
  return input === undefined || errors.length > 0 ? faults : { ...faults, input };
}

/** Keeps what is being written of a test. `saved`: null for a new one. */
export function useTestDraft({
  workflowId,
  graph,
  saved,
  onSaved,
}: {
  workflowId: string;
  graph: WorkflowGraph;
  saved: WholeTest | null;
  onSaved?: ((id: string) => void) | undefined;
}): TestWriting {
  const trpc = useTrpc();
  const client = useTrpcClient();
  const queryClient = useQueryClient();
  const base = useMemo(
    () => (saved ? { content: toDraft(graph, scenarioOf(saved)), revision: saved.revision } : null),
    [graph, saved],
  );
  const draft = useDraft<TestDraft>(base, base?.content ?? toDraft(graph, NEW_TEST));
  const [hasTried, setTried] = useState(false);
  const { content } = draft;
  const read = useMemo(() => readDraft(graph, content), [graph, content]);
  const faults = useMemo(() => (hasTried ? wrongIn(graph, read) : NO_FAULTS), [hasTried, graph, read]);

  const mutation = useMutation({
    mutationFn: (revision: number | undefined) => {
      const test = withUnshown(read.fields, saved ? scenarioOf(saved) : {}, content);
      const workflow_id = workflowId;
      return saved
        ? client.tests.save.mutate({
            workflow_id,
            test_id: saved.id,
            ...test,
            revision: revision ?? draft.base.revision,
          })
        : client.tests.create.mutate({ workflow_id, ...test });
    },
    onSuccess: async (now) => {
      setTried(false);
      queryClient.setQueryData(trpc.tests.get.queryKey({ workflow_id: workflowId, test_id: now.id }), now);
      draft.onSaved({ content, revision: now.revision });
      await queryClient.invalidateQueries(trpc.tests.pathFilter());
      if (!saved) {
        draft.leave();
        toast(`Made “${now.name}”`);
      }
      onSaved?.(now.id);
    },
    onError: async (error) => {
      const { code, message } = toApiError(error);
      if (code !== "CONFLICT" || !saved) {
        toast(message, { tone: "error" });
        return;
      }
      const theirs = await client.tests.get.query({ workflow_id: workflowId, test_id: saved.id });
      draft.onConflict({ content: toDraft(graph, scenarioOf(theirs)), revision: theirs.revision });
    },
  });

  return {
    draft,
    isNew: saved === null,
    isSaving: mutation.isPending,
    faults,
    errors: hasTried ? read.errors : NO_ERRORS,
    save: (revision) => {
      setTried(true);
      if (read.errors.length > 0 || Object.keys(wrongIn(graph, read)).length > 0) return;
      mutation.mutate(revision);
    },
  };
}
