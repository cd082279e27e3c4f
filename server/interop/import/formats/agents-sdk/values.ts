import type { Raw } from "@/server/domain/base/lenient-reader";
import type { Json } from "@/server/domain/base/values";
import type { Work } from "@/server/domain/base/work-budget";
import { asTemplate } from "@/server/domain/text/template";
import type { Place } from "../../code/program";
import type { DeclaredAgent, Routine } from "./declarations";
import { partSchema } from "./schemas";

/** What the program knows at a place, told in terms of the run's state. */
export type Value =
  /** A key of the state, or a part of what stands there. */
  | { is: "path"; key: string; path: readonly string[]; schema?: Raw | undefined }
  | { is: "json"; value: Json }
  | { is: "text"; parts: readonly (string | Value)[] }
  | { is: "list"; items: readonly Value[] }
  | { is: "record"; fields: ReadonlyMap<string, Value> }
  /** A computed value. */
  | { is: "cel"; text: string; schema?: Raw | undefined }
  | { is: "messages"; messages: Messages }
  /** What running an agent gives, and what it answered. */
  | { is: "run"; run: AgentRun }
  | { is: "output"; run: AgentRun }
  /** An answer with several parts as one text. */
  | { is: "whole"; run: AgentRun }
  /** What the workflow is given, and its variables: any member is a key. */
  | { is: "inputs" }
  | { is: "state" }
  | { is: "agent"; agent: DeclaredAgent }
  | { is: "routine"; routine: Routine }
  /** A value that cannot be told from the code; `path`: a part of it. */
  | { is: "unknown"; unknown: Unknown; path: readonly string[] };

/** What agents have said so far: the words of the user, and the keys of answers, surely there or only on some ways. */
export interface Messages {
  texts: readonly Value[];
  sure: ReadonlySet<string>;
  maybe: ReadonlySet<string>;
}

/** A step in which an agent works, and under which keys it answers. */
export interface AgentRun {
  node_id: string;
  name: string;
  /** One key of a text, or a key for each part of the answer. */
  answer:
    | { key: string; schema?: Raw | undefined }
    | { parts: ReadonlyMap<string, { key: string; schema: Raw }> };
  before: Messages;
  /** The key of the whole answer as one value, once something asks for it. */
  whole?: string;
}

export interface Unknown extends Place {
  /** What it would be called. */
  name: string;
  /** It stands in the midst of something and has no name of its own. */
  isInline?: boolean;
  /** The key under which a step that somebody has to fill writes it. */
  key?: string;
}

export const NO_MESSAGES: Messages = { texts: [], sure: new Set(), maybe: new Set() };

export const json = (value: Json): Value => ({ is: "json", value });

/** The keys under which an agent answers. */
export const answerKeys = ({ answer }: AgentRun): string[] =>
  "key" in answer ? [answer.key] : [...answer.parts.values()].map(({ key }) => key);

/** The messages with those of a run behind them. */
export function withAnswer(messages: Messages, run: AgentRun, work: Work): Messages {
  work.makeList(messages.sure.size + messages.maybe.size);
  const sure = new Set([...messages.sure, ...answerKeys(run)]);
  return { ...messages, sure, maybe: new Set([...messages.maybe].filter((key) => !sure.has(key))) };
}

export function joinedMessages(all: readonly Messages[], work: Work): Messages {
  work.makeList(all.reduce((sum, { texts, sure, maybe }) => sum + texts.length + sure.size + maybe.size, 0));
  const sure = new Set(all.flatMap((one) => [...one.sure]));
  const maybe = new Set(all.flatMap((one) => [...one.maybe]).filter((key) => !sure.has(key)));
  return { texts: all.flatMap(({ texts }) => texts), sure, maybe };
}

