import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { InputError } from "@/components/forms/schema/input-fields";
import { readRejection } from "@/components/run/read-rejection";
import { toApiError, useTrpc } from "@/components/trpc";
import type { SentAnswer } from "@/server/domain/run/questions/person-answer";
import type { AskProps } from "./ask-props";

/** A question, and who is to hear what became of its answer. */
export type Answering = Omit<AskProps, "standing">;

/** Sends the answer to a question, and tells what was wrong with it. */
export function useAnswer({ ask, runId, onAnswered, onAnswerFailed }: Answering) {
  const [errors, setErrors] = useState<readonly InputError[]>([]);
  const answer = useMutation(
    useTrpc().runs.answer.mutationOptions({
      onSuccess: () => onAnswered?.(),
      onError(error) {
        setErrors(readRejection(error).errors);
        onAnswerFailed?.();
      },
    }),
  );
  return {
    /** What was sent takes effect when its event comes back. */
    isSent: answer.isPending || answer.isSuccess,
    problem: answer.error ? toApiError(answer.error).message : null,
    errors,
    setErrors,
    send: (sent: SentAnswer) =>
      answer.mutate({
        run_id: runId,
        interaction_id: ask.id,
        fingerprint: ask.requested.fingerprint,
        ...sent,
      }),
  };
}
