"use client";

import { type KeyboardEvent, useId, useState } from "react";
import { InputFields } from "@/components/forms/schema/input-field";
import { ErrorText } from "@/components/page/error-text";
import { Button } from "@/components/ui/button";
import { TextArea } from "@/components/ui/input/text-area";
import { noOf } from "@/server/domain/run/questions/person-answer";
import type { AnswerOption } from "@/server/domain/tool/person-question";
import { TimeLeft } from "./time-left";
import { type Answering, useAnswer } from "./use-answer";

/** A question with options, a comment and, if it is about a draft, the editable draft. */
export function ChoiceForm({ options, ...props }: Answering & { options: readonly AnswerOption[] }) {
  const { ask } = props;
  const { draft, response_schema } = ask.requested;
  const [text, setText] = useState(draft ?? "");
  const [comment, setComment] = useState("");
  const note = useId();
  const answer = useAnswer(props, response_schema);
  const no = noOf(options);
  const give = (option: AnswerOption) => {
    const value = answer.read();
    if (!value) return;
    answer.send({
      answer: option.value,
      ...(draft !== undefined && text !== draft ? { value: text } : {}),
      ...(answer.input.fields.length > 0 ? { value } : {}),
      ...(comment.trim() ? { message: comment.trim() } : {}),
    });
  };
  return (
    <div className="crew-answer flex flex-col gap-3">
      {draft === undefined ? null : (
        <TextArea
          label="Draft"
          hint={text === draft ? "Edit if needed; this version is used" : "Edited by you"}
          value={text}
          onValueChange={setText}
          rows={8}
        />
      )}
      <InputFields {...answer.input} />
      <TextArea
        label="Comment"
        hint="Optional"
        value={comment}
        onValueChange={setComment}
        rows={2}
        maxLength={4000}
      />
      <div className="flex flex-wrap gap-2">
        {options.map((option) => (
          <Button
            key={option.value}
            variant={option === no ? "danger" : "secondary"}
            aria-describedby={note}
            pending={answer.isSent}
            onKeyDown={notByEnter}
            onClick={() => give(option)}
          >
            <span className="inline-block first-letter:uppercase">{option.label}</span>
          </Button>
        ))}
      </div>
      <ErrorText error={answer.problem} />
      <p id={note} className="text-xs text-ink-3">
        <TimeLeft ask={ask} />
      </p>
    </div>
  );
}

/** Approving is to be meant: a key pressed to send something else must not do it. */
export function notByEnter(event: KeyboardEvent) {
  if (event.key === "Enter") event.preventDefault();
}
