"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { FileUp } from "lucide-react";
import { countOf } from "@/components/display/format";
import { toApiError, useTrpc, useTrpcClient } from "@/components/trpc";
import { toast } from "@/components/ui/toasts";
import { Cassette } from "@/server/domain/scenario/cassette";

/** Takes recorded answers from a file into a test that is saved. */
export function CassetteUpload({ workflowId, testId }: { workflowId: string; testId: string }) {
  const trpc = useTrpc();
  const client = useTrpcClient();
  const queryClient = useQueryClient();
  const bring = useMutation({
    mutationFn: async (file: File) =>
      client.tests.bringCassette.mutate({
        workflow_id: workflowId,
        test_id: testId,
        ...readCassette(await file.text()),
      }),
    onSuccess: async (test) => {
      queryClient.setQueryData(trpc.tests.get.queryKey({ workflow_id: workflowId, test_id: testId }), test);
      toast(`${countOf(test.answers?.answers.length ?? 0, "recorded answer")} taken from the file`);
      await queryClient.invalidateQueries(trpc.tests.pathFilter());
    },
    onError: (error) =>
      toast(error instanceof NoCassette ? error.message : toApiError(error).message, { tone: "error" }),
  });
  return (
    <label className="flex cursor-pointer items-center gap-2 self-start rounded-lg border border-dashed border-line-strong px-3 py-2 text-[13px] hover:border-ink-3 has-focus-visible:outline-2 has-focus-visible:outline-focus">
      <FileUp aria-hidden="true" className="size-4 text-ink-3" />
      Take recorded answers from a file
      <input
        type="file"
        accept=".json,application/json"
        className="sr-only"
        disabled={bring.isPending}
        onChange={(event) => {
          const file = event.target.files?.[0];
          event.target.value = "";
          if (file) bring.mutate(file);
        }}
      />
    </label>
  );
}

class NoCassette extends Error {
  override name = "NoCassette";
}

function readCassette(text: string): Cassette {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new NoCassette("This file is no JSON. Choose one that a run’s “Save its recorded answers” made.");
  }
  const read = Cassette.safeParse(json);
  if (!read.success)
    throw new NoCassette(
      "These are no recorded answers. Choose a file that a run’s “Save its recorded answers” made.",
    );
  return read.data;
}
