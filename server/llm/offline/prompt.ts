import { present } from "@/server/domain/base/must";
import type { JsonSchema } from "@/server/domain/base/values";
import { withoutDirectives } from "./directives";

/** What the demo model understands of a conversation. */
export interface Prompt {
  role: string;
  /** What the role is asked to do, without its inputs. */
  task: string;
  inputs: Record<string, string>;
  /** The key whose plain value is asked for; null where JSON or free text is wanted. */
  wantedKey: string | null;
  /** A few words that name the matter. */
  topic: string;
  /** What decisions are made from: the inputs, or the task where there are none. */
  data: string;
  system: string;
  all: string;
  /** The conversation without directives. */
  messages: readonly Message[];
}

export interface Message {
  role: string;
  content: string;
}

/** A tool on offer. */
export interface Tool {
  name: string;
  description: string;
  parameters: JsonSchema;
}

const SECTION =
  /^(?:task|expected output|inputs?|results of earlier tasks|return|answer|state|labels|instruction|roles|schema|the answer)\b[^\n]*/i;
const ENTRY = /^\s*(?:[-*]\s+)?["`]?([A-Za-z_][A-Za-z0-9_]{0,63})["`]?\s*:\s?(.*)$/;

export function readPrompt(messages: readonly Message[]): Prompt {
  const clean = messages.map(({ role, content }) => ({ role, content: withoutDirectives(content) }));
  const system = clean
    .filter(({ role }) => role === "system" || role === "developer")
    .map(({ content }) => content)
    .join("\n\n");
  const user = clean.find(({ role, content }) => role === "user" && content !== "")?.content ?? "";
  const inputs = readInputs(user);
  const task = readTask(user);
  return {
    role: readRole(system) ?? readRole(user) ?? "",
    task,
    inputs,
    wantedKey: /value of ["“`']?([A-Za-z_]\w{0,63})/i.exec(user)?.[1] ?? null,
    topic: topicOf(task, inputs),
    data: Object.keys(inputs).length > 0 ? Object.values(inputs).join("\n") : task,
    system,
    all: clean.map(({ content }) => content).join("\n\n"),
    messages: clean,
  };
}

const readRole = (text: string) =>
  /^\s*You are (?:an? |the )?["“]?([^".”\n,(]{1,80})/im.exec(text)?.[1]?.trim();

function readTask(user: string): string {
  const lines = user.split("\n");
  const start = lines.findIndex((line) => /^\s*(?:task|instruction)\s*:/i.test(line));
  if (start < 0) return untilSection(lines);
  const first = present(lines[start], "lines[start]").replace(/^\s*\w+\s*:\s*/, "");
  return [first, untilSection(lines.slice(start + 1))].join("\n").trim();
}

function untilSection(lines: readonly string[]): string {
  const end = lines.findIndex(
    (line, at) =>
      at > 0 &&
      /^(?:expected output|inputs?|results of earlier tasks|state)\s*:|^return (?:the|one|only)\b/i.test(
        line.trim(),
      ),
  );
  return lines
    .slice(0, end < 0 ? undefined : end)
    .join("\n")
    .trim();
}

/** The lines `key: value` of the inputs, where values may span lines. */
function readInputs(user: string): Record<string, string> {
  const inputs: Record<string, string> = Object.create(null) as Record<string, string>;
  const lines = user.split("\n");
  const start = lines.findIndex((line) => /^\s*(?:inputs?|state|results of earlier tasks)\s*:/i.test(line));
  if (start < 0) return inputs;
  let key: string | null = null;
  const head = present(lines[start], "lines[start]").replace(/^\s*[\w ]+:\s*/, "");
  for (const line of [head, ...lines.slice(start + 1)]) {
    if (/^return (?:the|one|only)\b/i.test(line.trim())) break;
    const entry = ENTRY.exec(line);
    if (/^\s*results of earlier tasks\s*:\s*$/i.test(line)) continue;
    if (entry && !(SECTION.test(line) && entry[2] === "")) {
      key = entry[1]!;
      inputs[key] = entry[2]!;
    } else if (key !== null) inputs[key] += `\n${line}`;
  }
  for (const [name, value] of Object.entries(inputs)) inputs[name] = unquoted(value.trim());
  return inputs;
}

function unquoted(text: string): string {
  const fenced = /^```\w*\n([\s\S]*?)\n?```$/.exec(text);
  if (fenced) return fenced[1]!;
  if (!/^".*"$/s.test(text)) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

const NAMING = /topic|subject|question|request|idea|title|brief|feature|goal|issue|query|text/i;

function topicOf(task: string, inputs: Record<string, string>): string {
  const entries = Object.entries(inputs).filter(([, value]) => !isEmptyValue(value));
  const named = entries.find(([key]) => NAMING.test(key)) ?? entries[0];
  return shortened(named ? named[1] : task) || "the task";
}

/** The first words of a text that say something, without the openings this model itself writes. */
function shortened(text: string): string {
  const line =
    text
      .split("\n")
      .map((part) => part.trim())
      .find((part) => /[\p{L}\p{N}]/u.test(part)) ?? "";
  const bare = line
    .replace(/^[#>*\-\s/]+/, "")
    .replace(
      /^(?:findings|notes|draft|summary|report|article|analysis|done|message|plan|test report|revision \d+)\b[^:\n]{0,20}?(?: on|:)\s*/i,
      "",
    )
    .replace(/^(?:please\s+|can you\s+|could you\s+|i(?:'d| would) like (?:to|you to)\s+)+/i, "");
  const sentence = /^[^.!?\n]{8,}/.exec(bare)?.[0] ?? bare;
  if (sentence.length <= 72) return sentence.replace(/[\s.!?:;,]+$/, "");
  return `${sentence.slice(0, 70).replace(/\s+\S*$/, "")}…`;
}

const EMPTY = new Set([
  "",
  "null",
  "none",
  "(none)",
  "-",
  "–",
  "n/a",
  "[]",
  "{}",
  "undefined",
  "(empty)",
  "(not set)",
  "not set",
  "(nothing yet)",
  '""',
]);

/** Whether an input is there in name only. */
export const isEmptyValue = (value: string) => EMPTY.has(value.trim().toLowerCase());

/** The messages since the agent was last given a task: what came before belongs to another. */
export function sinceTask(messages: readonly Message[]): readonly Message[] {
  const at = messages.findLastIndex(({ role, content }) => role === "user" && /^\s*Task:/.test(content));
  return messages.slice(Math.max(at, 0));
}
