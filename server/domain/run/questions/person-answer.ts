import { z } from "zod";
import { AgreedCalls } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { isSameJson } from "@/server/domain/base/json";
import { SIZES, sizeOf, sizeText } from "@/server/domain/base/sizes";
import { Json, type JsonSchema } from "@/server/domain/base/values";
import { isApproval, isRejection } from "@/server/domain/base/yes-no";
import { objectOf } from "@/server/domain/graph/form-fields";
import type { FieldError } from "@/server/domain/graph/input-check";
import { type AnswerOption, TEXT_ANSWER } from "@/server/domain/tool/person-question";
import type { Payloads } from "../events";
import { answerErrors, checkAnswer, PersonsAnswer } from "./tool-question";

/** An answer as people and programs send it. */
export const SentAnswer = z.object({
  answer: z.string().min(1).max(200).exactOptional().meta({
    description:
      "approve, approve_always, reject or cancel; for a question with `options`, the label or value of one; can be omitted to fill in a form",
  }),
  value: Json.exactOptional().meta({
    description:
      "For a question with a `response_schema`, the fields of its form; for one with a `draft`, the edited text",
  }),
  calls: AgreedCalls,
  message: PersonsAnswer.shape.message,
  content: PersonsAnswer.shape.content,
});
export type SentAnswer = z.infer<typeof SentAnswer>;

type Asked = Pick<
  Payloads["interaction_requested"],
  "kind" | "asks" | "options" | "response_schema" | "draft"
>;

export type ReadAnswer =
  | { ok: true; answer: PersonsAnswer }
  /** `isForm`: it is the content of a form that a tool asked for. */
  | { ok: false; errors: FieldError[]; isForm: boolean };

/** Values of `answer` that submit a form; leaving it out submits it too. */
const SUBMIT: ReadonlySet<string> = new Set([
  "given",
  "submit",
  "submitted",
  "answer",
  "answered",
  "approve",
]);

/** What an answer means for that question, checked by what it offers and by its schema; or what is wrong, by field. */
export function readAnswer(asked: Asked, sent: SentAnswer): ReadAnswer {
  if (asked.options) return readChoice(asked, asked.options, sent);
  if (asked.response_schema) return readForm(asked, sent);
  return readYesOrNo(asked, sent);
}

const rejected = (key: string, message: string): ReadAnswer => ({
  ok: false,
  isForm: false,
  errors: [{ key, message }],
});
const withMessage = ({ message }: SentAnswer) => (message === undefined ? {} : { message });

function readYesOrNo(asked: Asked, { answer, value, ...sent }: SentAnswer): ReadAnswer {
  const word = PersonsAnswer.shape.answer.safeParse(answer);
  if (!word.success || word.data === "chosen" || word.data === "given")
    return rejected("answer", "Answer with approve, approve_always, reject or cancel.");
  if (value !== undefined)
    return rejected("value", "Answer this question with approve or reject, without a value.");
  const read: PersonsAnswer = { answer: word.data, ...sent };
  const errors = answerErrors(asked, read);
  return errors.length === 0 ? { ok: true, answer: read } : { ok: false, errors, isForm: true };
}

function readChoice(asked: Asked, options: readonly AnswerOption[], sent: SentAnswer): ReadAnswer {
  if (sent.content !== undefined || sent.calls !== undefined)
    return rejected("answer", "Answer this question with one of its options.");
  const option = sent.answer === undefined ? undefined : optionNamed(options, sent.answer);
  if (!option)
    return rejected("answer", `Answer with one of: ${options.map(({ label }) => label).join(", ")}.`);
  const { value } = sent;
  if (asked.response_schema) return readChoiceWithForm(option, asked.response_schema, sent);
  if (value !== undefined && value !== null) {
    if (asked.draft === undefined)
      return rejected("value", "Answer this question with one of its options, without a value.");
    if (typeof value !== "string") return rejected("value", "The edited draft must be text.");
    if (sizeOf(value) > SIZES.event / 2)
      return rejected("value", `This is too long: ${sizeText(sizeOf(value))}.`);
  }
  return {
    ok: true,
    answer: {
      answer: "chosen",
      option: option.value,
      ...defined({ value: typeof value === "string" && value !== asked.draft ? value : undefined }),
      ...withMessage(sent),
    },
  };
}

/** An option that comes with a form, whose fields may be left out. */
function readChoiceWithForm(option: AnswerOption, schema: JsonSchema, sent: SentAnswer): ReadAnswer {
  const entered = objectOf(sent.value ?? {});
  if (!entered) return rejected("value", "Pass the form's fields as an object.");
  const read = checkAnswer(schema, entered);
  return read.ok
    ? {
        ok: true,
        answer: { answer: "chosen", option: option.value, value: read.content, ...withMessage(sent) },
      }
    : { ok: false, errors: read.errors, isForm: false };
}

function readForm({ response_schema = {} }: Asked, sent: SentAnswer): ReadAnswer {
  const { answer = "given", calls } = sent;
  const asText = isSameJson(response_schema, TEXT_ANSWER) ? withMessage(sent) : undefined;
  const value = sent.value ?? sent.content ?? asText;
  if (calls !== undefined) return rejected("calls", "Answer this question by filling in its form.");
  if (answer === "reject") return { ok: true, answer: { answer, ...withMessage(sent) } };
  if (!SUBMIT.has(answer))
    return rejected("answer", "Pass the form's values as `value`, or set `answer` to `reject` to decline.");
  const entered = objectOf(value ?? {});
  if (!entered) return rejected("value", "Pass the form's fields as an object.");
  const size = sizeOf(entered);
  if (size > SIZES.event / 2) return rejected("value", `This is too long: ${sizeText(size)}.`);
  const read = checkAnswer(response_schema, entered);
  return read.ok
    ? { ok: true, answer: { answer: "given", value: read.content, ...withMessage(sent) } }
    : { ok: false, errors: read.errors, isForm: false };
}

/** The option with that label or value, whatever its letters' case; `approve` and `reject` find theirs by any such word. */
export function optionNamed(options: readonly AnswerOption[], name: string): AnswerOption | undefined {
  const low = name.trim().toLowerCase();
  const by = (fits: (word: string) => boolean) =>
    options.find(({ label, value }) => fits(label) || fits(value));
  const exact = by((word) => word === name) ?? by((word) => word.toLowerCase() === low);
  if (exact) return exact;
  return low === "approve" ? yesOf(options) : low === "reject" ? noOf(options) : undefined;
}

/** The option that approves, or rejects; undefined if no label does. */
export const yesOf = (options: readonly AnswerOption[]) => options.find(({ label }) => isApproval(label));
export const noOf = (options: readonly AnswerOption[]) => options.find(({ label }) => isRejection(label));
