import { ON_LIMITS } from "@/server/domain/agent/on-limit";
import { defined } from "@/server/domain/base/defined";
import { type BasicFieldVariant, choicesOf, type FieldOf, type FormField } from "@/server/domain/base/form";
import type { CrewQuestions } from "@/server/domain/crew/questions";
import { escalationError } from "@/server/domain/tool/escalation";
import type { QuestionParts, QuestionTerms } from "@/server/domain/tool/person-question";
import type { Field, NodeDiagnostic } from "../define";

type TermField = FieldOf<unknown, Exclude<keyof QuestionTerms, "default_response">, BasicFieldVariant>;

/** How long a question waits, what then, who is waited for. */
const TERMS: readonly TermField[] = [
  {
    key: "assigned_to",
    label: "Assignee",
    as: "text",
    hint: "A person or team, shown with the question",
  },
  {
    key: "required_expertise",
    label: "Expertise",
    as: "texts",
    itemName: "subject",
    hint: "What the person should know about, shown with the question",
  },
  {
    key: "urgency",
    label: "Priority",
    as: "choice",
    unset: "Normal (default)",
    options: [
      { value: "low", label: "Low" },
      { value: "normal", label: "Normal" },
      { value: "high", label: "High" },
      { value: "critical", label: "Critical" },
    ],
  },
  {
    key: "mode",
    label: "While waiting",
    as: "choice",
    unset: "Default: other branches continue",
    options: [
      { value: "async", label: "Continue other branches", hint: "Only this branch waits" },
      { value: "sync", label: "Pause run", hint: "Nothing new starts, and running time isn't counted" },
      {
        value: "advisory",
        label: "Don't wait",
        hint: "Uses the default answer; a late answer is still recorded",
      },
    ],
  },
  {
    key: "timeout_s",
    label: "Deadline",
    as: "seconds",
    hint: "Leave empty for the server default, usually 7 days",
  },
  {
    key: "on_timeout",
    label: "On timeout",
    as: "choice",
    unset: "Default: never approve",
    options: [
      { value: "reject", label: "Reject" },
      { value: "fail", label: "Fail the node" },
      { value: "default", label: "Use default answer" },
      { value: "continue", label: "Continue without an answer" },
      {
        value: "escalate",
        label: "Escalate",
        hint: "Asks the escalation contacts in order",
      },
      { value: "approve", label: "Approve", hint: "Not recommended: approves without review" },
    ],
  },
];

const ESCALATION: TermField = {
  key: "escalation",
  label: "Escalation",
  as: "escalation",
  hint: "Who to ask next, and how long after the question",
};

/** The fields of every node that asks a person. `standard`: how its standard answer is entered. */
export const questionFields = (standard: "label" | "json"): readonly Field<QuestionTerms>[] =>
  [...TERMS, { key: "default_response", label: "Default answer", as: standard } as const, ESCALATION].map(
    (field) => ({
      ...field,
      isRare: true,
    }),
  );

/** What happens where a model call of this node reaches a limit. */
export const ON_LIMIT_FIELD: Field<{ on_limit?: "stop" | "ask" | undefined }> = {
  key: "on_limit",
  label: "On run limit",
  as: "choice",
  unset: "Inherit from crew, role or run",
  isRare: true,
  options: choicesOf(ON_LIMITS),
};

/** What a crew cannot say of its questions: nobody is asked in passing, and there is no standard answer. */
const NOT_OF_CREWS: ReadonlySet<string> = new Set(["advisory", "default", "continue"]);

/** The same fields where a crew asks. */
export const CREW_QUESTION_FIELDS: readonly FormField<CrewQuestions>[] = [...TERMS, ESCALATION].map(
  ({ options, ...field }) => ({
    ...field,
    ...defined({ options: options ? options.filter(({ value }) => !NOT_OF_CREWS.has(value)) : undefined }),
  }),
);

/** The terms of a question as they are set; what is not set is left out. */
export function termsOf(config: QuestionTerms): QuestionParts {
  const {
    mode,
    timeout_s,
    on_timeout,
    default_response,
    urgency,
    assigned_to,
    required_expertise = [],
    escalation,
  } = config;
  const known = required_expertise.filter((subject) => subject.trim() !== "");
  return {
    ...defined({
      mode,
      timeout_s,
      on_timeout,
      default_response,
      urgency,
      assigned_to: assigned_to || undefined,
      required_expertise: known.length === 0 ? undefined : known,
      escalation,
    }),
  };
}

/** What is wrong with what follows where nobody answers. `own`: what the kind itself has against it. */
export function timeoutDiagnostics(terms: QuestionTerms, own: string | null): NodeDiagnostic[] {
  const wrong = escalationError(terms);
  return [
    ...(own === null
      ? []
      : [
          {
            severity: "error" as const,
            code: "E_QUESTION_TIMEOUT",
            message: own,
            field: "on_timeout",
          },
        ]),
    ...(wrong === null
      ? []
      : [
          {
            severity: "error" as const,
            code: "E_QUESTION_ESCALATION",
            message: wrong,
            field: "escalation",
          },
        ]),
  ];
}
