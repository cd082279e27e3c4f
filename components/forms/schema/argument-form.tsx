"use client";

import { Play } from "lucide-react";
import { Button } from "@/components/ui/button";
import type { JsonObject, JsonSchema } from "@/server/domain/base/values";
import { InputFields, useInput } from "./input-field";
import { argumentFields } from "./input-fields";

export interface ArgumentFormProps {
  schema: JsonSchema;
  pending: boolean;
  disabled?: boolean;
  /** The button's label, such as "Call it". */
  submit: string;
  onSubmit: (args: JsonObject) => void;
}

/** A form for the arguments of a tool, made from its schema. */
export function ArgumentForm({ schema, pending, disabled, submit, onSubmit }: ArgumentFormProps) {
  const input = useInput(argumentFields(schema));
  const send = () => {
    const args = input.read();
    if (args) onSubmit(args);
  };
  return (
    // Not a form element: the page may be inside one.
    <fieldset
      aria-label="Arguments"
      className="flex min-w-0 flex-col gap-4"
      onKeyDown={(event) => {
        if (event.key !== "Enter" || event.shiftKey || !(event.target instanceof HTMLInputElement)) return;
        event.preventDefault();
        send();
      }}
    >
      <InputFields compact {...input.props} />
      <div>
        <Button icon={<Play aria-hidden="true" />} pending={pending} disabled={disabled} onClick={send}>
          {submit}
        </Button>
      </div>
    </fieldset>
  );
}
