"use client";

import { useMutation } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import { type FormEvent, useState } from "react";
import { InputFields } from "@/components/forms/schema/input-field";
import {
  type InputError,
  type InputValues,
  readInput,
  toField,
} from "@/components/forms/schema/input-fields";
import { readRejection } from "@/components/run/read-rejection";
import { toApiError, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import type { JsonObject } from "@/server/domain/base/values";
import { fieldsOfSchema } from "@/server/domain/graph/form-fields";
import type { ToolQuestion } from "@/server/domain/tool/tool";
import type { AskProps } from "./ask-props";

/** What a tool's server asks of a person: the form that it wants filled in, or the address that it wants opened. */
export function QuestionForm({
  ask,
  runId,
  asks,
  onAnswered,
  onAnswerFailed,
}: Omit<AskProps, "standing"> & { asks: ToolQuestion }) {
  const wanted = fieldsOfSchema(asks.schema ?? {});
  const fields = wanted.map(toField);
  const [values, setValues] = useState<InputValues>({});
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
  // What was sent takes effect when its event comes back.
  const isSent = answer.isPending || answer.isSuccess;
  const give = (value: "approve" | "reject" | "cancel", content?: JsonObject) =>
    answer.mutate({
      run_id: runId,
      interaction_id: ask.id,
      fingerprint: ask.requested.fingerprint,
      answer: value,
      ...(content && { content }),
    });
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (!asks.schema) return give("approve");
    const read = readInput(fields, values);
    setErrors(read.errors);
    if (read.errors.length > 0) return;
    // What was emptied is left out, and not given its default again.
    const emptied = wanted.filter(({ key, default: preset }) => preset !== undefined && !(key in read.input));
    give("approve", { ...read.input, ...Object.fromEntries(emptied.map(({ key }) => [key, null])) });
  };
  const otherErrors = errors.filter(({ key }) => !fields.some((field) => field.key === key));
  return (
    <form noValidate onSubmit={send} className="flex min-w-0 flex-col gap-4">
      {asks.url === undefined ? null : <Address url={asks.url} from={asks.from} />}
      <InputFields
        {...{ fields, values, errors }}
        onChange={(next, left) => {
          setValues(next);
          setErrors(left);
        }}
      />
      {answer.error && (errors.length === 0 || otherErrors.length > 0) ? (
        <p role="alert" className="text-[13px] text-failed">
          {[toApiError(answer.error).message, ...otherErrors.map(({ message }) => message)].join(" ")}
        </p>
      ) : null}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" pending={isSent}>
          {asks.url === undefined ? "Send" : "I am done there"}
        </Button>
        <Button disabled={isSent} onClick={() => give("reject")}>
          Decline
        </Button>
        <Button variant="ghost" disabled={isSent} onClick={() => give("cancel")}>
          Leave it open
        </Button>
      </div>
      <p className="text-xs text-ink-3">
        {asks.url === undefined
          ? `What you send goes to “${asks.from}” and is kept in the run: enter no password and no key.`
          : `“${asks.from}” is told that you were there, and nothing else.`}{" "}
        Declining says no; leaving it open says neither.
      </p>
    </form>
  );
}

/** An address that a stranger names: where it leads is said before anybody goes there, and nobody is taken there. */
function Address({ url, from }: { url: string; from: string }) {
  return (
    <div className="flex min-w-0 flex-col gap-2 rounded-lg border border-line p-3 text-[13px]">
      <p>
        “{from}” wants you to open a page of{" "}
        <strong className="font-semibold [overflow-wrap:anywhere]">{new URL(url).host}</strong> in your
        browser. Do you know this host?
      </p>
      <code className="font-mono text-xs text-ink-2 [overflow-wrap:anywhere]">{url}</code>
      <a
        href={url}
        target="_blank"
        rel="noopener noreferrer"
        className="flex items-center gap-1.5 self-start text-accent underline underline-offset-2 hover:text-accent-hover"
      >
        Open it in a new tab
        <ExternalLink aria-hidden className="size-3.5" />
      </a>
    </div>
  );
}
