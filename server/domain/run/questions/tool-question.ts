import { z } from "zod";
import { AgreedCalls } from "@/server/domain/agent/outcome";
import { Json, type JsonObject, type JsonSchema } from "@/server/domain/base/values";
import { choicesOf, fieldsOfSchema, objectOf } from "@/server/domain/graph/form-fields";
import { errorsByKey, type FieldError } from "@/server/domain/graph/input-check";
import { readSchema } from "@/server/domain/schema/schema";
import type { ToolQuestion } from "@/server/domain/tool/tool";
import type { Payloads } from "../events";

/** What a person may answer to a question of a run, wherever they answer it. */
export const PersonsAnswer = z.object({
  answer: z.enum(["approve", "approve_always", "reject", "cancel", "chosen", "given"]).meta({
    description:
      "`cancel` leaves a question of kind `question` unanswered; `chosen` selects the option named by `option`, `given` fills in a form",
  }),
  option: z.string().max(200).exactOptional(),
  value: Json.exactOptional(),
  calls: AgreedCalls,
  message: z.string().max(4000).exactOptional(),
  content: z.record(z.string().max(200), Json).exactOptional().meta({
    description:
      "For a question whose `asks` has a `schema`, the fields of the form. A missing field gets its default; null omits it",
  }),
});
export type PersonsAnswer = z.infer<typeof PersonsAnswer>;

const MOST_FIELDS = 50;
const MOST_CHARS = 64 * 1024;

/** Why this can't be asked, as the end of a sentence; null if it can. */
export function questionError({ schema, url }: Pick<ToolQuestion, "schema" | "url">): string | null {
  if (url !== undefined)
    return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
      ? null
      : "to open a URL that is not a web URL";
  if (JSON.stringify(schema ?? {}).length > MOST_CHARS) return "to fill in a form that is too large";
  const fields = fieldsOfSchema(schema ?? {});
  if (fields.length > MOST_FIELDS) return `to fill in a form of more than ${MOST_FIELDS} fields`;
  const odd = fields.find((field) => !isPlain(field.schema));
  return odd ? `for “${odd.key}” in a form that can't be shown` : null;
}

/** What a person entered as a tool gets it, checked by the schema that it asked with; or what is wrong, by field. */
export function checkAnswer(
  schema: JsonSchema,
  entered: JsonObject,
): { ok: true; content: JsonObject } | { ok: false; errors: FieldError[] } {
  const fields = fieldsOfSchema(schema);
  const known = new Map(fields.map((field) => [field.key, field]));
  const errors = Object.keys(entered).flatMap((key) =>
    known.has(key) ? [] : [{ key, message: "Unknown field." }],
  );
  const content: JsonObject = {};
  for (const { key, required, default: preset } of fields) {
    const value = Object.hasOwn(entered, key) ? entered[key] : preset;
    if (value !== undefined && value !== null) content[key] = value;
    else if (required) errors.push({ key, message: "Required." });
  }
  if (errors.length > 0) return { ok: false, errors };
  const fieldErrors = errorsByKey(readSchema({ type: "object", ...schema }).errors(content));
  return fieldErrors.length > 0 ? { ok: false, errors: fieldErrors } : { ok: true, content };
}

/** The errors of an answer to a question, by field. */
export function answerErrors(
  { kind, asks }: Pick<Payloads["interaction_requested"], "kind" | "asks">,
  { answer, content }: Pick<PersonsAnswer, "answer" | "content">,
): FieldError[] {
  if (answer === "chosen" || answer === "given" || (kind !== "question" && answer === "cancel"))
    return [{ key: "answer", message: "Answer this question with approve or reject." }];
  if (kind === "question" && answer === "approve_always")
    return [{ key: "answer", message: "This kind of question must be answered each time." }];
  const schema = answer === "approve" ? asks?.schema : undefined;
  if (content === undefined && !schema) return [];
  if (!schema)
    return [{ key: "content", message: "Content is allowed only when approving a question with a form." }];
  if (JSON.stringify(content ?? {}).length > MOST_CHARS)
    return [
      {
        key: "content",
        message: `This answer is too long. Use at most ${MOST_CHARS.toLocaleString("en-US")} characters.`,
      },
    ];
  const checked = checkAnswer(schema, content ?? {});
  return checked.ok ? [] : checked.errors;
}

const PLAIN: readonly unknown[] = ["string", "number", "integer", "boolean"];
const isPlain = (schema: JsonSchema): boolean =>
  schema.type === "array"
    ? choicesOf(objectOf(schema.items) ?? {}) !== undefined
    : PLAIN.includes(schema.type) || choicesOf(schema) !== undefined;

/** The parts of an answer that a person typed: neither chosen from the tool's options nor left at their default. */
export const typedTexts = ({ schema = {} }: ToolQuestion, content: JsonObject): string[] =>
  fieldsOfSchema(schema).flatMap(({ key, schema: field, default: preset }) => {
    const value = content[key];
    return typeof value === "string" && value !== preset && !choicesOf(field) ? [value] : [];
  });

/** Who answered a question, and how. */
export const GivenAnswer = PersonsAnswer.pick({ answer: true }).extend({
  answer: z.enum([...PersonsAnswer.shape.answer.options, "expired"]),
  option: z.string().exactOptional(),
  by: z.string(),
  /** It came after the run had ended. */
  late: z.boolean().exactOptional(),
});
export type GivenAnswer = z.infer<typeof GivenAnswer>;

/** Why an answer no longer counts. */
export function notOpen(given: GivenAnswer | null): string {
  if (given === null) return "This question has already been answered, or is no longer open.";
  if (given.answer === "expired") return "No one answered this question in time, so it is no longer open.";
  const who = given.by === "user" ? "Someone in the app" : given.by;
  const what = given.option ?? given.answer.replace("_", " ");
  return `${who} has already answered this question (${what}).`;
}
