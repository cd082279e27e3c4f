import { isText, listOf } from "@/server/domain/base/guards";
import { type Findings, isRaw, join, type Raw } from "@/server/domain/base/lenient-reader";
import type { Work } from "@/server/domain/base/work-budget";
import { textOf } from "../../values";

/** A message of a prompt, with variables in its text. */
export interface PromptMessage {
  who: "system" | "human" | "ai";
  text: string;
  format: string;
  at: string;
}
/** One call of a model. */
export interface PromptCall {
  name: string;
  messages: PromptMessage[];
  /** Values that are filled in already. */
  known: Raw;
  output: string | null;
  /** In a simple chain: whichever variable is open is the answer before. */
  takesAnswer: boolean;
  model: string;
  tools: string[];
  at: string;
}

/** Whether a value is an object that LangChain wrote: with `_type`, or with `lc`. */
export const isOld = (value: unknown): value is Raw => isRaw(value) && typeof value._type === "string";
export const isNew = (value: unknown): value is Raw =>
  isRaw(value) && value.lc === 1 && typeof value.type === "string" && Array.isArray(value.id);

/** A prompt without a `_type`: LangChain takes it for a plain one. */
export const isBarePrompt = (value: unknown): value is Raw =>
  isRaw(value) &&
  !("_type" in value) &&
  typeof value.template === "string" &&
  Array.isArray(value.input_variables);

/** What an object is, by the last name of its class or by its type: PromptTemplate -> prompt_template. */
export function kindOf(value: unknown): string {
  if (isNew(value)) return snake(textOf(listOf(value.id).at(-1)));
  if (isOld(value)) return textOf(value._type);
  return isBarePrompt(value) ? "prompt" : "";
}
const snake = (name: string): string =>
  name.replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "_").toLowerCase();

/** Its settings: they are only looked at, never made into what they name. */
const settingsOf = (value: unknown): Raw =>
  isNew(value) ? (isRaw(value.kwargs) ? value.kwargs : {}) : isRaw(value) ? value : {};
const under = (value: unknown, at: string): string => (isNew(value) ? join(at, "kwargs") : at);

const CHAINS = /^(simple_)?sequential_chain$|^runnable_sequence$/;
const MAX_DEPTH = 10;

/** The calls of models that an object holds, in their order. What is none is named. */
export function callsOf(value: unknown, at: string, report: Findings, work: Work, depth = 0): PromptCall[] {
  const kind = kindOf(value);
  const raw = settingsOf(value);
  const inner = under(value, at);
  if (depth > MAX_DEPTH) return [];
  if (isNew(value) && value.type === "not_implemented") {
    report.dropped(
      at,
      `"${textOf(listOf(value.id).at(-1))}" can't be imported from this kind of file and was left out.`,
    );
    return [];
  }
  if (CHAINS.test(kind)) return ofChain(kind, raw, { at: inner, report, work, depth });
  const messages = messagesOf(value, at, report, work);
  if (messages.length > 0) return [{ ...EMPTY, messages, known: partials(raw), at }];
  const prompt = raw.prompt ?? (isRaw(raw.prompt_template) ? raw.prompt_template : undefined);
  if (prompt !== undefined) {
    const messages = messagesOf(prompt, join(inner, "prompt"), report, work);
    if (textOf(raw.prompt_path))
      report.dropped(
        join(inner, "prompt_path"),
        "The prompt is in another file, which wasn't read. Import that file.",
      );
    const model = modelOf(raw.llm);
    return [
      {
        ...EMPTY,
        name: kind,
        messages,
        known: partials(settingsOf(prompt)),
        output: textOf(raw.output_key) || null,
        model,
        at,
      },
    ];
  }
  for (const key of [
    "llm_chain",
    "combine_documents_chain",
    "combine_document_chain",
    "question_generator",
    "agent",
    "bound",
    "runnable",
  ]) {
    if (!isRaw(raw[key])) continue;
    const calls = callsOf(raw[key], join(inner, key), report, work, depth + 1);
    if (/documents_chain$/.test(kind))
      report.changed(at, `"${kind}" iterates over documents; the step gets them as a single text.`);
    const tools = [
      ...listOf(raw.allowed_tools),
      ...listOf(raw.tools).map((tool) => settingsOf(tool).name),
    ].filter(isText);
    return calls.map((call, nth) => (nth === 0 ? { ...call, tools: [...call.tools, ...tools] } : call));
  }
  return [];
}

const EMPTY: Omit<PromptCall, "at"> = {
  name: "",
  messages: [],
  known: {},
  output: null,
  takesAnswer: false,
  model: "",
  tools: [],
};

