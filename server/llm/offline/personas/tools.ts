import { parseJson } from "@/server/domain/base/json";
import { asSchema } from "@/server/domain/base/json-schema";
import type { JsonObject, JsonSchema } from "@/server/domain/base/values";
import { CALL_MARKER, callLine, RESULT_MARKER } from "@/server/llm/tool-calls/text-protocol";
import { instanceOf } from "../instance";
import { type Message, type Prompt, sinceTask, type Tool } from "../prompt";
import { CREW_RULES, type CrewRule } from "./crew";
import { isCrewTool } from "./crew-tools";
import { sourcesIn } from "./sources";

export interface ToolCall {
  name: string;
  args: JsonObject;
}
export type ToolChoice = "none" | "auto" | "required" | { name: string };

/** What a tool's name says when it changes something. */
const CHANGES =
  /(?:^|[^a-z])(?:delete|remove|drop|write|update|create|send|post|put|patch|pay|buy|order|deploy|execute|exec|run|shell|cmd|store|save|set|add|insert|append|edit|modify|move|rename|upload|publish|kill|stop|start|cancel|approve|reject|grant|revoke)(?![a-z])/i;
const COMMON_TERMS = new Set([
  "with",
  "from",
  "this",
  "that",
  "tool",
  "text",
  "into",
  "your",
  "what",
  "when",
]);

/**
 * The tools that a turn without directives calls: one or two that fit the task, each once. Nothing that changes
 * anything, and the tools of a crew only where a rule for the role says so.
 */
export function chooseCalls(
  prompt: Prompt,
  messages: readonly Message[],
  tools: readonly Tool[],
  choice: ToolChoice,
  crewRules: readonly CrewRule[] = CREW_RULES,
): ToolCall[] {
  if (choice === "none" || tools.length === 0) return [];
  const fill = (tool: Tool): ToolCall => ({ name: tool.name, args: argsFor(tool, prompt) });
  if (typeof choice === "object") return tools.filter(({ name }) => name === choice.name).map(fill);
  for (const rule of crewRules) {
    const call = rule(prompt, messages, tools);
    if (call && tools.some(({ name }) => name === call.name)) return [call];
  }
  const turns = sinceTask(messages);
  const opened = pageToOpen(turns, tools);
  if (opened && choice === "auto") return [opened];
  const hasResult = turns.some(({ role }) => role === "tool");
  const answers = turns.filter(({ role }) => role === "assistant").length;
  if (choice === "auto" && (hasResult || answers >= 2)) return [];
  const text = `${prompt.task} ${prompt.data}`.toLowerCase();
  const harmless = tools.filter(
    (tool) => !isCrewTool(tool.name) && !CHANGES.test(tool.name) && hasWhatItNeeds(tool, prompt),
  );
  const fitting = harmless.filter((tool) => sharesTerms(tool, text) || needsWhatIsThere(tool, prompt));
  if (fitting.length > 0) return fitting.slice(0, 2).map(fill);
  // Whoever asks for a call gets one, also where no tool fits.
  return choice === "required" ? [...harmless, ...tools].slice(0, 1).map(fill) : [];
}

/** After a search, the first page that it found. */
function pageToOpen(turns: readonly Message[], tools: readonly Tool[]): ToolCall | null {
  const browse = tools.find(({ name }) => name === "browse_url");
  const hasOpened = turns.some(({ role, content }) => role === "tool" && content.startsWith("browse_url "));
  const [first] = sourcesIn(turns);
  return browse && first && !hasOpened ? { name: browse.name, args: { url: first.url } } : null;
}

function sharesTerms(tool: Tool, text: string): boolean {
  const terms = `${tool.name} ${tool.description}`.toLowerCase().match(/[a-z]{4,}/g) ?? [];
  return terms.some((word) => !COMMON_TERMS.has(word) && text.includes(word));
}

