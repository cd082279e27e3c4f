import { textsOf } from "@/server/domain/base/guards";
import { parseJson } from "@/server/domain/base/json";
import { present } from "@/server/domain/base/must";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import { newWork, readSchema } from "@/server/domain/schema/schema";
import { crewAnswer, tasksFor } from "./crew";
import { instanceOf, type Suggest } from "./instance";
import { type Prompt, sinceTask } from "./prompt";

/** A prepared answer in the requested format; null if it doesn't match. */
export function inShape(
  gives: string | JsonObject,
  prompt: Prompt,
  format: JsonSchema | "object" | null,
): string | null {
  const schema = format ?? describedShape(prompt);
  if (schema === null) {
    if (typeof gives === "string") return gives;
    const value = gives[prompt.wantedKey ?? ""];
    return typeof value === "string" ? value : null;
  }
  if (typeof gives === "string") return null;
  if (schema === "object") return JSON.stringify(gives, null, 2);
  // Strict schemas require every key; optional values are null there.
  const left = textsOf(schema.required).filter((key) => !(key in gives));
  const whole = { ...gives, ...Object.fromEntries(left.map((key) => [key, null])) };
  return readSchema(schema).fits(whole, newWork()) ? JSON.stringify(whole, null, 2) : null;
}

/** The answer to a prompt without directives or a sample: JSON if a schema is requested, else a placeholder. */
export function answerTo(prompt: Prompt, format: JsonSchema | "object" | null): string {
  const schema = format ?? describedShape(prompt);
  const suggest = suggestionsFor(prompt);
  if (schema === "object") return JSON.stringify(freeObject(prompt, suggest), null, 2);
  if (schema !== null)
    return JSON.stringify(crewAnswer(prompt, schema) ?? instanceOf(schema, suggest), null, 2);
  // The role that only repeats its message needs no AI.
  if (prompt.role === "Echo") return prompt.task;
  if (DECISION.test(prompt.wantedKey ?? "")) return approvalIn(prompt);
  const agent = prompt.role === "" ? "" : ` of ${prompt.role}`;
  const task = prompt.task.replace(/\s+/g, " ");
  return `Demo answer${agent}: ${task.length <= 120 ? task : `${task.slice(0, 120)}…`}

This is a placeholder, not written by an AI. To get a real answer, connect a model in Settings.`;
}

/**
 * The schema that a task describes in its text, as with tools, where many servers accept no schema; null without one.
 */
function describedShape(prompt: Prompt): JsonSchema | null {
  const [task] = sinceTask(prompt.messages);
  const listed = /\bone JSON object that has exactly these keys:\n([\s\S]*)$/.exec(task?.content ?? "")?.[1];
  if (listed === undefined) return null;
  const entries = [
    ...listed.matchAll(/^- "(\w{1,64})": (?:one of ((?:"(?:[^"\\]|\\.)*"(?:, )?){1,200})|(\w+))/gm),
  ];
  if (entries.length === 0) return null;
  const properties = entries.map(([, key, choices, type]): [string, JsonSchema] => [
    present(key, "key"),
    choices !== undefined
      ? { type: "string", enum: parseJson(`[${choices}]`) }
      : type === "array"
        ? { type, items: { type: "string" } }
        : { type: type === "any" || type === undefined ? "string" : type },
  ]);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: properties.map(([key]) => key),
  };
}

/** JSON without a schema: the keys that the prompt asks for, or a note. */
function freeObject(prompt: Prompt, suggest: Suggest): JsonObject {
  const listed = /exactly these keys:?\s*([\s\S]+)/i.exec(prompt.all)?.[1] ?? "";
  const quoted = [...listed.matchAll(/^- "([A-Za-z_]\w{0,63})":/gm)];
  const named =
    quoted.length > 0
      ? quoted
      : [...(listed.split("\n")[0] ?? "").matchAll(/["`]?([A-Za-z_]\w{0,63})["`]?/g)];
  const keys = named.map(([, key]) => present(key, "key")).slice(0, 20);
  return Object.fromEntries(
    (keys.length === 0 ? ["note"] : keys).map((key) => [key, suggest(key, { type: "string" }) ?? null]),
  );
}

/** Fields that state a decision. */
const DECISION =
  /^status$|(?:^|_)(?:(?:approval|review)_status|approval|approved|verdict|decision|outcome)$/i;
/** Fields whose truth means that something is wrong. */
const NEGATIVE = /reject|needs|revis|fail|issue|problem|block/i;
const SCORE = /score|rating|quality|grade|confidence|probability/i;

/** Values for fields by which any workflow runs to its end: every decision approves. */
export function suggestionsFor(prompt: Prompt): Suggest {
  const suggest: Suggest = (key, schema) => {
    // A moderate goal allows for as many tasks as a plan of this model has.
    if (key === "complexity") return "moderate";
    if (Array.isArray(schema.enum)) return approvalAmong(schema.enum);
    switch (schema.type) {
      case "array":
        if (key === "tasks") return tasksFor(prompt, schema, suggest);
        return key === "success_criteria" || NEGATIVE.test(key) ? [] : undefined;
      case "boolean":
        return !NEGATIVE.test(key);
      case "number":
      case "integer":
        return SCORE.test(key) ? schema.maximum : undefined;
      default:
        return DECISION.test(key)
          ? approvalIn(prompt)
          : `Placeholder for “${key.replaceAll("_", " ")}”, not written by an AI.`;
    }
  };
  return suggest;
}

const APPROVALS = new Set([
  "approved",
  "approve",
  "accepted",
  "accept",
  "pass",
  "passed",
  "yes",
  "ok",
  "good",
  "done",
  "ready",
  "publish",
  "success",
  "complete",
  "ship",
]);

const approvalAmong = (options: readonly Json[]): string | undefined =>
  options.find(
    (option): option is string => typeof option === "string" && APPROVALS.has(option.toLowerCase()),
  );

/** The word for yes that a prompt itself quotes, such as: answer "approve" or "revise". */
function approvalIn({ task, system }: Prompt): string {
  const quoted = `${task}\n${system}`.matchAll(/["“'`]([A-Za-z]{2,24})["”'`]/g);
  return approvalAmong([...quoted].flatMap(([, word]) => word ?? [])) ?? "approved";
}
