import { defined } from "@/server/domain/base/defined";
import type { Capability } from "./provider";

/** Detected capabilities expire after this time: services change, and one rejection may have been an accident. */
export const LESSON_DAYS = 7;
const LESSON_MS = LESSON_DAYS * 24 * 3_600_000;

/** One thing that is known about how to ask a model. */
export interface Lesson {
  /** Names it, for forgetting. */
  key: string;
  /** A sentence for people. */
  text: string;
  /** When a refusal taught it, Unix time in milliseconds; absent where a test found it out. */
  learned_at?: number;
}

const REFUSES = "refuses:";

/** What a change teaches: a key for each setting, and one for each field that is refused. */
const keysOf = ({ refuses = [], learned_at: _times, ...others }: Capability): string[] => [
  ...Object.keys(others),
  ...refuses.map((field) => REFUSES + field),
];

/** Adds what a refusal taught at this time. */
export function withLesson(before: Capability, change: Capability, now: number): Capability {
  const kept = currentCapability(before, now);
  const refuses = [...new Set([...(kept.refuses ?? []), ...(change.refuses ?? [])])];
  const known = new Set(keysOf(kept));
  // A field that was refused before was not refused again by this.
  const taught = keysOf(change).filter((key) => !key.startsWith(REFUSES) || !known.has(key));
  return {
    ...kept,
    ...change,
    ...defined({ refuses: refuses.length > 0 ? refuses : undefined }),
    learned_at: { ...kept.learned_at, ...Object.fromEntries(taught.map((key) => [key, now])) },
  };
}

/** The lessons that have not expired. */
export function currentCapability(capability: Capability, now: number): Capability {
  const old = Object.entries(capability.learned_at ?? {}).filter(([, at]) => now - at >= LESSON_MS);
  return old.reduce((left, [key]) => withoutLesson(left, key), capability);
}

/** Forgets one lesson. */
export function withoutLesson(capability: Capability, key: string): Capability {
  const { learned_at = {}, refuses = [], ...others } = capability;
  const times = Object.entries(learned_at).filter(([name]) => name !== key);
  const fields = refuses.filter((field) => REFUSES + field !== key);
  return {
    ...Object.fromEntries(Object.entries(others).filter(([name]) => name !== key)),
    ...defined({
      refuses: fields.length > 0 ? fields : undefined,
      learned_at: times.length > 0 ? Object.fromEntries(times) : undefined,
    }),
  };
}

/** What was detected about a model beyond the defaults, as text; defaults are left out. */
export function lessonsOf(capability: Capability, now: number): Lesson[] {
  const current = currentCapability(capability, now);
  const at = current.learned_at ?? {};
  return keysOf(current).flatMap((key) => {
    const text = lessonText(key, current);
    return text === null ? [] : [{ key, text, ...defined({ learned_at: at[key] }) }];
  });
}

const SHAPES: Readonly<Record<string, string>> = {
  json_schema: "Structured output: JSON Schema, which the model might not follow.",
  json_object: "Structured output: JSON mode, with the schema in the prompt.",
  prompt: "Structured output: prompt only.",
};

const TEXTS: Readonly<Record<string, (capability: Capability) => string | false | undefined>> = {
  api: ({ api }) => api === "responses" && "Uses the Responses API.",
  native_tools: ({ native_tools }) =>
    native_tools === false &&
    "Tools are offered as text, because the model doesn't support function calling.",
  parallel_tools: ({ parallel_tools }) =>
    parallel_tools === false && "Tool calls are requested one at a time.",
  response_format: ({ response_format }) => SHAPES[response_format ?? ""],
  stream_usage: ({ stream_usage }) =>
    stream_usage === false && "Token usage isn't requested, because the model rejects that setting.",
  max_tokens_name: ({ max_tokens_name }) => `The output token limit is sent as “${max_tokens_name}”.`,
  wants_reasoning: ({ wants_reasoning }) => wants_reasoning && "Earlier reasoning is sent back to the model.",
  system_role: ({ system_role }) =>
    system_role === false &&
    "Instructions come before the first message, because the model doesn't support system messages.",
  effort_with_tools: () => "Reasoning effort isn't sent with tools, because the model doesn't accept both.",
  context_window: ({ context_window }) =>
    `Context window: ${context_window?.toLocaleString("en-US")} tokens.`,
};

function lessonText(key: string, capability: Capability): string | null {
  if (key === `${REFUSES}reasoning.summary`) return "Reasoning summaries aren't requested.";
  if (key === `${REFUSES}include`) return "Encrypted reasoning isn't requested, so none is sent back.";
  if (key.startsWith(REFUSES))
    return `“${key.slice(REFUSES.length)}” isn't sent, because the model rejects it.`;
  return TEXTS[key]?.(capability) || null;
}
