import { ON_LIMITS } from "@/server/domain/agent/on-limit";
import { defined } from "@/server/domain/base/defined";
import { type BasicFieldVariant, choicesOf, type FieldOf, type FormField } from "@/server/domain/base/form";
import type { CrewQuestions } from "@/server/domain/crew/questions";
import { escalationError } from "@/server/domain/tool/escalation";
import type { QuestionParts, QuestionTerms } from "@/server/domain/tool/person-question";
import type { Field, NodeDiagnostic } from "./define";

type TermField = FieldOf<unknown, Exclude<keyof QuestionTerms, "default_response">, BasicFieldVariant>;

/** How long a question waits, what then, who is waited for. */
const TERMS: readonly TermField[] = [
  {
    key: "assigned_to",
    label: "Meant for",
    as: "text",
    hint: "A name or a role of people, shown with the question",
  },
  {
    key: "required_expertise",
    label: "Should know about",
    as: "texts",
    itemName: "subject",
    hint: "What whoever answers should know about, shown with the question",
  },
  {
    key: "urgency",
    label: "Urgency",
    as: "choice",
    unset: "Normal, as usual",
    options: [
      { value: "low", label: "Not urgent" },
      { value: "normal", label: "Normal" },
      { value: "high", label: "Urgent" },
      { value: "critical", label: "Very urgent" },
    ],
  },
  {
    key: "mode",
    label: "Meanwhile",
    as: "choice",
    unset: "As usual: other branches go on",
    options: [
      { value: "async", label: "Other branches go on", hint: "Only this one waits" },
      { value: "sync", label: "The whole run waits", hint: "Nothing new starts, and its time stands still" },
      {
        value: "advisory",
        label: "Nobody waits",
        hint: "The standard answer stands, and a later one is told",
      },
    ],
  },
  {
    key: "timeout_s",
    label: "Time to answer",
    as: "seconds",
    hint: "Empty: as the installation says, usually 7 days",
  },
  {
    key: "on_timeout",
    label: "If nobody answers",
    as: "choice",
    unset: "As usual: never a yes",
    options: [
      { value: "reject", label: "It counts as no" },
      { value: "fail", label: "The node fails" },
      { value: "default", label: "The standard answer stands" },
      { value: "continue", label: "It goes on without" },
      {
        value: "escalate",
        label: "Others are asked",
        hint: "Those named under Escalation, one after the other",
      },
      { value: "approve", label: "It counts as yes", hint: "Think twice: nobody has looked at it" },
    ],
  },
];

const ESCALATION: TermField = {
  key: "escalation",
  label: "Escalation",
  as: "escalation",
  hint: "Who is asked next where nobody answers for so long, counted from the question",
};

/** The fields of every node that asks a person. `standard`: how its standard answer is entered. */
export const questionFields = (standard: "label" | "json"): readonly Field<QuestionTerms>[] =>
  [...TERMS, { key: "default_response", label: "Standard answer", as: standard } as const, ESCALATION].map(
    (field) => ({
      ...field,
      isRare: true,
    }),
  );

/** What happens where a model call of this node reaches a limit. */
export const ON_LIMIT_FIELD: Field<{ on_limit?: "stop" | "ask" | undefined }> = {
  key: "on_limit",
  label: "At a limit of the run",
  as: "choice",
  unset: "As its crew, its role or the run says",
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
