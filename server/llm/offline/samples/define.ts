import type { JsonObject } from "@/server/domain/base/values";

/** The values in a prompt, by name. */
export type Given = Readonly<Record<string, string>>;

/** The answer of one agent, matched by its role and by phrases in its prompt. */
export interface SampleAnswer {
  role: string;
  phrases: readonly string[];
  /** A tool to call first; the entry applies only if that tool is available. */
  call?: { name: string; args: JsonObject };
  /** A text, or values by key. */
  gives?: string | JsonObject | ((given: Given) => string);
}

/** Prepared answers for a template that runs with its suggested input. The first matching answer is used. */
export interface Sample {
  /** The suggested input, by its names in prompts. */
  input: Given;
  /** Values that a person may enter during the run; answers include them. */
  open?: readonly string[];
  answers: readonly SampleAnswer[];
}
