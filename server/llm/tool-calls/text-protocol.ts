import { asSchema } from "@/server/domain/base/json-schema";
import type { Json, JsonSchema } from "@/server/domain/base/values";
import type { ChatMessage } from "@/server/domain/run/events";
import type { ToolCall, ToolStatus } from "@/server/domain/tool/tool";
import type { ToolOffer } from "../model";
import { CALL_OPENINGS } from "./call-dialects-tokens";
import { deref } from "./schema";

// How tools are offered, called and answered where a model knows no functions: by lines of text.

export const CALL_MARKER = "TOOL_CALL";
export const RESULT_MARKER = "TOOL_RESULT";
/** Ends an answer before the model makes up the results of its own calls. */
export const RESULT_STOP = `\n${RESULT_MARKER}`;

const MAX_DOC_CHARS = 300;
const MAX_SIGNATURE_DEPTH = 3;
const MAX_OPTIONS = 20;

const RULES = `To use a tool, respond with a line:
${CALL_MARKER}: {"tool_name": "tool_name", "args": {"param": "value"}}
Rules: JSON on one line where possible; at most 8 calls per message; write nothing after the last ${CALL_MARKER};
results come back as ${RESULT_MARKER} lines; never write a ${RESULT_MARKER} yourself. When you are done, answer without ${CALL_MARKER}.`;

/** The description of the tools for a model, for the end of the system message. */
export function toolBlock(tools: readonly ToolOffer[]): string {
  return `Available Tools:\n${tools.map(describe).join("\n")}\n${RULES}`;
}

function describe({ name, description, parameters }: ToolOffer): string {
  const properties = Object.entries(asSchema(parameters.properties));
  const required = new Set(Array.isArray(parameters.required) ? parameters.required : []);
  const signature = properties.map(([key, raw]) => {
    const schema = deref(asSchema(raw), parameters);
    const type = typeOf(schema, parameters, 0);
    const standard = schema.default === undefined ? "" : ` = ${JSON.stringify(schema.default)}`;
    const isOptional = !required.has(key) && standard === "" && !type.startsWith("Optional[");
    return `${key}: ${isOptional ? `Optional[${type}]` : type}${standard}`;
  });
  const docs = properties.flatMap(([key, raw]) => {
    const doc = oneLine(deref(asSchema(raw), parameters).description);
    return doc === "" ? [] : [`    ${key}: ${doc}`];
  });
  return [`- ${name}(${signature.join(", ")}): ${oneLine(description)}`, ...docs].join("\n");
}

function typeOf(schema: JsonSchema, root: JsonSchema, depth: number): string {
  const plain = deref(schema, root);
  if (plain.const !== undefined) return JSON.stringify(plain.const);
  if (Array.isArray(plain.enum)) return union(plain.enum.map((value) => JSON.stringify(value)));
  const options = plain.anyOf ?? plain.oneOf;
  if (Array.isArray(options)) {
    // Alternatives may lead to each other without end.
    if (depth >= MAX_SIGNATURE_DEPTH || options.length > MAX_OPTIONS) return "any";
    return union(options.map((option) => typeOf(asSchema(option), root, depth + 1)));
  }
  const types = Array.isArray(plain.type)
    ? plain.type
    : [plain.type ?? (plain.properties ? "object" : "any")];
  return union(types.map((type) => nameOf(type, plain, root, depth)));
}

function nameOf(type: unknown, schema: JsonSchema, root: JsonSchema, depth: number): string {
  const isDeep = depth >= MAX_SIGNATURE_DEPTH;
  switch (type) {
    case "string":
      return "str";
    case "integer":
      return "int";
    case "number":
      return "float";
    case "boolean":
      return "bool";
    case "null":
      return "null";
    case "array":
      return isDeep || !schema.items ? "List" : `List[${typeOf(asSchema(schema.items), root, depth + 1)}]`;
    case "object": {
      const inner = Object.entries(asSchema(schema.properties));
      if (isDeep || inner.length === 0) return "Dict";
      return `{${inner.map(([key, value]) => `${key}: ${typeOf(asSchema(value), root, depth + 1)}`).join(", ")}}`;
    }
    default:
      return "Any";
  }
}

function union(types: readonly string[]): string {
  const others = [...new Set(types.filter((type) => type !== "null"))];
  const all = others.join(" | ") || "null";
  return others.length < new Set(types).size && others.length > 0 ? `Optional[${all}]` : all;
}

function oneLine(text: unknown): string {
  const line = typeof text === "string" ? text.replace(/\s+/g, " ").trim() : "";
  return line.length > MAX_DOC_CHARS ? `${line.slice(0, MAX_DOC_CHARS - 1)}…` : line;
}

/** A call as a model writes it. */
export function callLine(name: string, args: Json): string {
  return `${CALL_MARKER}: ${JSON.stringify({ tool_name: name, args })}`;
}

