"use client";

import type { Answers } from "@/components/trpc";
import { Disclosure } from "@/components/ui/disclosure";
import { Select } from "@/components/ui/input/select";

type Looked = Answers["imports"]["importFiles"];

/** Questions that the files leave open, such as which of several workflows to import. */
export function ImportQuestions({
  found,
  onPick,
  onAnswer,
}: {
  found: Looked;
  onPick: (at: number) => void;
  onAnswer: (id: string, value: string) => void;
}) {
  const { found: parts, picked, choices } = found;
  if (parts.length < 2 && choices.length === 0) return null;
  const selects = (isDetail: boolean) =>
    choices
      .filter(({ is_detail }) => is_detail === isDetail)
      .map(({ id, question, options, value }) => (
        <Select
          key={id}
          label={question}
          value={value}
          onValueChange={(next) => onAnswer(id, next)}
          options={options}
        />
      ));
  return (
    <section aria-label="Questions" className="flex flex-col gap-3">
      {parts.length > 1 ? (
        <Select
          label="Item to import"
          value={String(picked ?? 0)}
          onValueChange={(value) => onPick(Number(value))}
          options={parts.map(({ title, label, is_readable }, at) => ({
            value: String(at),
            label: title || label,
            hint: is_readable ? label : `${label}; not supported yet`,
          }))}
        />
      ) : null}
      {selects(false)}
      {choices.some(({ is_detail }) => is_detail) ? (
        <Disclosure
          title="Individual choices"
          isOpen={choices.some(({ is_detail, value, options }) => is_detail && value !== options[0]?.value)}
        >
          <div className="flex flex-col gap-3">{selects(true)}</div>
        </Disclosure>
      ) : null}
    </section>
  );
}
