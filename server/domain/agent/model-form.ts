import { choicesOf, type FormPart } from "@/server/domain/base/form";
import { isObject } from "@/server/domain/base/guards";
import type { LlmConfig } from "./role";

/** How much a model thinks before it answers, in words. */
export const REASONING_EFFORTS: Record<NonNullable<LlmConfig["reasoning_effort"]>, string> = {
  none: "Not at all",
  minimal: "Hardly",
  low: "A little",
  medium: "Some",
  high: "Much",
  xhigh: "Very much",
  max: "As much as it can",
};

/** How an answer's shape is asked for, in words. */
export const STRUCTURED_OUTPUTS: Record<NonNullable<LlmConfig["structured_output"]>, string> = {
  auto: "As the model can",
  json_schema: "By a JSON schema",
  json_object: "As JSON, the shape in words",
  prompt: "In words only",
};

const MOST_STOPS = 4;

/** The form of which model answers, and how. */
export const MODEL_FORM: readonly FormPart<LlmConfig, "model" | "fallbacks">[] = [
  {
    as: "columns",
    most: 2,
    parts: [
      { slot: "model" },
      { key: "temperature", label: "Temperature", as: "decimal", min: 0, max: 2, step: 0.1 },
      { key: "max_tokens", label: "Most tokens", as: "number", min: 1, step: 256 },
    ],
  },
  {
    as: "box",
    title: "More about the model",
    parts: [
      { slot: "fallbacks" },
      {
        as: "columns",
        most: 2,
        parts: [
          {
            key: "reasoning_effort",
            label: "Thinks before it answers",
            as: "choice",
            unset: "As the model does",
            options: choicesOf(REASONING_EFFORTS),
          },
          {
            key: "structured_output",
            label: "Shape is asked for",
            as: "choice",
            options: choicesOf(STRUCTURED_OUTPUTS),
            usual: () => "auto",
          },
          {
            key: "top_p",
            label: "Top p",
            as: "decimal",
            hint: "Of the likeliest words, this share.",
            min: 0,
            max: 1,
            step: 0.05,
          },
          {
            key: "seed",
            label: "Seed",
            as: "number",
            hint: "The same one, often the same answer.",
            placeholder: "Any",
          },
        ],
      },
      {
        as: "columns",
        most: 2,
        areWide: true,
        parts: [
          {
            key: "first_byte_ms",
            label: "Longest wait",
            as: "milliseconds",
            hint: "Until the first word. Models that think get 600 s, those on own hardware 300 s.",
            min: 1,
            placeholder: "60",
          },
          {
            key: "idle_timeout_ms",
            label: "Idle timeout",
            as: "milliseconds",
            hint: "Between two pieces of an answer. Models that think get 180 s.",
            min: 1,
            placeholder: "45",
          },
          {
            key: "timeout_ms",
            label: "Longest answer",
            as: "milliseconds",
            hint: "Then the call counts as failed. Models that think get 1,800 s.",
            min: 1,
            placeholder: "600",
          },
        ],
      },
      {
        key: "stop",
        label: "Stop at",
        as: "texts",
        hint: `The answer ends where one of these would come; at most ${MOST_STOPS}.`,
        itemName: "text",
        isMono: true,
        most: MOST_STOPS,
      },
      {
        key: "extra_body",
        label: "Further fields",
        as: "json",
        hint: "Sent along as they are, for what only this service knows.",
        check: (given) => (isObject(given) ? null : 'Fields in braces, e.g. { "top_k": 40 }.'),
      },
    ],
  },
];