/** Arguments that only the prompt can give, by their name: made up, they would be nonsense. */
const FOUND: readonly [RegExp, RegExp][] = [
  [/^(?:url|uri|link)$/i, /https?:\/\/[^\s"'<>)\]]+/],
  [/^(?:expression|formula)$/i, /\({0,9}\d[\d.()\s]{0,40}(?:[-+*/^%][\d.()\s]{1,40}){1,40}/],
  [/^(?:path|file|filename)$/i, /(?:\w[\w-]{0,60}\/){0,9}\w[\w-]{0,60}\.[a-z]{2,5}\b/i],
  [/^artifact_id$/i, /\bart_\w+/],
];

function foundFor(key: string, prompt: Prompt): string | null | undefined {
  const pattern = FOUND.find(([name]) => name.test(key))?.[1];
  return pattern && (pattern.exec(`${prompt.task}\n${prompt.data}`)?.[0].trim() ?? null);
}

const requiredBy = ({ parameters }: Tool): string[] =>
  Array.isArray(parameters.required) ? parameters.required.map(String) : [];

/** Whether the prompt contains all required arguments of a tool; if none are required, any optional one. */
function hasWhatItNeeds(tool: Tool, prompt: Prompt): boolean {
  const required = requiredBy(tool);
  if (required.length > 0) return required.every((key) => foundFor(key, prompt) !== null);
  const found = Object.keys(asSchema(tool.parameters.properties)).map((key) => foundFor(key, prompt));
  return found.every((text) => text === undefined) || found.some((text) => typeof text === "string");
}

/** Whether the prompt holds just what the tool is for, such as an address or a sum. */
const needsWhatIsThere = (tool: Tool, prompt: Prompt) =>
  requiredBy(tool).some((key) => typeof foundFor(key, prompt) === "string");

/** The required arguments of a tool and others that the prompt names; if none are required, the first that it names. */
function argsFor(tool: Tool, prompt: Prompt): JsonObject {
  const made = instanceOf({ type: "object", ...tool.parameters }, (key, schema) =>
    schema.type === "string" ? (foundFor(key, prompt) ?? prompt.topic) : undefined,
  );
  const required = requiredBy(tool);
  const named = Object.entries(asSchema(made)).filter(([key]) => typeof foundFor(key, prompt) === "string");
  const needed = Object.entries(asSchema(made)).filter(([key]) => required.includes(key));
  return Object.fromEntries(required.length > 0 ? [...needed, ...named] : named.slice(0, 1));
}

const BLOCK_END = "answer without TOOL_CALL.";

/** The block of tools in a text, and the text without it; null where there is none. */
function splitBlock(text: string): { block: string; rest: string } | null {
  const start = text.search(/(?:^|\n)Available Tools:\n/);
  const close = start < 0 ? -1 : text.indexOf(BLOCK_END, start);
  if (close < 0) return null;
  const end = close + BLOCK_END.length;
  return {
    block: text.slice(start, end),
    rest: text.slice(0, start) + text.slice(end).replace(/^[ \t]+/, ""),
  };
}

/** A conversation whose tools are offered by text, as it would be with functions; null where none are. */
export function fromText(messages: readonly Message[]): { messages: Message[]; tools: Tool[] } | null {
  const block = messages.map(({ role, content }) =>
    role === "system" ? splitBlock(content)?.block : undefined,
  );
  const found = block.find((text) => text !== undefined);
  if (found === undefined) return null;
  return {
    tools: toolsIn(found),
    messages: messages.map(({ role, content }) => {
      if (role === "system") return { role, content: (splitBlock(content)?.rest ?? content).trimEnd() };
      const isResult = role === "user" && content.startsWith(`${RESULT_MARKER} [`);
      return isResult
        ? { role: "tool", content: content.replace(/^TOOL_RESULT \[\d+\] /gm, "") }
        : { role, content };
    }),
  };
}

/** The tools of a block: their names, parameters and descriptions, as far as signatures tell them. */
function toolsIn(block: string): Tool[] {
  return block.split("\n").flatMap((line) => {
    const head = /^- ([^\s(]+)\(/.exec(line);
    const name = head?.[1];
    if (!head || name === undefined) return [];
    const close = closingOf(line, head[0].length);
    return [
      {
        name,
        description: line.slice(close + 1).replace(/^:\s*/, ""),
        parameters: parametersOf(line.slice(head[0].length, close)),
      },
    ];
  });
}

/** Where the bracket closes that was open before `start`. Brackets inside strings do not count. */
function closingOf(line: string, start: number): number {
  let depth = 1;
  let inString = false;
  for (let at = start; at < line.length; at++) {
    const sign = line.charAt(at);
    if (inString) {
      if (sign === "\\") at++;
      else if (sign === '"') inString = false;
    } else if (sign === '"') inString = true;
    else if ("([{".includes(sign)) depth++;
    else if (")]}".includes(sign) && --depth === 0) return at;
  }
  return line.length;
}

function parametersOf(signature: string): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (let rest = signature; rest !== ""; ) {
    const end = commaIn(rest);
    const [, key = "", type = "", standard] =
      /^\s*([^:\s]+): ([\s\S]*?)(?: = ([\s\S]*))?$/.exec(rest.slice(0, end)) ?? [];
    rest = rest.slice(end + 1);
    if (key === "") continue;
    properties[key] = schemaOf(type.replace(/^Optional\[([\s\S]*)\]$/, "$1"));
    if (standard === undefined && !type.startsWith("Optional[")) required.push(key);
  }
  return { type: "object", properties, required };
}

function commaIn(text: string): number {
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at);
    if (sign === ",") return at;
    if (sign === '"') at = closingQuote(text, at);
    else if ("([{".includes(sign)) at = closingOf(text, at + 1);
  }
  return text.length;
}

function closingQuote(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++)
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  return text.length;
}

const TYPES: Readonly<Record<string, JsonSchema>> = {
  str: { type: "string" },
  int: { type: "integer" },
  float: { type: "number" },
  bool: { type: "boolean" },
  null: { type: "null" },
  Dict: { type: "object" },
  List: { type: "array" },
};

function schemaOf(type: string): JsonSchema {
  if (/^"(?:[^"\\]|\\.)*"(?: \| "(?:[^"\\]|\\.)*"){0,200}$/.test(type))
    return { enum: [...type.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([word]) => parseJson(word)) };
  const item = /^List\[([\s\S]*)\]$/.exec(type)?.[1];
  if (item !== undefined) return { type: "array", items: schemaOf(item) };
  if (type.startsWith("{")) return parametersOf(type.slice(1, -1));
  return TYPES[type] ?? {};
}

/** Calls as a model without functions writes them. */
export const asLines = (calls: readonly ToolCall[]): string =>
  calls.map(({ name, args }) => callLine(name, args)).join("\n");

/** A call as a script wrote it, under the name that this server was given for the tool. */
export function offeredName(name: string, tools: readonly Tool[]): string {
  const safe = name.replace(/[^a-zA-Z0-9_-]/g, "_");
  return (
    tools.find((tool) => tool.name === name)?.name ?? tools.find((tool) => tool.name === safe)?.name ?? name
  );
}

/** The beginning of a call whose arguments a script wrote, valid or not. */
export const scriptedLine = (name: string, args: string): string =>
  `${CALL_MARKER}: {"tool_name": ${JSON.stringify(name)}, "args": ${args}}`;