/**
 * The content of a message of role "tool": the tool, its status, and the part of the result that the model may read.
 * Both protocols carry it unchanged; in text it follows `TOOL_RESULT [n] `.
 */
export function toolResultText(name: string, status: ToolStatus, text: string): string {
  return `${name} (${status}): ${text}`;
}

/**
 * A conversation without calls of functions: calls are lines of the assistant, and all results of a turn are one
 * message of the user. Lines inside results that look like the protocol's own are set off, so that a result cannot
 * pass for another.
 */
export function withoutFunctions(messages: readonly ChatMessage[]): ChatMessage[] {
  const plain: ChatMessage[] = [];
  let calls: readonly ToolCall[] = [];
  let isCollecting = false;
  for (const [index, { tool_calls, tool_call_id, ...message }] of messages.entries()) {
    if (message.role !== "tool") {
      isCollecting = false;
      calls = tool_calls ?? [];
      const lines = calls.map(({ tool_name, args, fault }) =>
        fault === undefined ? callLine(tool_name, args) : `(a ${CALL_MARKER} that could not be read)`,
      );
      plain.push({ ...message, content: [message.content, ...lines].filter(Boolean).join("\n") });
      continue;
    }
    const at = calls.findIndex(({ id }) => id === tool_call_id);
    const number =
      at >= 0
        ? at + 1
        : index + 1 - messages.findLastIndex(({ role }, i) => i < index && role !== "tool") - 1;
    const line = `${RESULT_MARKER} [${number}] ${setOff(named(message))}`;
    const last = plain.at(-1);
    if (isCollecting && last) last.content += `\n${line}`;
    else plain.push({ role: "user", content: line });
    isCollecting = true;
  }
  return plain;
}

/** Whoever wrote the content without `toolResultText` still says which tool it was. */
const named = ({ name, content }: ChatMessage) =>
  name === undefined || content.startsWith(`${name} (`) ? content : `${name}: ${content}`;

const setOff = (text: string) =>
  text.replace(new RegExp(`\\n([ \\t]*)(?=${CALL_MARKER}|${RESULT_MARKER})`, "g"), "\n$1| ");

/** Puts the block where models look for it: at the end of the system message. */
export function withToolBlock(messages: readonly ChatMessage[], tools: readonly ToolOffer[]): ChatMessage[] {
  const [first, ...others] = messages;
  const block = toolBlock(tools);
  return first?.role === "system"
    ? [{ ...first, content: `${first.content}\n\n${block}` }, ...others]
    : [{ role: "system", content: block }, ...messages];
}

const MARKERS = [CALL_MARKER, "<tool_call>", "[TOOL_CALLS]"].map((marker) => marker.toUpperCase());
/** Only whitespace may precede these. */
const OPENINGS = [...CALL_OPENINGS, '{"tool_calls"', '{"type":"function"', '{"type": "function"'];
const BEFORE_MARKER = /^[ \t>*_`"'“\-+\d.)]*/;

/** Whether a call may begin with a line, as far as the line came; "perhaps": more of it will tell. */
function opensCall(line: string): boolean | "perhaps" {
  const bare = line.replace(BEFORE_MARKER, "").toUpperCase();
  const plain = line.trimStart();
  if (MARKERS.some((marker) => bare.startsWith(marker))) return true;
  if (OPENINGS.some((opening) => plain.startsWith(opening))) return true;
  const mayGrow =
    MARKERS.some((marker) => marker.startsWith(bare)) ||
    OPENINGS.some((opening) => opening.startsWith(plain));
  return mayGrow && line.length < 80 && "perhaps";
}

/**
 * Separates possible calls from the rest of streamed text, for viewers: from the first marker or token at the start of
 * a line. If it turns out to be no call, the caller shows it at the end.
 */
export function newCallSplitter() {
  let isCalling = false;
  let isLineStart = true;
  let held = "";

  const step = (isEnd: boolean): { content: string; calls: string } => {
    let content = "";
    while (!isCalling && held !== "") {
      const newline = held.indexOf("\n");
      if (isLineStart) {
        const line = newline < 0 ? held : held.slice(0, newline);
        const opens = opensCall(line);
        if (opens === true) {
          isCalling = true;
          break;
        }
        // A possible start of a marker is held back.
        if (opens === "perhaps" && newline < 0 && !isEnd) break;
      }
      const end = newline < 0 ? held.length : newline + 1;
      content += held.slice(0, end);
      held = held.slice(end);
      isLineStart = newline >= 0;
    }
    const calls = isCalling ? held : "";
    if (isCalling) held = "";
    return { content, calls };
  };

  return {
    push(text: string) {
      held += text;
      return step(false);
    },
    end: () => step(true),
  };
}