/** What is known where several ways meet. */
export function mergedMessages(all: readonly Messages[]): Messages {
  const [first, ...others] = all;
  if (!first) return NO_MESSAGES;
  const sure = new Set([...first.sure].filter((key) => others.every((other) => other.sure.has(key))));
  const every = all.flatMap((one) => [...one.sure, ...one.maybe]);
  const texts = all.reduce((longest, one) => (one.texts.length > longest.texts.length ? one : longest)).texts;
  return { texts, sure, maybe: new Set(every.filter((key) => !sure.has(key))) };
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A path as expressions write it: `state.key.part`. */
const celPath = (key: string, path: readonly string[]): string =>
  path.reduce(
    (before, step) =>
      NAME.test(step)
        ? `${before}.${step}`
        : `${before}[${/^\d+$/.test(step) ? step : JSON.stringify(step)}]`,
    `state.${key}`,
  );

/** A path as templates write it, or null where they cannot. */
function templatePath(key: string, path: readonly string[]): string | null {
  if (path.some((step) => !NAME.test(step) && (step.includes('"') || step.includes("\n")))) return null;
  return path.reduce(
    (before, step) => (NAME.test(step) || /^\d+$/.test(step) ? `${before}.${step}` : `${before}["${step}"]`),
    key,
  );
}

const expressions = new WeakMap<Value, string | null>();

/** A value as an expression; null if it cannot be one. A value shared by several others is written once. */
export function celOf(value: Value, work: Work): string | null {
  const known = expressions.get(value);
  if (known !== undefined) return known;
  work.spend(1);
  const text = writtenAsCel(value, work);
  work.makeText(text?.length ?? 0);
  expressions.set(value, text);
  return text;
}

function writtenAsCel(value: Value, work: Work): string | null {
  switch (value.is) {
    case "path":
      return celPath(value.key, value.path);
    case "json":
      return celJson(value.value);
    case "cel":
      return value.text;
    case "text": {
      const parts = value.parts.map((part) =>
        typeof part === "string" ? JSON.stringify(part) : celText(part, work),
      );
      return parts.some((part) => part === null) ? null : parts.join(" + ") || '""';
    }
    case "list": {
      const items = value.items.map((item) => celOf(item, work));
      return items.some((item) => item === null) ? null : `[${items.join(", ")}]`;
    }
    case "record": {
      const fields = [...value.fields].map(([key, inner]) => {
        const text = celOf(inner, work);
        return text === null ? null : `${JSON.stringify(key)}: ${text}`;
      });
      return fields.some((field) => field === null) ? null : `{${fields.join(", ")}}`;
    }
    case "output": {
      const { answer } = value.run;
      if ("key" in answer) return celPath(answer.key, []);
      return `{${[...answer.parts].map(([name, { key }]) => `${JSON.stringify(name)}: state.${key}`).join(", ")}}`;
    }
    case "whole":
      return "key" in value.run.answer ? celPath(value.run.answer.key, []) : null;
    default:
      return null;
  }
}

/** JSON is almost an expression; only numbers with a point must keep it. */
const celJson = (value: Json): string => JSON.stringify(value);

function celText(value: Value, work: Work): string | null {
  const text = celOf(value, work);
  if (text === null) return null;
  const type = schemaOfValue(value)?.type;
  if (type === "object" || type === "array") return null;
  return type === "string" || (value.is === "json" && typeof value.value === "string")
    ? text
    : `string(${text})`;
}

/** A value in a template; null where it has to be put into the state first. */
export function templateOf(value: Value, work: Work): string | null {
  const text = writtenAsTemplate(value, work);
  work.makeText(text?.length ?? 0);
  return text;
}

function writtenAsTemplate(value: Value, work: Work): string | null {
  switch (value.is) {
    case "path": {
      const path = templatePath(value.key, value.path);
      return path === null ? null : `{{${path}}}`;
    }
    case "json":
      return asTemplate(typeof value.value === "string" ? value.value : (JSON.stringify(value.value) ?? ""));
    case "text": {
      const parts = value.parts.map((part) =>
        typeof part === "string" ? asTemplate(part) : templateOf(part, work),
      );
      return parts.some((part) => part === null) ? null : parts.join("");
    }
    case "output":
    case "whole": {
      const { answer, whole } = value.run;
      return "key" in answer ? `{{${answer.key}}}` : whole === undefined ? null : `{{${whole}}}`;
    }
    default:
      return null;
  }
}

/** What is known of a value's type. */
export function schemaOfValue(value: Value): Raw | undefined {
  switch (value.is) {
    case "path":
      return partSchema(value.schema, value.path);
    case "cel":
      return value.schema;
    case "text":
    case "whole":
      return { type: "string" };
    case "json":
      return {
        type: Array.isArray(value.value) ? "array" : value.value === null ? "null" : typeof value.value,
      };
    case "output":
      return "key" in value.run.answer ? (value.run.answer.schema ?? { type: "string" }) : { type: "object" };
    default:
      return undefined;
  }
}

/** A piece of a message: its text, or that a picture or file was there, which steps are told by its address. */
export function pieceOf(fields: ReadonlyMap<string, Value>): Value[] {
  const text = fields.get("text");
  if (text) return [text];
  const type = fields.get("type");
  const kind = type?.is === "json" && typeof type.value === "string" ? type.value.replace(/^input_/, "") : "";
  if (!/^(image|file|audio)/.test(kind)) return [];
  const address = [...fields].find(([key]) => /(_url|_id)$/.test(key))?.[1];
  const isKnown = address && address.is !== "unknown" && address.is !== "record";
  return [isKnown ? { is: "text", parts: [`(${kind}) `, address] } : json(`(${kind}, added by the program)`)];
}

/** A value as one text: what is text stays so. */
export function asText(value: Value): Value {
  if (value.is === "output") return { is: "whole", run: value.run };
  if (value.is === "json" && typeof value.value !== "string") return json(JSON.stringify(value.value));
  return value;
}

/** What cannot be told has a name of its own once it is given one. */
export const namedAs = (name: string, value: Value): Value =>
  value.is === "unknown" && value.unknown.isInline && value.path.length === 0
    ? { ...value, unknown: { ...value.unknown, name, isInline: false } }
    : value;
