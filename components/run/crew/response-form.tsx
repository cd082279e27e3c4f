"use client";

import { type FormEvent, useState } from "react";
import { InputFields } from "@/components/forms/schema/input-field";
import { type InputValues, readInput, toField } from "@/components/forms/schema/input-fields";
import { Button } from "@/components/ui/button";
import type { JsonSchema } from "@/server/domain/base/values";
import { fieldsOfSchema } from "@/server/domain/graph/form-fields";
import { TimeLeft } from "./time-left";
import { type Answering, useAnswer } from "./use-answer";

/** A question whose answer is a form. */
export function ResponseForm({ schema, ...props }: Answering & { schema: JsonSchema }) {
  const { ask } = props;
  const wanted = fieldsOfSchema(schema);
  const fields = wanted.map((field) => toField({ ...field, around: schema }));
  const [values, setValues] = useState<InputValues>({});
  const answer = useAnswer(props);
  const { errors, setErrors } = answer;
  const send = (event: FormEvent) => {
    event.preventDefault();
    const read = readInput(fields, values);
    setErrors(read.errors);
    if (read.errors.length > 0) return;
    // What was emptied is left out, and not given its default again.
    const emptied = wanted.filter(({ key, default: preset }) => preset !== undefined && !(key in read.input));
    answer.send({ value: { ...read.input, ...Object.fromEntries(emptied.map(({ key }) => [key, null])) } });
  };
  const isShown = errors.length > 0 && errors.every(({ key }) => fields.some((field) => field.key === key));
  return (
    <form noValidate onSubmit={send} className="flex min-w-0 flex-col gap-4">
      <InputFields
        {...{ fields, values, errors }}
        onChange={(next, left) => {
          setValues(next);
          setErrors(left);
        }}
      />
      {answer.problem && !isShown ? (
        <p role="alert" className="text-[13px] text-failed">
          {answer.problem}
        </p>
      ) : null}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" pending={answer.isSent}>
          Send
        </Button>
        <Button variant="ghost" disabled={answer.isSent} onClick={() => answer.send({ answer: "reject" })}>
          Decline
        </Button>
      </div>
      <p className="text-xs text-ink-3">
        <TimeLeft ask={ask} /> What you enter is kept in the run: no password, no key.
      </p>
    </form>
  );
}
