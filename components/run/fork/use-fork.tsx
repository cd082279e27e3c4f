import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { useRun } from "@/components/run/run-context";
import { toApiError, useTrpc } from "@/components/trpc";
import { isList, isObject } from "@/server/domain/base/guards";

/** Why a fork was refused: a sentence, and what exactly is in its way, where it is more than the sentence says. */
interface ForkRefusal {
  message: string;
  errors: readonly string[];
}

/** Makes a fork of the run around and opens its page; `onDone` is told just before. */
export function useFork(onDone: () => void) {
  const router = useRouter();
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const workflowId = useRun<string | null>(({ head }) => head.run.workflow_id, null);
  const [refusal, setRefusal] = useState<ForkRefusal | null>(null);
  const { mutate, isPending } = useMutation(
    trpc.runs.fork.mutationOptions({
      onMutate: () => setRefusal(null),
      onSuccess({ run_id }) {
        void queryClient.invalidateQueries(trpc.runs.family.pathFilter());
        onDone();
        router.push(`/workflows/${workflowId ?? "-"}/runs/${run_id}`);
      },
      onError: (error) => setRefusal(refusalOf(error)),
    }),
  );
  return { fork: mutate, isPending, refusal };
}

function refusalOf(error: unknown): ForkRefusal {
  const { message, detail } = toApiError(error);
  if (!isObject(detail)) return { message, errors: [] };
  const errors = [detail.faults, detail.problems, detail.errors].flatMap((list) =>
    isList(list) ? list.flatMap(sentencesOf) : [],
  );
  return { message, errors: [...new Set(errors)] };
}

function sentencesOf(error: unknown): string[] {
  if (typeof error === "string") return [error];
  return isObject(error) && typeof error.message === "string" ? [error.message] : [];
}

/** Why no fork was made. */
export function ForkRejection({ refusal }: { refusal: ForkRefusal | null }) {
  if (!refusal) return null;
  const { message, errors } = refusal;
  return (
    <div role="alert" className="text-[13px] text-failed">
      <p>{message}</p>
      {errors.length > 0 ? (
        <ul className="mt-1 list-disc pl-5">
          {errors.map((error) => (
            <li key={error}>{error}</li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
