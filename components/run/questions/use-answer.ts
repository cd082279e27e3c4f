import { useMutation } from "@tanstack/react-query";
import { useInput } from "@/components/forms/schema/input-field";
import { toField } from "@/components/forms/schema/input-fields";
import { readRejection } from "@/components/run/read-rejection";
import { toApiError, useTrpc } from "@/components/trpc";
import type { JsonObject, JsonSchema } from "@/server/domain/base/values";
import { fieldsOfSchema } from "@/server/domain/graph/form-fields";
import type { SentAnswer } from "@/server/domain/run/questions/person-answer";
import type { AskProps } from "./ask-props";

/** A question, and who is to hear what became of its answer. */
export type Answering = Omit<AskProps, "standing">;

/** The form of a schema as the answer to a question, sent once; errors go to their fields. */
export function useAnswer(
  { ask, runId, onAnswered, onAnswerFailed }: Answering,
  schema: JsonSchema | undefined,
) {
  const wanted = fieldsOfSchema(schema ?? {});
  const fields = wanted.map((field) => toField(schema ? { ...field, around: schema } : field));
  const input = useInput(fields);
  const answer = useMutation(
    useTrpc().runs.answer.mutationOptions({
      onSuccess: () => onAnswered?.(),
      onError(error) {
        input.setErrors(readRejection(error).errors);
        onAnswerFailed?.();
      },
    }),
  );
  const { errors } = input.props;
  const others = errors.filter(({ key }) => !fields.some((field) => field.key === key));
  return {
    input: input.props,
    read: input.read,
    /** As `read`, but what was emptied is null, so that it is not given its default again. */
    readWhole: (): JsonObject | null => {
      const read = input.read();
      if (!read) return null;
      const emptied = wanted.filter(({ key, default: preset }) => preset !== undefined && !(key in read));
      return { ...read, ...Object.fromEntries(emptied.map(({ key }) => [key, null])) };
    },
    /** What was sent takes effect when its event comes back. */
    isSent: answer.isPending || answer.isSuccess,
    /** What no field says. */
    problem:
      answer.error && (errors.length === 0 || others.length > 0)
        ? [toApiError(answer.error).message, ...others.map(({ message }) => message)].join(" ")
        : null,
    send: (sent: SentAnswer) =>
      answer.mutate({
        run_id: runId,
        interaction_id: ask.id,
        fingerprint: ask.requested.fingerprint,
        ...sent,
      }),
  };
}
