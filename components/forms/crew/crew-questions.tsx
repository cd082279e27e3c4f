"use client";

import { Disclosure } from "@/components/ui/disclosure";
import type { CrewConfig } from "@/server/domain/crew/crew";
import { CREW_QUESTION_FIELDS } from "@/server/domain/nodes/question-terms";
import { FormParts } from "../form-parts";
import { OnLimitField } from "../on-limit-field";

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
  return (
    <Disclosure variant="box" title="When it asks people">
      <p className="text-[13px] text-ink-2">
        Holds for results to look at, tasks that may begin, ties, and tasks that failed.
      </p>
      <FormParts
        parts={CREW_QUESTION_FIELDS}
        value={questions}
        onChange={(next) => onChange(Object.keys(next).length === 0 ? rest : { ...rest, questions: next })}
      />
      <OnLimitField
        value={crew.on_limit}
        unset="As the member’s role or the run says"
        onValueChange={(on_limit) => onChange(on_limit === undefined ? unlimited : { ...crew, on_limit })}
      />
    </Disclosure>
  );
}
