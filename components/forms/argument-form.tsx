"use client";

import { Play } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { CodeArea } from "@/components/ui/code-area";
import { Select } from "@/components/ui/select";
import { TextArea } from "@/components/ui/text-area";
import { TextField } from "@/components/ui/text-field";
import type { JsonObject, JsonSchema } from "@/server/domain/base/values";
import { type ArgumentField, argumentFields, type Entered, readArguments } from "./arguments";

export interface ArgumentFormProps {
  schema: JsonSchema;
  pending: boolean;
  disabled?: boolean;
  /** On the button, a verb: "Call it". */
  submit: string;
  onSubmit: (args: JsonObject) => void;
}

/** A form for the arguments of a tool, made from its schema. */
export function ArgumentForm({ schema, pending, disabled, submit, onSubmit }: ArgumentFormProps) {
  const [entered, setEntered] = useState<Entered>({});
  const [faults, setFaults] = useState<Record<string, string>>({});
  const fields = argumentFields(schema);
  const send = () => {
    const read = readArguments(fields, entered);
    setFaults(read.ok ? {} : read.faults);
    if (read.ok) onSubmit(read.args);
  };
  return (
    // Not a form: the page may stand inside one.
    <fieldset
      aria-label="Arguments"
      className="flex min-w-0 flex-col gap-4"
      onKeyDown={(event) => {
        if (event.key !== "Enter" || event.shiftKey || !(event.target instanceof HTMLInputElement)) return;
        event.preventDefault();
        send();
      }}
    >
      {fields.map((field) => (
        <Argument
          key={field.name}
          field={field}
          value={entered[field.name]}
          error={faults[field.name]}
          onChange={(value) => setEntered({ ...entered, [field.name]: value })}
        />
      ))}
      <div>
        <Button icon={<Play aria-hidden="true" />} pending={pending} disabled={disabled} onClick={send}>
          {submit}
        </Button>
      </div>
    </fieldset>
  );
}

function Argument({
  field,
  value,
  error,
  onChange,
}: {
  field: ArgumentField;
  value: string | boolean | undefined;
  error: string | undefined;
  onChange: (value: string | boolean) => void;
}) {
  const { name, look, required, hint, choices } = field;
  const words = { label: name, hint, error, ...(required ? {} : { aside: "Optional" }) };
  const text = typeof value === "string" ? value : "";
  if (look === "yes_no")
    return <Checkbox label={name} hint={hint} checked={value === true} onCheckedChange={onChange} />;
  if (look === "choice")
    return (
      <Select
        {...words}
        options={[
          ...(required ? [] : [{ value: "", label: "Not given" }]),
          ...choices.map((word) => ({ value: word, label: word })),
        ]}
        value={text || null}
        onValueChange={onChange}
      />
    );
  if (look === "json")
    return <CodeArea {...words} language="json" compact minLines={2} value={text} onValueChange={onChange} />;
  if (look === "text") return <TextArea {...words} rows={1} value={text} onValueChange={onChange} />;
  return (
    <TextField
      {...words}
      inputMode="decimal"
      value={text}
      onValueChange={onChange}
      fieldClassName="max-w-48"
    />
  );
}
