"use client";

import { Select } from "@/components/ui/input/select";
import { withoutUndefined } from "@/server/domain/base/objects";
import type { Question } from "./question-item";

export interface Narrowed {
  workflow?: string;
  kind?: string;
  person?: string;
  /** The required expertise. */
  subject?: string;
}

const ALL = "";
const KINDS: Readonly<Record<string, string>> = {
  tool_confirmation: "Tool approval",
  escalation: "Escalation",
  review: "Review",
  tie: "Tie-break",
  question: "Tool question",
  approval: "Approval",
  input: "Form",
  feedback: "Feedback",
  budget: "Limit warning",
};

/** Filters the list. Renders only filters that would hide something. */
export function InboxFilter({
  questions,
  narrowed,
  onChange,
}: {
  questions: readonly Question[];
  narrowed: Narrowed;
  onChange: (narrowed: Narrowed) => void;
}) {
  const workflows = [
    ...new Map(
      questions.flatMap(({ workflow_id, workflow_name }) =>
        workflow_id === null ? [] : [[workflow_id, workflow_name || "Workflow"] as const],
      ),
    ),
  ];
  const kinds = [...new Set<string>(questions.map(({ ask }) => ask.requested.kind))];
  const people = [...new Set(questions.flatMap(({ assigned_to }) => assigned_to ?? []))];
  const subjects = [...new Set(questions.flatMap(({ ask }) => ask.requested.required_expertise ?? []))];
  const isNarrowed = Object.values(narrowed).some((value) => value !== undefined);
  if (!isNarrowed && workflows.length < 2 && kinds.length < 2 && people.length < 1 && subjects.length < 1)
    return null;
  const pick = (part: keyof Narrowed) => (value: string) =>
    onChange(withoutUndefined({ ...narrowed, [part]: value === ALL ? undefined : value }));
  const filters = [
    { part: "workflow", label: "Workflow", all: "All workflows", options: workflows },
    {
      part: "kind",
      label: "Type",
      all: "All types",
      options: kinds.map((kind) => [kind, KINDS[kind] ?? kind] as const),
    },
    {
      part: "person",
      label: "Assignee",
      all: "Anyone",
      options: people.map((name) => [name, `For ${name}`] as const),
    },
    {
      part: "subject",
      label: "Expertise",
      all: "Any expertise",
      options: subjects.map((name) => [name, `Knows ${name}`] as const),
    },
  ] as const;
  return (
    <div className="mb-3 grid grid-cols-2 gap-2 sm:flex sm:flex-wrap">
      {filters.map(({ part, label, all, options }) =>
        options.length < (part === "person" || part === "subject" ? 1 : 2) &&
        narrowed[part] === undefined ? null : (
          <Select
            key={part}
            label={label}
            hideLabel
            value={narrowed[part] ?? ALL}
            onValueChange={pick(part)}
            fieldClassName="min-w-0 sm:max-w-56 sm:min-w-36 sm:flex-1"
            options={[
              { value: ALL, label: all },
              ...options.map(([value, name]) => ({ value, label: name })),
            ]}
          />
        ),
      )}
    </div>
  );
}
