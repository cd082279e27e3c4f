import { z } from "zod";
import { exampleFiles } from "@/examples";
import { defined } from "@/server/domain/base/defined";
import { isText } from "@/server/domain/base/guards";
import { JsonObject } from "@/server/domain/base/values";
import { isEmptyValue, type Prompt, unquoted } from "./prompt";

/** The answer of one agent, matched by its role and by phrases in its prompt. */
const SampleAnswer = z.strictObject({
  role: z.string(),
  phrases: z.array(z.string()),
  /** A tool to call first; the entry applies only if that tool is available. */
  call: z.strictObject({ name: z.string(), args: JsonObject }).exactOptional(),
  /** Values by key, or a text; paragraphs of it with an empty `{{value}}` are left out. */
  gives: z.union([z.string(), JsonObject]).exactOptional(),
});

/** Prepared answers for an example that runs with its suggested input. The first matching answer is used. */
const Sample = z.strictObject({
  /** The suggested input, by its names in prompts. */
  input: z.record(z.string(), z.string()),
  /** Values that a person may enter during the run; answers include them. */
  open: z.array(z.string()).default([]),
  answers: z.array(SampleAnswer),
});
type Sample = z.output<typeof Sample>;

let parsed: readonly Sample[] | undefined;
/** `answers.json` of all examples. Parsed on first use: every start loads this. */
const samples = () =>
  (parsed ??= Object.values(exampleFiles).flatMap(({ answers }) => z.array(Sample).parse(answers)));

/** A prepared answer for one prompt: a tool to call, a text, or values by key. */
type Written = Pick<z.output<typeof SampleAnswer>, "call" | "gives">;

/**
 * The prepared answer for an example's suggested input, or null. If the input, a value from an earlier step or the task
 * itself was changed, a placeholder answers instead, so that the change has an effect.
 */
export function writtenFor(prompt: Prompt, offered: readonly { name: string }[]): Written | null {
  for (const sample of samples()) {
    if (!isUnchanged(sample, prompt)) continue;
    const found = sample.answers.find(
      ({ role, phrases, call }) =>
        role === prompt.role &&
        phrases.every((phrase) => prompt.all.includes(phrase)) &&
        (call === undefined || isOpen(call.name, prompt, offered)),
    );
    if (!found) continue;
    const { call, gives } = found;
    return { ...defined({ call, gives: isText(gives) ? filled(gives, sample, prompt) : gives }) };
  }
  return null;
}

/** A text with the values that a person entered, without the paragraphs whose value is missing. */
function filled(text: string, { open }: Sample, { inputs }: Prompt): string {
  if (open.length === 0) return text;
  const valueOf = (name: string) => inputs[name]?.trim() ?? "";
  return text
    .split("\n\n")
    .filter((paragraph) => [...paragraph.matchAll(PLACEHOLDER)].every(([, name = ""]) => valueOf(name)))
    .join("\n\n")
    .replaceAll(PLACEHOLDER, (_all, name: string) => valueOf(name));
}

const PLACEHOLDER = /\{\{(\w+)\}\}/g;

/** Whether a tool is available and has not returned a result yet. */
const isOpen = (tool: string, { messages }: Prompt, offered: readonly { name: string }[]): boolean =>
  offered.some(({ name }) => name === tool) &&
  !messages.some(({ role, content }) => role === "tool" && content.startsWith(`${tool} (`));

/** Whether all values in a prompt come from the sample: its input and its answers. */
function isUnchanged(sample: Sample, { inputs }: Prompt): boolean {
  const { input, open = [] } = sample;
  const entries = Object.entries(inputs).map(([key, value]): [string, string] => [key, value.trim()]);
  if (!entries.some(([key, value]) => input[key] === value)) return false;
  const known = given(sample);
  return entries.every(([key, value]) =>
    key in input ? input[key] === value : open.includes(key) || isEmptyValue(value) || known.has(value),
  );
}

/** The values of a sample's answers, as they appear in later prompts. */
const given = ({ answers }: Sample): Set<string> =>
  new Set(
    answers.flatMap(({ gives = {} }) =>
      (isText(gives) ? [gives] : Object.values(gives)).map((value) =>
        unquoted(isText(value) ? value : JSON.stringify(value)).trim(),
      ),
    ),
  );
