"use client";

import { Disclosure } from "@/components/ui/disclosure";
import { TextField } from "@/components/ui/text-field";
import type { CrewConfig } from "@/server/domain/crew/crew";
import type { Field } from "@/server/domain/nodes";
import { CREW_QUESTION_FIELDS } from "@/server/domain/nodes/question-terms";
import { ChoiceField, TextsField } from "./choice-field";
import { SecondsField } from "./duration-field";
import { EscalationField } from "./escalation-field";
import type { FieldProps } from "./field-props";
import { OnLimitField } from "./on-limit-field";

/** On which terms a crew asks people, and whether it does at limits of the run. */
export function CrewQuestionFields({
  crew,
  onChange,
}: {
  crew: CrewConfig;
  onChange: (crew: CrewConfig) => void;
}) {
  const { questions = {}, ...rest } = crew;
  const { on_limit: _limit, ...unlimited } = crew;
  const values: Readonly<Record<string, unknown>> = questions;
  const set = (key: string, value: unknown) => {
    const { [key]: _old, ...others } = values;
    const next = value === undefined || value === "" ? others : { ...others, [key]: value };
    onChange(Object.keys(next).length === 0 ? rest : { ...rest, questions: next });
  };
  return (
    <Disclosure look="box" title="When it asks people">
      <p className="text-[13px] text-ink-2">
        Holds for results to look at, tasks that may begin, ties, and tasks that failed.
      </p>
      {CREW_QUESTION_FIELDS.map((field) => (
        <QuestionField
          key={field.key}
          field={field}
          label={field.label}
          hint={field.hint}
          value={values[field.key]}
          onChange={(value) => set(field.key, value)}
        />
      ))}
      <OnLimitField
        value={crew.on_limit}
        unset="As the member’s role or the run says"
        onValueChange={(on_limit) => onChange(on_limit === undefined ? unlimited : { ...crew, on_limit })}
      />
    </Disclosure>
  );
}

/** The looks that the terms of a question have; `field-view.tsx` has more, and crews among them. */
function QuestionField({
  field,
  ...props
}: FieldProps & { field: Pick<Field, "as" | "options" | "unset" | "itemName"> }) {
  switch (field.as) {
    case "choice":
      return <ChoiceField {...props} field={field} />;
    case "texts":
      return <TextsField {...props} itemName={field.itemName} />;
    case "seconds":
      return <SecondsField {...props} placeholder="As usual" />;
    case "escalation":
      return <EscalationField {...props} />;
    default: {
      const { value, onChange, ...words } = props;
      return <TextField {...words} value={typeof value === "string" ? value : ""} onValueChange={onChange} />;
    }
  }
}
