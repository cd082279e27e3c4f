import type { JsonObject } from "@/server/domain/base/values";

/** The values of a prompt by their names. */
export type Given = Readonly<Record<string, string>>;

/** What one agent answers, by its role and by phrases that its prompt contains. */
export interface SampleAnswer {
  role: string;
  says: readonly string[];
  /** A tool to call first; the entry applies only where that tool is on offer. */
  call?: { name: string; args: JsonObject };
  /** A text, or values by their keys. */
  gives?: string | JsonObject | ((given: Given) => string);
}

/** Written answers for a template that runs with its suggested input. Of several answers that apply, the first counts. */
export interface Sample {
  /** The suggested input by the names that prompts give it. */
  input: Given;
  /** Values that a person may enter on the way; answers take them in. */
  open?: readonly string[];
  answers: readonly SampleAnswer[];
}
