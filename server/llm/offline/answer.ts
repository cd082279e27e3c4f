import { createHash } from "node:crypto";
import { textsOf } from "@/server/domain/base/guards";
import { parseJson } from "@/server/domain/base/json";
import { present } from "@/server/domain/base/must";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import { newWork, readSchema } from "@/server/domain/schema/schema";
import { instanceOf, type Suggest } from "./instance";
import { crewAnswer } from "./personas/crew";
import { type Decision, decideApproval, decideReview, wordFor, wordInPrompt } from "./personas/decide";
import { tasksFor } from "./personas/plan";
import { type Persona, personaOf, proseOf } from "./personas/prose";
import { type Prompt, sinceTask } from "./prompt";

/** Numbers that depend on nothing but the seed: `next(n)` is at least 0 and below n. */
export type Numbers = (n: number) => number;

export function newNumbers(seed: string): Numbers {
  let state = createHash("sha256").update(seed).digest().readUInt32LE(0);
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * n);
  };
}

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

/** The answer to a prompt without directives: JSON where a shape is asked for, else text. */
export function answerTo(prompt: Prompt, format: JsonSchema | "object" | null, vary: Numbers): string {
  const schema = format ?? describedShape(prompt);
  const persona = personaOf(prompt);
  const suggest = suggestions(prompt, persona, vary);
  if (schema === "object") return JSON.stringify(freeObject(prompt, suggest), null, 2);
  if (schema !== null)
    return JSON.stringify(crewAnswer(prompt, schema, vary) ?? instanceOf(schema, suggest), null, 2);
  if (prompt.wantedKey !== null) {
    const value = suggest(prompt.wantedKey, { type: "string" });
    if (typeof value === "string") return value;
  }
  return freeText(prompt, persona, vary);
}

/** The shape that a task asks for in words, as beside tools, where many servers take no schema; null without one. */
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
  if (keys.length === 0) return { note: `About ${prompt.topic}.` };
  return Object.fromEntries(keys.map((key) => [key, suggest(key, { type: "string" }) ?? null]));
}

function freeText(prompt: Prompt, persona: Persona, vary: Numbers): string {
  if (persona === "approver") return decideApproval(prompt).rule;
  if (persona === "reviewer") return decideReview(prompt).rule;
  return proseOf(prompt, persona, vary);
}

const VERDICT = /status|verdict|decision|outcome|approv|accept|passed|label|choice|route|result$/i;
const REASON =
  /comment|reason|feedback|review|critique|note|explanation|rationale|justification|why|issue|summary/i;
const LONG =
  /draft|article|report|text|content|body|findings|research|answer|code|message|result|output|document|analysis|notes|story|post/i;

/** Proposes a value for a field from its name, its schema, and what kind of worker answers. */
function suggestions(prompt: Prompt, persona: Persona, vary: Numbers): Suggest {
  const decision = decisionOf(prompt, persona);
  const suggest: Suggest = (key, schema) => {
    if (key === "tasks" && schema.type === "array") return tasksFor(prompt, schema, suggest);
    // Judging costs turns, and this model judges nothing.
    if (key === "success_criteria" && schema.type === "array") return [];
    if (schema.type === "array")
      return decision && REASON.test(key) && /issue|change|problem/i.test(key)
        ? decision.yes
          ? []
          : [decision.rule]
        : undefined;
    if (key === "user_instruction") return prompt.topic;
    // Plans of this model have two to four tasks.
    if (key === "complexity") return "moderate";
    if (Array.isArray(schema.enum)) return chooseWord(schema.enum, key, prompt, decision);
    if (schema.type === "boolean") return truthOf(key, decision);
    if (schema.type === "number" || schema.type === "integer") return numberFor(key, schema, decision);
    const line =
      decision && (VERDICT.test(key) || REASON.test(key))
        ? decisionText(key, prompt, persona, decision)
        : null;
    return line ?? textFor(key, prompt, persona, vary);
  };
  return suggest;
}

function decisionOf(prompt: Prompt, persona: Persona): Decision | null {
  if (persona === "approver") return decideApproval(prompt);
  if (persona === "reviewer") return decideReview(prompt);
  return null;
}

function decisionText(key: string, prompt: Prompt, persona: Persona, decision: Decision): string {
  if (!VERDICT.test(key) || /comment|reason|feedback|summary/i.test(key)) return decision.rule;
  const otherwise = decision.yes ? "approved" : persona === "approver" ? "rejected" : "changes_requested";
  return wordInPrompt(decision.yes, prompt, otherwise);
}

/** One of several words: the one that states the decision, else the one that the data speaks of. */
function chooseWord(
  options: readonly Json[],
  key: string,
  prompt: Prompt,
  decision: Decision | null,
): Json | undefined {
  const verdict =
    decision ?? (wordFor(true, options) && wordFor(false, options) ? decideApproval(prompt) : null);
  const stated = verdict ? wordFor(verdict.yes, options) : undefined;
  if (stated !== undefined && (VERDICT.test(key) || decision === null)) return stated;
  const text = ` ${prompt.data.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ")} `;
  const scored = options.map((option) => ({
    option,
    score: termsOf(option, prompt).filter((word) => text.includes(` ${word}`)).length,
  }));
  return scored.reduce((a, b) => (b.score > a.score ? b : a), { option: options[0], score: 0 }).option;
}

/** The words that stand for an option: its own, and those of its description in the prompt. */
function termsOf(option: unknown, prompt: Prompt): string[] {
  const name = String(option);
  const line =
    prompt.all.split("\n").find((part) => part.toLowerCase().startsWith(`- ${name.toLowerCase()}:`)) ?? "";
  const terms =
    `${name.replace(/_/g, " ")} ${line.slice(name.length + 3)}`.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ??
    [];
  return [...new Set(terms)]
    .filter((word) => !["the", "and", "for", "with", "node", "task", "end"].includes(word))
    .map((word) => word.replace(/(?:ing|ed|es|s)$/, ""));
}

function truthOf(key: string, decision: Decision | null): boolean | undefined {
  if (!decision) return undefined;
  return /reject|needs|revis|fail|issue|problem|block/i.test(key) ? !decision.yes : decision.yes;
}

function numberFor(key: string, schema: JsonSchema, decision: Decision | null): number | undefined {
  if (/confidence|probability/i.test(key)) return 0.9;
  if (!/score|rating|quality|grade/i.test(key)) return undefined;
  const most = typeof schema.maximum === "number" ? schema.maximum : 10;
  const least = typeof schema.minimum === "number" ? schema.minimum : 0;
  const share = decision?.yes === false ? 0.4 : 0.9;
  const value = least + (most - least) * share;
  return schema.type === "integer" ? Math.round(value) : Math.round(value * 100) / 100;
}

function textFor(key: string, prompt: Prompt, persona: Persona, vary: Numbers): string {
  if (/^(?:reason|rationale|why|explanation)$/i.test(key))
    return `Chosen by words that “${prompt.topic}” mentions; the first choice where none fits.`;
  if (/title|headline|^name$/i.test(key)) return prompt.topic;
  if (/summary|abstract|description/i.test(key)) return `“${prompt.topic}” in one sentence.`;
  if (/status$/i.test(key) && prompt.wantedKey !== key) return persona === "messenger" ? "sent" : "done";
  if (prompt.wantedKey === key || LONG.test(key)) return proseOf(prompt, persona, vary);
  return `${sentenceCase(key)} for “${prompt.topic}”`;
}

function sentenceCase(key: string): string {
  const text = key.replace(/_+/g, " ").trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}
