import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type Answers, toApiError, useTrpc } from "@/components/trpc";
import { toast } from "@/components/ui/toasts";

export type JudgeView = Answers["tests"]["judges"][number];
export type JudgedOutput = Answers["tests"]["judged"][number];

/** The judges of a workflow's tests. */
export const useJudges = (workflowId: string) =>
  useQuery(useTrpc().tests.judges.queryOptions({ workflow_id: workflowId }));

/** What a judge has judged, and how a person says of an output whether it is good. */
export function useJudged(workflowId: string, judge: string) {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const outputs = useQuery(trpc.tests.judged.queryOptions({ workflow_id: workflowId, judge }));
  const label = useMutation(
    trpc.tests.label.mutationOptions({
      onSettled: () =>
        Promise.all([
          queryClient.invalidateQueries(trpc.tests.judged.pathFilter()),
          queryClient.invalidateQueries(trpc.tests.judges.pathFilter()),
        ]),
      onError: (error) => toast(toApiError(error).message, { tone: "error" }),
    }),
  );
  return {
    outputs,
    label: (item: string, good: boolean | null) =>
      label.mutate({ workflow_id: workflowId, judge, item, good }),
  };
}

/** How far a judge agrees with the person, in a few words. */
export function agreementWords({ kappa, labels }: { kappa: number | null; labels: number }): string {
  if (labels === 0) return "No labels yet";
  const on = `on ${labels} ${labels === 1 ? "label" : "labels"}`;
  return kappa === null ? `Agreement not known, ${on}` : `Agreement ${kappa.toFixed(2)} ${on}`;
}
