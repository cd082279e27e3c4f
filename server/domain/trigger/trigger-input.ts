import { errorMessage, isObject } from "@/server/domain/base/guards";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { Work } from "@/server/domain/base/work-budget";
import type { FieldError } from "@/server/domain/graph/input-check";
import type { RunInputField } from "@/server/domain/graph/run-input";
import {
  type ExpressionScope,
  evaluateExpression,
  withStateNamed,
} from "@/server/domain/text/expression/expression";
import { DELIVERY_NAMES, ENDED_NAMES, type SettingsOf } from "./trigger";

/** The input of a run, or why it could not be mapped. */
export type MappedInput = { input: JsonObject } | { errors: FieldError[] };

/** A webhook request. Names of headers are in lower case. */
export interface Delivery {
  /** A string, unless it is JSON or a form. */
  body: Json;
  headers: Record<string, string>;
  query: Record<string, string>;
}

/** `inputs`: the keys that the workflow asks for. */
export function deliveredInput(
  { input }: SettingsOf<"webhook">["config"],
  inputs: readonly string[],
  delivery: Delivery,
  now: number,
): MappedInput {
  if (input) return evaluated(input, DELIVERY_NAMES, { state: { ...delivery }, now });
  const { body } = delivery;
  if (isObject(body)) return { input: picked(body, inputs) };
  // Text, a number or a list fills the input of a workflow that has only one.
  const [only, ...others] = inputs;
  if (only !== undefined && others.length === 0 && body !== null) return { input: { [only]: body } };
  return inputs.length === 0
    ? { input: {} }
    : {
        errors: [{ key: "body", message: "Send a JSON object or a form: the workflow has several inputs." }],
      };
}

/** An ended run that starts another one. */
export interface EndedRun {
  run_id: string;
  status: "completed" | "failed";
  output: JsonObject;
  error: string | null;
}

export function endedInput(
  { input }: SettingsOf<"workflow">["config"],
  inputs: readonly string[],
  { output, ...rest }: EndedRun,
  now: number,
): MappedInput {
  if (input) return evaluated(input, ENDED_NAMES, { state: rest, output, now });
  return { input: picked({ ...rest, ...output }, inputs) };
}

/** Test input of a workflow: the first example of each field. Fields without examples are left out. */
export const suggestedInput = (fields: readonly RunInputField[]): JsonObject =>
  Object.fromEntries(
    fields.flatMap(({ key, schema: { examples } }) =>
      Array.isArray(examples) && examples[0] !== undefined ? [[key, examples[0]]] : [],
    ),
  );

const picked = (from: Readonly<JsonObject>, keys: readonly string[]): JsonObject =>
  Object.fromEntries(
    keys.flatMap((key) => (Object.hasOwn(from, key) && from[key] !== undefined ? [[key, from[key]]] : [])),
  );

function evaluated(
  mapping: Readonly<Record<string, string>>,
  names: readonly string[],
  scope: ExpressionScope,
): MappedInput {
  const work = new Work();
  const input: JsonObject = {};
  const errors: FieldError[] = [];
  for (const [key, text] of Object.entries(mapping)) {
    try {
      input[key] = evaluateExpression(withStateNamed(text, names), scope, work);
    } catch (error) {
      errors.push({ key, message: errorMessage(error) });
    }
  }
  return errors.length > 0 ? { errors } : { input };
}
