"use client";

import { nodeChoices } from "@/components/display/expectation-words";
import { exitLabels } from "@/components/forms/ports";
import { JsonField } from "@/components/forms/schema/json-field";
import { Disclosure } from "@/components/ui/disclosure";
import { Select } from "@/components/ui/select";
import { SuggestField } from "@/components/ui/suggest-field";
import { TextField } from "@/components/ui/text-field";
import { entriesOf } from "@/server/domain/base/guards";
import { Json } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { PeopleAnswer } from "@/server/domain/scenario/scenario-test";
import { type Change, changed } from "./changed";
import { NodeSelect } from "./node-select";

type Kind = NonNullable<PeopleAnswer["kind"]>;

const KIND_WORDS: Readonly<Record<Kind, string>> = {
  approval: "An approval",
  input: "A form",
  question: "A question",
  feedback: "Feedback",
  review: "A review",
  tool_confirmation: "Whether a tool may be called",
  escalation: "A failure that was handed on",
  tie: "A tie",
  budget: "A limit that asks",
};
const ANY = "(any)";

/** An answer in a few words. */
export function answerWords(
  { node_id, kind, title, answer }: PeopleAnswer,
  { nodes }: Pick<WorkflowGraph, "nodes">,
): string {
  const where = node_id === undefined ? "Anywhere" : nodes[node_id]?.name || node_id;
  const what = [kind ? KIND_WORDS[kind].toLowerCase() : "", title ? `“${title}”` : ""]
    .filter(Boolean)
    .join(" ");
  return `${where}${what ? `, ${what}` : ""}: ${answer === "expired" ? "nobody answers" : answer || "…"}`;
}

/** The fields of one answer of people: to which question, and what. */
export function PeopleFields({
  answer: person,
  graph,
  faultOf,
  onChange,
}: {
  answer: PeopleAnswer;
  graph: WorkflowGraph;
  faultOf: (field: string) => string | undefined;
  onChange: (next: PeopleAnswer) => void;
}) {
  const { node_id, kind, title, answer, value, message } = person;
  const set = (next: Change<PeopleAnswer>) => onChange(changed(person, next));
  const labels = node_id === undefined ? [] : exitLabels(graph, node_id);
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <NodeSelect
          label="Asked at"
          anyLabel="Any node"
          value={node_id}
          error={faultOf("node_id")}
          choices={nodeChoices(graph)}
          onChange={(id) => set({ node_id: id })}
        />
        <Select<Kind | typeof ANY>
          label="What is asked"
          options={[
            { value: ANY, label: "Anything" },
            ...entriesOf(KIND_WORDS).map(([one, label]) => ({ value: one, label })),
          ]}
          value={kind ?? ANY}
          onValueChange={(next) => set({ kind: next === ANY ? undefined : next })}
        />
      </div>
      <TextField
        label="Its title contains"
        aside="Optional"
        error={faultOf("title")}
        value={title ?? ""}
        onValueChange={(next) => set({ title: next === "" ? undefined : next })}
      />
      <SuggestField
        label="Answer"
        hint="As people answer: approve, reject, the label of an option, submit for a form. expired: nobody answers in time."
        error={faultOf("answer")}
        suggestions={[...new Set([...labels, "approve", "reject", "submit", "expired"])].map((one) => ({
          value: one,
        }))}
        value={answer}
        onValueChange={(next) => set({ answer: next })}
      />
      <TextField
        label="Message"
        aside="Optional"
        error={faultOf("message")}
        value={message ?? ""}
        onValueChange={(next) => set({ message: next === "" ? undefined : next })}
      />
      <Disclosure title="What is filled in" isOpen={value !== undefined}>
        <JsonField
          label="Values"
          hint="Of a form its fields, of a draft the text, as JSON."
          error={faultOf("value")}
          value={value}
          onChange={(next) => {
            const read = Json.safeParse(next);
            set({ value: read.success ? read.data : undefined });
          }}
        />
      </Disclosure>
    </>
  );
}
