import { z } from "zod";
import { Json, type JsonSchema } from "@/server/domain/base/values";

/**
 * How a question blocks a run. sync: nothing new starts until it is answered, and the run's clock stops. async: only
 * the step that asks waits. advisory: nothing waits.
 */
export const QuestionMode = z.enum(["sync", "async", "advisory"]);
export type QuestionMode = z.infer<typeof QuestionMode>;

/** What happens if no answer arrives in time. */
export const OnTimeout = z.enum(["reject", "approve", "default", "fail", "escalate", "continue"]);
export type OnTimeout = z.infer<typeof OnTimeout>;

export const Urgency = z.enum(["low", "normal", "high", "critical"]);
export type Urgency = z.infer<typeof Urgency>;

/** Who is asked next if there is no answer after this time, counted from the question; seconds. */
export const EscalationLevel = z.object({
  after_s: z
    .number()
    .int()
    .min(1)
    .max(365 * 86_400),
  to: z.string().min(1).max(200),
});
export type EscalationLevel = z.infer<typeof EscalationLevel>;

/** How long a person may take at most, in seconds. */
export const TimeoutSeconds = z
  .number()
  .int()
  .min(1)
  .max(365 * 86_400);

/** The terms on which a person is asked, wherever they are set. */
export const QuestionTerms = z.object({
  mode: QuestionMode.optional(),
  timeout_s: TimeoutSeconds.optional(),
  on_timeout: OnTimeout.optional(),
  default_response: Json.optional(),
  urgency: Urgency.optional(),
  assigned_to: z.string().max(200).optional(),
  required_expertise: z.array(z.string().max(200)).max(20).optional(),
  escalation: z.array(EscalationLevel).max(10).optional(),
});
export type QuestionTerms = z.infer<typeof QuestionTerms>;

/** The form of a question that is answered in words. Left empty, it leaves the decision to who asks. */
export const TEXT_ANSWER: JsonSchema = {
  type: "object",
  properties: { message: { type: "string", title: "Answer for the agent", maxLength: 4000 } },
};

/** The words of an answer to a question that was asked so, or with a yes or a no; undefined if there are none. */
export function answerText({ value, message }: { value?: Json; message?: string }): string | undefined {
  const given = z.object({ message: z.string().optional() }).safeParse(value).data;
  return given?.message ?? message;
}

/** One of the answers to choose from. */
export interface AnswerOption {
  label: string;
  value: string;
}

/** What a question asks and its terms, besides its title and its reason; all of it absent in older runs. */
export interface QuestionParts {
  /** What it is about, as Markdown. */
  body?: string;
  /** The answers to choose from; absent: a yes or a no, or a form. */
  options?: AnswerOption[];
  /** What is to be filled in: an object, whose properties are the fields of the form. */
  response_schema?: JsonSchema;
  /** A text that the answering person may edit. */
  draft?: string;
  /** Several questions in one; the form has a field for each. */
  questions?: string[];
  mode?: QuestionMode;
  urgency?: Urgency;
  assigned_to?: string;
  required_expertise?: string[];
  timeout_s?: number;
  on_timeout?: OnTimeout;
  default_response?: Json;
  escalation?: EscalationLevel[];
}

/** What a node asks a person. */
export interface NodeQuestion extends QuestionParts {
  kind: "approval" | "input";
  title: string;
  why: string;
}

/** What a person said, as a node reads it. */
export interface NodeAnswer {
  /**
   * chosen: one of the options. given: a form. expired: no answer in time. pending: the run doesn't wait for an answer.
   */
  answer: "chosen" | "given" | "reject" | "expired" | "pending";
  /** The value of the option that was chosen. */
  option?: string;
  /** The form's values, or the edited draft. */
  value?: Json;
  message?: string;
  by: string;
}
