"use client";

import { InputFields } from "@/components/forms/schema/input-field";
import { ErrorText } from "@/components/page/error-text";
import { Button } from "@/components/ui/button";
import { Form } from "@/components/ui/input/form";
import type { JsonSchema } from "@/server/domain/base/values";
import { TimeLeft } from "./time-left";
import { type Answering, useAnswer } from "./use-answer";

/** A question whose answer is a form. */
export function ResponseForm({ schema, ...props }: Answering & { schema: JsonSchema }) {
  const answer = useAnswer(props, schema);
  const send = () => {
    const value = answer.readWhole();
    if (value) answer.send({ value });
  };
  return (
    <Form onSubmit={send}>
      <InputFields {...answer.input} />
      <ErrorText error={answer.problem} />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" pending={answer.isSent}>
          Send
        </Button>
        <Button variant="ghost" disabled={answer.isSent} onClick={() => answer.send({ answer: "reject" })}>
          Decline
        </Button>
      </div>
      <p className="text-xs text-ink-3">
        <TimeLeft ask={props.ask} /> Stored with the run. Don't enter passwords or keys.
      </p>
    </Form>
  );
}
