import { useMutation } from "@tanstack/react-query";
import { downloadText } from "@/components/page/download";
import { useTrpcClient } from "@/components/trpc";

/** Hands the recorded answers of a run to the person as a file. */
export function useCassetteFile(runId: string) {
  const client = useTrpcClient();
  const save = useMutation({
    mutationFn: () => client.tests.cassette.query({ run_id: runId }),
    onSuccess: (cassette) => downloadText(`${runId}.cassette.json`, `${JSON.stringify(cassette, null, 2)}\n`),
  });
  return { isPending: save.isPending, save: () => save.mutate() };
}
