import { useMutation } from "@tanstack/react-query";
import { downloadText } from "@/components/page/download";
import { toApiError, useTrpcClient } from "@/components/trpc";
import { toast } from "@/components/ui/toasts";

/** Hands the recorded answers of a run to the person as a file. */
export function useCassetteFile(runId: string) {
  const client = useTrpcClient();
  const save = useMutation({
    mutationFn: () => client.tests.cassette.query({ run_id: runId }),
    onSuccess: (cassette) => downloadText(`${runId}.cassette.json`, `${JSON.stringify(cassette, null, 2)}\n`),
    onError: (error) => toast(toApiError(error).message, { tone: "error" }),
  });
  return { isPending: save.isPending, save: () => save.mutate() };
}
