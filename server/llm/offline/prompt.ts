import { newRecord } from "@/server/domain/base/json";
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
  parameters: JsonSchema;
}

/** Tags within a task that hold no input. */
const NOT_GIVEN = new Set([
  ...["expected_output", "summary", "plan", "reply", "answer", "votes", "rule", "criteria", "failure"],
  ...["reason", "outcome", "proposal", "context"],
]);

interface Tagged {
  name: string;
  attributes: string;
  inner: string;
  from: number;
  to: number;
}

/** The tags of a prompt (domain/text/fence.ts) with their content, without nested ones. */
function tagged(text: string): Tagged[] {
  const opening = /<([A-Za-z_][\w.-]*)((?: \w+="[^"]*"){0,20})>/g;
  const found: Tagged[] = [];
  const unclosed = new Set<string>();
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    const [whole, name = "", attributes = ""] = match;
    if (unclosed.has(name)) continue;
    const start = match.index + whole.length;
    const end = text.indexOf(`</${name}>`, start);
    if (end < 0) {
      unclosed.add(name);
      continue;
    }
    opening.lastIndex = end + name.length + 3;
    found.push({
      name,
      attributes,
      inner: text.slice(start, end).trim(),
      from: match.index,
      to: opening.lastIndex,
    });
  }
  return found;
}

export function readPrompt(messages: readonly Message[]): Prompt {
  const clean = messages.map(({ role, content }) => ({ role, content: withoutDirectives(content) }));
  const system = clean
    .filter(({ role }) => role === "system" || role === "developer")
    .map(({ content }) => content)
    .join("\n\n");
  const asked = clean.filter(({ role, content }) => role === "user" && content !== "");
  const tasks = asked.filter(({ content }) => /<task[ >]/.test(content));
  const user =
    tasks.length > 0 ? tasks.map(({ content }) => content).join("\n\n") : (asked[0]?.content ?? "");
  return {
    role: readRole(system) ?? readRole(user) ?? "",
    task: readTask(user),
    inputs: readInputs(user),
    wantedKey:
      /\(stored as "([A-Za-z_]\w{0,63})"\)|value of ["“`']?([A-Za-z_]\w{0,63})/i
        .exec(tasks.at(-1)?.content ?? user)
        ?.slice(1)
        .find((key) => key !== undefined) ?? null,
    system,
    all: clean.map(({ content }) => content).join("\n\n"),
    messages: clean,
  };
}

const readRole = (text: string) =>
  /^[ \t]*You are (?:an? |the )?["“]?([^".”\n,(]{1,80})/im.exec(text)?.[1]?.trim();

/** The contents of a prompt's tags of that name, in order. */
const inTags = (text: string, wanted: string): string[] =>
  tagged(text).flatMap(({ name, inner }) => (name === wanted ? [inner] : []));

/** The last task of a prompt, with the values in it as plain text; of a text without tags, all of it. */
function readTask(user: string): string {
  const task = inTags(user, "task").at(-1);
  return task === undefined ? user.replace(/^\s*task\s*:\s*/i, "").trim() : withoutTags(task);
}

function withoutTags(text: string): string {
  let plain = "";
  let at = 0;
  for (const { inner, from, to } of tagged(text)) {
    plain += text.slice(at, from) + inner;
    at = to;
  }
  return (plain + text.slice(at)).trim();
}

/** The values of a prompt by name: the goal, and those in inputs, tasks and results. */
function readInputs(user: string): Record<string, string> {
  const inputs = newRecord<string>();
  for (const { name: part, inner } of tagged(user)) {
    if (part === "goal") inputs.goal = unquoted(inner);
    if (part !== "inputs" && part !== "task" && part !== "results") continue;
    for (const { name, attributes, inner: value } of tagged(inner)) {
      if (part === "task" && NOT_GIVEN.has(name)) continue;
      inputs[/ (?:name|task)="([^"]*)"/.exec(attributes)?.[1] ?? name] = unquoted(value);
    }
  }
  return inputs;
}

/** The text of a value in a prompt, which may be fenced, quoted or plain. */
export function unquoted(text: string): string {
  const fenced = /^```\w*\n([\s\S]*?)\n?```$/.exec(text)?.[1];
  if (fenced !== undefined) return fenced;
  if (!/^".*"$/s.test(text)) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
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
  const at = messages.findLastIndex(({ role, content }) => role === "user" && /<task[ >]/.test(content));
  return messages.slice(Math.max(at, 0));
}
