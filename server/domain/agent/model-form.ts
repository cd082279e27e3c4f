import { choicesOf, type FormPart } from "@/server/domain/base/form";
import { isObject } from "@/server/domain/base/guards";
import type { LlmConfig } from "./role";

/** How much a model thinks before it answers, in words. */
export const REASONING_EFFORTS: Record<NonNullable<LlmConfig["reasoning_effort"]>, string> = {
  none: "None",
  minimal: "Minimal",
  low: "Low",
  medium: "Medium",
  high: "High",
  xhigh: "Extra high",
  max: "Maximum",
};

/** How an answer's shape is asked for, in words. */
export const STRUCTURED_OUTPUTS: Record<NonNullable<LlmConfig["structured_output"]>, string> = {
  auto: "Auto",
  json_schema: "JSON Schema",
  json_object: "JSON mode",
  prompt: "Prompt only",
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
      { key: "max_tokens", label: "Max output tokens", as: "number", min: 1, step: 256 },
    ],
  },
  {
    as: "box",
    title: "Advanced model settings",
    parts: [
      { slot: "fallbacks" },
      {
        as: "columns",
        most: 2,
        parts: [
          {
            key: "reasoning_effort",
            label: "Reasoning effort",
            as: "choice",
            unset: "Model default",
            options: choicesOf(REASONING_EFFORTS),
          },
          {
            key: "structured_output",
            label: "Structured output",
            as: "choice",
            options: choicesOf(STRUCTURED_OUTPUTS),
            usual: () => "auto",
          },
          {
            key: "top_p",
            label: "Top P",
            as: "decimal",
            hint: "Nucleus sampling cutoff",
            min: 0,
            max: 1,
            step: 0.05,
          },
          {
            key: "seed",
            label: "Seed",
            as: "number",
            hint: "Same seed, more repeatable output",
            placeholder: "Random",
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
            label: "First-token timeout",
            as: "milliseconds",
            hint: "Until the first token; default 600 s for reasoning models, 300 s self-hosted",
            min: 1,
            placeholder: "60",
          },
          {
            key: "idle_timeout_ms",
            label: "Idle timeout",
            as: "milliseconds",
            hint: "Between chunks; default 180 s for reasoning models",
            min: 1,
            placeholder: "45",
          },
          {
            key: "timeout_ms",
            label: "Response timeout",
            as: "milliseconds",
            hint: "For the whole response; default 1,800 s for reasoning models",
            min: 1,
            placeholder: "600",
          },
        ],
      },
      {
        key: "stop",
        label: "Stop sequences",
        as: "texts",
        hint: `Ends the response at any of these; max ${MOST_STOPS}`,
        itemName: "sequence",
        isMono: true,
        most: MOST_STOPS,
      },
      {
        key: "extra_body",
        label: "Extra parameters",
        as: "json",
        hint: "Passed to the provider as is",
        check: (given) => (isObject(given) ? null : 'Enter a JSON object, such as { "top_k": 40 }.'),
      },
    ],
  },
];
