import type { QuestionParts, QuestionTerms } from "@/server/domain/tool/person-question";
import type { Fault, Field, FieldLook } from "./define";

/** The fields of every node that asks a person: how long, what then, who is waited for. `standard`: how its standard answer is entered. */
export const questionFields = (standard: FieldLook): readonly Field<QuestionTerms>[] => [
  {
    key: "assigned_to",
    label: "Meant for",
    as: "text",
    hint: "A name or a role of people, shown with the question",
    isRare: true,
  },
  {
    key: "urgency",
    label: "Urgency",
    as: "choice",
    isRare: true,
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
    isRare: true,
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
    label: "Seconds to answer",
    as: "number",
    min: 1,
    max: 365 * 86_400,
    hint: "Empty: as the installation says, usually 7 days",
    isRare: true,
  },
  {
    key: "on_timeout",
    label: "If nobody answers",
    as: "choice",
    isRare: true,
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
  { key: "default_response", label: "Standard answer", as: standard, isRare: true },
  {
    key: "escalation",
    label: "Escalation",
    as: "json",
    hint: 'Who is asked after how long, such as [{"after_s": 3600, "to": "team lead"}]',
    isRare: true,
  },
];

/** What happens where a model call of this node reaches a limit. */
export const ON_LIMIT_FIELD: Field<{ on_limit?: "stop" | "ask" | undefined }> = {
  key: "on_limit",
  label: "At a limit of the run",
  as: "choice",
  isRare: true,
  options: [
    { value: "stop", label: "The run stops" },
    { value: "ask", label: "A person is asked first" },
  ],
};

/** The terms of a question as they are set; what is not set is left out. */
export function termsOf(config: QuestionTerms): QuestionParts {
  const {
    mode,
    timeout_s,
    on_timeout,
    default_response,
    urgency,
    assigned_to,
    required_expertise,
    escalation,
  } = config;
  return {
    ...(mode === undefined ? {} : { mode }),
    ...(timeout_s === undefined ? {} : { timeout_s }),
    ...(on_timeout === undefined ? {} : { on_timeout }),
    ...(default_response === undefined ? {} : { default_response }),
    ...(urgency === undefined ? {} : { urgency }),
    ...(assigned_to ? { assigned_to } : {}),
    ...(required_expertise === undefined ? {} : { required_expertise }),
    ...(escalation === undefined ? {} : { escalation }),
  };
}

/** What is wrong with what follows where nobody answers. `own`: what the kind itself has against it. */
export function timeoutFaults({ on_timeout, escalation = [] }: QuestionTerms, own: string | null): Fault[] {
  const faults: Fault[] = [];
  if (own !== null)
    faults.push({ severity: "error", code: "E_QUESTION_TIMEOUT", message: own, field: "on_timeout" });
  if (on_timeout === "escalate" && escalation.length === 0)
    faults.push({
      severity: "error",
      code: "E_QUESTION_ESCALATION",
      message: "Say who is asked where nobody answers: add at least one level.",
      field: "escalation",
    });
  const isOrdered = escalation.every(
    ({ after_s }, at) => at === 0 || after_s > (escalation[at - 1]?.after_s ?? 0),
  );
  if (!isOrdered)
    faults.push({
      severity: "error",
      code: "E_QUESTION_ESCALATION",
      message: "Each level of the escalation must come later than the one before.",
      field: "escalation",
    });
  return faults;
}
