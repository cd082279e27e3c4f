"use client";

import { nodeChoices } from "@/components/display/describe-expectation";
import { FormParts } from "@/components/forms/form-parts";
import { useFormScope } from "@/components/forms/form-scope";
import { exitLabels } from "@/components/forms/ports";
import { choicesOf, type FormPart, withSetting } from "@/server/domain/base/form";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { PeopleAnswer } from "@/server/domain/scenario/scenario-test";
import { NodeSelect } from "./node-select";
import type { ErrorsByPlace } from "./test-draft";

type Kind = NonNullable<PeopleAnswer["kind"]>;

const KIND_LABELS: Readonly<Record<Kind, string>> = {
  approval: "Approval",
  input: "Form",
  question: "Tool question",
  feedback: "Feedback",
  review: "Review",
  tool_confirmation: "Tool approval",
  escalation: "Escalation",
  tie: "Tie-break",
  budget: "Limit warning",
};

/** An answer in a few words. */
export function answerText(
  { node_id, kind, title, answer }: PeopleAnswer,
  { nodes }: Pick<WorkflowGraph, "nodes">,
): string {
  const where = node_id === undefined ? "Any node" : nodes[node_id]?.name || node_id;
  const what = [kind ? KIND_LABELS[kind].toLowerCase() : "", title ? `“${title}”` : ""]
    .filter(Boolean)
    .join(" ");
  return `${where}${what ? `, ${what}` : ""}: ${answer === "expired" ? "not answered" : answer || "…"}`;
}

const FORM: readonly FormPart<PeopleAnswer, "node">[] = [
  {
    as: "columns",
    most: 2,
    areWide: true,
    parts: [
      { slot: "node" },
      {
        key: "kind",
        as: "choice",
        label: "Question type",
        options: choicesOf(KIND_LABELS),
        unset: "Any type",
      },
    ],
  },
  { key: "title", as: "text", label: "Title contains", aside: "Optional" },
  {
    key: "answer",
    as: "suggest",
    label: "Answer",
    hint: "approve, reject, an option label, submit (form) or expired (no answer)",
    empty: "",
  },
  { key: "message", as: "text", label: "Message", aside: "Optional" },
  {
    as: "box",
    title: "Entered values",
    isOpen: ({ value }) => value !== undefined,
    parts: [
      {
        key: "value",
        as: "json",
        label: "Values",
        hint: "JSON: form fields, or the text of a draft",
      },
    ],
  },
];

/** The fields of one answer of people: to which question, and what. */
export function PeopleFields({
  answer,
  errors,
  onChange,
}: {
  answer: PeopleAnswer;
  errors: ErrorsByPlace;
  onChange: (next: PeopleAnswer) => void;
}) {
  const { graph } = useFormScope();
  const { node_id } = answer;
  const labels = node_id === undefined ? [] : exitLabels(graph, node_id);
  const suggestions = [...new Set([...labels, "approve", "reject", "submit", "expired"])];
  return (
    <FormParts
      parts={FORM}
      value={answer}
      now={{ answer: { suggestions } }}
      errors={errors}
      onChange={onChange}
      slots={{
        node: (
          <NodeSelect
            label="Asked by"
            anyLabel="Any node"
            value={node_id}
            error={errors.node_id}
            choices={nodeChoices(graph)}
            onChange={(id) => onChange(withSetting(answer, "node_id", id))}
          />
        ),
      }}
    />
  );
}