function ofChain(
  kind: string,
  raw: Raw,
  { at, report, work, depth }: { at: string; report: Findings; work: Work; depth: number },
): PromptCall[] {
  const parts = /^runnable/.test(kind)
    ? [raw.first, ...listOf(raw.middle), raw.last].map(
        (part, nth) => [part, join(at, nth === 0 ? "first" : `middle.${nth - 1}`)] as const,
      )
    : listOf(raw.chains).map((part, nth) => [part, join(at, `chains.${nth}`)] as const);
  const calls: PromptCall[] = [];
  for (const [part, place] of parts) {
    const model = modelOf(part);
    const last = calls.at(-1);
    if (model && last) last.model ||= model;
    else if (/output_parser$/.test(kindOf(part)))
      report.dropped(
        place,
        `The output parser (${kindOf(part)}) was left out; set an output schema in the step instead.`,
      );
    else if (part !== undefined && part !== null) {
      const found = callsOf(part, place, report, work, depth + 1);
      if (found.length === 0)
        report.dropped(
          place,
          `${kindOf(part) ? `"${kindOf(part)}"` : "This part"} was left out: it has no prompt.`,
        );
      const isSimple = kind.startsWith("simple_");
      for (const [nth, call] of found.entries())
        calls.push(isSimple ? { ...call, output: null, takesAnswer: nth === 0 && calls.length > 0 } : call);
    }
  }
  return calls;
}

function partials(raw: Raw): Raw {
  return isRaw(raw.partial_variables) ? raw.partial_variables : {};
}

function modelOf(value: unknown): string {
  const kind = kindOf(value);
  const raw = settingsOf(value);
  const isModel = isNew(value)
    ? /(^|_)(chat_|llm|open_ai|anthropic)|^chat/.test(kind) ||
      listOf(value.id).some((id) => id === "llms" || id === "chat_models")
    : kind !== "" && !("template" in raw) && !("prompt" in raw) && !CHAINS.test(kind);
  return isModel && !/prompt|chain|parser/.test(kind)
    ? textOf(raw.model_name) || textOf(raw.model) || kind
    : "";
}

/** The messages of a prompt of any kind; none where the value is no prompt. */
function messagesOf(value: unknown, at: string, report: Findings, work: Work): PromptMessage[] {
  const kind = kindOf(value);
  const raw = settingsOf(value);
  const inner = under(value, at);
  const format = textOf(raw.template_format) || "f-string";
  if (/^(prompt|prompt_template|string_prompt_template)$/.test(kind)) {
    if (textOf(raw.template_path))
      report.dropped(
        join(inner, "template_path"),
        "The prompt's text is in another file, which wasn't read.",
      );
    return textOf(raw.template)
      ? [{ who: "human", text: textOf(raw.template), format, at: join(inner, "template") }]
      : [];
  }
  if (/^few_shot(_prompt_template)?$/.test(kind))
    return [{ who: "human", text: fewShot(raw, inner, report, work), format, at: inner }];
  const list = Array.isArray(raw.messages) ? raw.messages : Array.isArray(raw.template) ? raw.template : null;
  if (!/chat/.test(kind) || !list) return [];
  const place = join(inner, Array.isArray(raw.messages) ? "messages" : "template");
  return list.flatMap((message, nth) => messageOf(message, join(place, nth), format, report));
}

function messageOf(message: unknown, at: string, format: string, report: Findings): PromptMessage[] {
  const kind = kindOf(message);
  const raw = settingsOf(message);
  if (/placeholder/.test(kind)) {
    report.changed(
      at,
      `Chat history (${textOf(raw.variable_name) || "history"}) is inserted here; a run starts without any.`,
    );
    return [];
  }
  const role = `${textOf(raw.role)} ${textOf(raw.type)} ${kind}`;
  const who = /system|developer/.test(role) ? "system" : /\b(ai|assistant)/.test(role) ? "ai" : "human";
  const prompt = [raw.prompt].flat()[0];
  const content = isRaw(prompt) ? settingsOf(prompt) : raw;
  const text = textOf(content.template) || textOf(content.content) || textOf(content.text);
  if (!text) {
    report.dropped(at, "Skipped: this message has no text.");
    return [];
  }
  return [{ who, text, format: textOf(content.template_format) || format, at }];
}

/** Examples with their pattern filled in; only plain names are. */
function fewShot(raw: Raw, at: string, report: Findings, work: Work): string {
  const pattern = textOf(settingsOf(raw.example_prompt).template);
  if (typeof raw.examples === "string")
    report.dropped(join(at, "examples"), "The examples are in another file, which wasn't read.");
  const examples = listOf(raw.examples)
    .filter(isRaw)
    .map((example) => {
      work.makeText(pattern.length);
      return pattern.replace(/\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, name: string) => {
        const value = Object.hasOwn(example, name) ? example[name] : undefined;
        if (typeof value !== "string" && typeof value !== "number") return whole;
        work.makeText(`${value}`.length);
        return `${value}`.replace(/[{}]/g, "$&$&");
      });
    });
  const separator = textOf(raw.example_separator) || "\n\n";
  return [textOf(raw.prefix), ...examples, textOf(raw.suffix)].filter(Boolean).join(separator);
}
