import { isObject } from "@/server/domain/base/guards";
import { asSchema } from "@/server/domain/base/json-schema";
import { must } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { ToolOffer } from "../model";
import { CLOSING, callTokenAt } from "./call-dialects-tokens";
import { opensAnyString, opensString, parseMended, scanOutsideStrings } from "./json";
import {
  invalidCall,
  MAX_CALLS,
  type ReadCall,
  type ReadText,
  readCalls,
  readTextCalls,
  TOO_MANY,
  TRUNCATED,
} from "./text-calls";

/** The calls in what a model wrote: in the form that it was shown, else in those of other chat templates. */
export function readWrittenCalls(
  text: string,
  { tools = [], isCut = false }: { tools?: readonly ToolOffer[]; isCut?: boolean } = {},
): ReadText {
  const read = readTextCalls(text, { tools, isCut });
  return read.calls.length > 0 ? read : (readDialectCalls(text, { tools, isCut }) ?? read);
}

/**
 * Calls in the formats of other chat templates, which a server without the right parser passes on as plain text. Two
 * rules: an answer that consists only of calls of offered tools, or of any calls in a wrapper that only calls have, is
 * calls; and whatever follows a token that only calls have is a call or, if it can't be parsed, an error that is
 * reported to the model, never a result.
 *
 * The formats are those of the templates of these families: Llama 3 and 4, Qwen3-Coder, DeepSeek V3 and R1, GLM, Kimi
 * K2, Granite, Phi-4, Hunyuan, InternLM, MiniMax, Seed, xLAM, gpt-oss.
 */
function readDialectCalls(text: string, { tools, isCut }: Reading): ReadText | null {
  if (tools.length === 0) return null;
  const bare = bareCalls(text.trim(), tools);
  if (bare) return { content: "", calls: bounded(bare, text) };
  return callsBehindToken(text, { tools, isCut });
}

interface Reading {
  tools: readonly ToolOffer[];
  /** The answer ended at the token limit: only what was closed before is read, and the rest is reported as an error. */
  isCut: boolean;
}

/** The calls from the first token that only calls have; null if there is none. */
export function callsBehindToken(text: string, reading: Reading): ReadText | null {
  const at = callTokenAt(text);
  if (at < 0) return null;
  const behind = text.slice(at);
  const found = DIALECTS.flatMap((read) => read(behind, reading) ?? []);
  const calls = found.flatMap((one) => one.calls);
  const content = text.slice(0, at).trim();
  if (reading.isCut) {
    const rest = behind.slice(Math.max(0, ...found.map(({ end }) => end)));
    if (calls.length === 0 || found.some(({ isOpen }) => isOpen) || hasBegun(rest)) calls.push(cutCall(rest));
  } else if (calls.length === 0) calls.push(invalidCall("its format is unknown", behind));
  return { content, calls: bounded(calls, behind) };
}

/** Whether another call begins behind those that were closed. */
function hasBegun(rest: string): boolean {
  const left = rest.replace(CLOSING, "");
  return /^[\s,;]*[<{[]/.test(left) || callTokenAt(left) >= 0;
}

/** A call that was cut, with its name where that was written in full. */
function cutCall(rest: string): ReadCall {
  const call = invalidCall(TRUNCATED, rest);
  const [, name = call.tool_name] =
    /(?:<function=|<invoke name="|\bto=(?:functions\.)?|▁begin｜>(?:function<｜tool▁sep｜>)?|<\|tool_call_begin\|>\s*(?:functions\.)?|<tool_call>\s*)(?!function<)([\w.:/-]{1,200}?)(?=["<>\s]|:\d+\s*<)/.exec(
      rest,
    ) ?? [];
  return { ...call, tool_name: name };
}

const bounded = (calls: ReadCall[], text: string): ReadCall[] =>
  calls.length > MAX_CALLS ? [...calls.slice(0, MAX_CALLS), invalidCall(TOO_MANY, text)] : calls;

interface Found {
  calls: ReadCall[];
  /** Where the last of them ended. */
  end: number;
  /** Another call starts there, without a marker of its own. */
  isOpen?: true;
}

type Read = (text: string, reading: Reading) => Found | null;

/** Each reads all calls of its own format in the rest of a text; null if there are none. */
const DIALECTS: readonly Read[] = [
  // <function=NAME><parameter=KEY>VALUE</parameter></function>
  (text, { tools, isCut }) =>
    every(
      text,
      { opening: /<function=([^>\n]{1,200})>/g, closing: /<\/function>/g, mayEnd: !isCut },
      (call) =>
        withParameters(call, { opening: /<parameter=([^>\n]{1,200})>/g, closing: /<\/parameter>/g }, tools),
    ),
  // <invoke name="NAME"><parameter name="KEY">VALUE</parameter></invoke>
  (text, { tools }) =>
    every(text, { opening: /<invoke name="([^"\n]{1,200})">/g, closing: /<\/invoke>/g }, (call) =>
      withParameters(
        call,
        { opening: /<parameter name="([^"\n]{1,200})"[^>]{0,200}>/g, closing: /<\/parameter>/g },
        tools,
      ),
    ),
  // <tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value></tool_call>
  (text, { tools }) =>
    every(
      text,
      {
        opening: /<tool_call>\s*([\w.:/-]{1,200})\s*(?=<arg_key>|<\/tool_call>)/g,
        closing: /<\/tool_call>/g,
      },
      (call) =>
        withParameters(
          call,
          {
            opening: /<arg_key>([^<]{1,200})<\/arg_key>\s*<arg_value>/g,
            closing: /<\/arg_value>/g,
          },
          tools,
        ),
    ),
  // <｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME ```json {…} ```<｜tool▁call▁end｜>, and without the first word and the fence
  (text, { tools }) =>
    every(
      text,
      {
        opening: /<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?([\w.:/-]{1,200})(?:<｜tool▁sep｜>)?/g,
        closing: /<｜tool▁call▁end｜>/g,
      },
      ({ name, body }) => named(name, body, tools),
    ),
  // <|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{…}<|tool_call_end|>
  (text, { tools }) =>
    every(
      text,
      {
        opening:
          /<\|tool_call_begin\|>\s*(?:functions\.)?([\w./-]{1,200}?)(?::\d{1,9})?\s*<\|tool_call_argument_begin\|>/g,
        closing: /<\|tool_call_end\|>/g,
      },
      ({ name, body }) => named(name, body, tools),
    ),
  // <|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{…}<|call|>
  (text, { tools, isCut }) =>
    every(
      text,
      {
        opening: /to=(?:functions\.)?([\w.:/-]{1,200})[^\n]{0,80}?<\|message\|>/g,
        closing: /<\|call\|>|<\|end\|>/g,
        mayEnd: !isCut,
      },
      ({ name, body }) => named(name, body, tools),
    ),
  // A token and JSON: <|python_tag|>{…}, <|tool_call|>[…], <function_call> {…}, functools[…], <tool_calls>[…], <|action_start|><|plugin|>{…}
  (text, { tools, isCut }) => {
    const head =
      /^\s*(?:<\|python_(?:tag|start)\|>|<\|tool_call\|>|<function_call>|functools(?=\[)|<tool_calls>|<\|action_start\|>(?:<\|\w+\|>)?)\s*/.exec(
        text,
      )?.[0];
    if (head === undefined) return null;
    // As long as before, so that places stay.
    const body = text
      .slice(head.length)
      .replace(
        /<\|python_end\|>|<\|\/?tool_call\|>|<\/?function_call>|<\/tool_calls>|<\|action_end\|>|<\|e\w+_id\|>/g,
        (sign) => "\n".padEnd(sign.length),
      );
    if (!looksLikeJson(body)) {
      const calls = pythonCalls(body.trim(), tools);
      if (calls || !isCut) return calls && { calls, end: text.length };
      const end = lastParting(body);
      const closed = pythonCalls(body.slice(0, end).trim().replace(/^\[/, ""), tools);
      return closed && { calls: closed, end: head.length + end, isOpen: true };
    }
    const found = isCut ? closedJsonCalls(body, tools) : jsonCalls(body, tools);
    return found && { calls: found.calls, end: head.length + found.end };
  },
];

/** What encloses a call or a parameter; the opening captures its name. `mayEnd`: the end of the text closes, too. */
interface Tags {
  opening: RegExp;
  closing: RegExp;
  mayEnd?: boolean;
}

function every(text: string, tags: Tags, read: (call: Enclosed) => ReadCall): Found | null {
  const found = between(text, tags).slice(0, MAX_CALLS + 1);
  const last = found.at(-1);
  return last ? { calls: found.map(read), end: last.end } : null;
}

interface Enclosed {
  name: string;
  body: string;
  end: number;
}

/**
 * What stands between an opening, which names it, and the next closing. The openings are searched once and what stands
 * behind them once, however many are never closed.
 */
function between(text: string, { opening, closing, mayEnd = false }: Tags): Enclosed[] {
  const found: Enclosed[] = [];
  opening.lastIndex = 0;
  for (let open = opening.exec(text); open; open = opening.exec(text)) {
    const start = opening.lastIndex;
    closing.lastIndex = start;
    const close = closing.exec(text);
    if (!close && !mayEnd) break;
    const end = close ? closing.lastIndex : text.length;
    found.push({ name: open[1] ?? "", body: text.slice(start, close?.index), end });
    opening.lastIndex = end;
  }
  return found;
}

/** A call with arguments as text between tags; a parameter that isn't text by its schema is parsed as JSON. */
function withParameters({ name, body }: Enclosed, tags: Tags, tools: readonly ToolOffer[]): ReadCall {
  const tool_name = name.trim();
  const properties = asSchema(tools.find((tool) => tool.name === tool_name)?.parameters.properties);
  const args: JsonObject = {};
  for (const { name: key, body: value } of between(body, tags)) {
    const at = key.trim();
    if (at === "__proto__") continue;
    args[at] = typed(value, asSchema(properties[at]).type);
  }
  return { tool_name, args };
}

/** One line break around a value belongs to its tags. */
function typed(text: string, type: unknown): Json {
  const value = text.replace(/^\n/, "").replace(/\n$/, "");
  const isText = type === "string" || (Array.isArray(type) && type.includes("string"));
  if (isText) return value;
  const read = parseMended(value.trim(), { isCautious: true });
  return read ? read.value : value;
}

/** A call with its name before the arguments. */
function named(name: string, body: string, tools: readonly ToolOffer[]): ReadCall {
  const json = body
    .trim()
    .replace(/^```(?:json)?|```$/g, "")
    .trim();
  return must(readCalls(json === "" ? "{}" : json, tools, { name: name.trim() }), 0);
}

/** Consecutive JSON values, each a call or a list of calls; null if none starts here. */
function jsonCalls(text: string, tools: readonly ToolOffer[]): Found | null {
  const { values, end, isOpen } = valuesIn(text);
  if (values.length === 0 || isOpen) return null;
  return { calls: values.flatMap((json) => readCalls(json, tools, {})), end };
}

/** The values that were closed before the text was cut, in a list that was not closed, too. */
function closedJsonCalls(text: string, tools: readonly ToolOffer[]): Found | null {
  const list = /^\s*(?:\{\s*"tool_calls"\s*:\s*)?\[/.exec(text)?.[0] ?? "";
  for (const skip of new Set([0, list.length])) {
    const { values, end } = valuesIn(text.slice(skip));
    if (values.length > 0)
      return { calls: values.flatMap((json) => readCalls(json, tools, {})), end: skip + end };
  }
  return null;
}

/**
 * The texts of the JSON values that stand one after another, parted by nothing, line breaks, commas or semicolons, up to
 * anything else; `end`: behind the last of them, `isOpen`: another begins there and never closes, `isAlone`: there is
 * nothing else.
 */
function valuesIn(text: string): { values: string[]; end: number; isOpen: boolean; isAlone: boolean } {
  const values: string[] = [];
  let depth = 0;
  let start = -1;
  let end = 0;
  let isOther = false;
  scanOutsideStrings(
    text,
    (sign, at) => {
      if (sign === "{" || sign === "[") {
        if (depth++ === 0) start = at;
      } else if (depth > 0 && (sign === "}" || sign === "]")) {
        if (--depth === 0) values.push(text.slice(start, (end = at + 1)));
      } else isOther = depth === 0 && !/[\s,;]/.test(sign);
      return isOther;
    },
    { opens: (sign, before) => depth > 0 && opensString(sign, before) },
  );
  const isOpen = depth > 0;
  return { values, end, isOpen, isAlone: !isOpen && !isOther };
}

/** An answer that is nothing but calls of tools on offer, or wrapped calls of any; null where it is anything else. */
function bareCalls(text: string, tools: readonly ToolOffer[]): ReadCall[] | null {
  const fence = text.endsWith("```") && /^```(?:json|tool_code|python)?[ \t\r]*\n/.exec(text)?.[0];
  const body = fence ? text.slice(fence.length, -3).trim() : text;
  const calls = looksLikeJson(body) ? onlyJson(body, tools) : pythonCalls(unwrapped(body), tools);
  const isOnOffer = ({ tool_name, fault }: ReadCall) =>
    fault === undefined && tools.some((tool) => tool.name === tool_name);
  return calls && calls.length > 0 && calls.every(isOnOffer) ? calls : wrappedCalls(text, tools);
}

/** tool_code in Gemma's words prints what it calls. */
const unwrapped = (text: string) => /^print\(([\s\S]*)\)$/.exec(text)?.[1] ?? text;
const looksLikeJson = (text: string) => /^\s*(?:\{|\[\s*[{\]])/.test(text);

const CALL_KEYS = new Set(["tool_calls", "name", "tool_name", "tool", "function", "type", "id"]);
const ARGUMENT_KEYS = new Set(["arguments", "args", "parameters", "params", "input"]);

/** JSON that says a name and arguments and nothing else: an answer that only has a field "name" is an answer. */
const onlyJson = (text: string, tools: readonly ToolOffer[]) => callsIn(text, tools, isCall);

/**
 * Calls as `{"tool_calls": […]}` or `{"type": "function", …}`, whatever tools they name, and nothing besides; null where the
 * text is anything else, such as the description of a tool.
 */
export const wrappedCalls = (text: string, tools: readonly ToolOffer[]) => callsIn(text, tools, isWrapped);

function callsIn(
  text: string,
  tools: readonly ToolOffer[],
  isMeant: (value: Json | undefined) => boolean,
): ReadCall[] | null {
  const { values, isAlone } = valuesIn(text);
  if (values.length === 0 || !isAlone) return null;
  const read = values.map((json) => parseMended(json, { isCautious: true })?.value);
  return read.every(isMeant) ? values.flatMap((json) => readCalls(json, tools, {})) : null;
}

function isCall(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(isCall);
  if (!isObject(value)) return false;
  if (isOnlyKey(value, "tool_calls")) return isCall(value.tool_calls);
  if (isObject(value.function)) return isCall(value.function);
  const keys = Object.keys(value);
  return (
    keys.every((key) => CALL_KEYS.has(key) || ARGUMENT_KEYS.has(key)) &&
    keys.some((key) => ARGUMENT_KEYS.has(key))
  );
}

function isWrapped(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(isWrapped);
  if (!isObject(value) || !isCall(value)) return false;
  if (isOnlyKey(value, "tool_calls")) return Array.isArray(value.tool_calls);
  const inner = isObject(value.function) ? value.function : value;
  const args = inner.arguments ?? inner.parameters;
  const isSchema = isObject(args) && (isObject(args.properties) || args.type === "object");
  return (
    value.type === "function" &&
    typeof (inner.name ?? inner.function) === "string" &&
    (typeof args === "string" || isObject(args)) &&
    !isSchema
  );
}

const isOnlyKey = (value: JsonObject, key: string) => key in value && Object.keys(value).length === 1;

/** `[search(query="x", top=3), now()]`, also `search.call(query="x")`; null where it is anything else. */
function pythonCalls(text: string, tools: readonly ToolOffer[]): ReadCall[] | null {
  const list = /^\[([\s\S]*)\]$/.exec(text)?.[1] ?? text;
  const parts = splitOutside(list, ",;\n");
  const calls: ReadCall[] = [];
  for (const part of parts ?? []) {
    const match = /^([\w.:/-]{1,200}?)(?:\.call)?\(([\s\S]*)\)$/.exec(part);
    if (!match) return null;
    const [, name = "", inside = ""] = match;
    const args = keywordArguments(
      inside,
      tools.find((tool) => tool.name === name),
    );
    if (!args) return null;
    calls.push({ tool_name: name, args });
  }
  return calls.length > 0 ? calls : null;
}

/** Where the last of several calls begins, also in a list that was not closed: at what parts it from those before. */
function lastParting(text: string): number {
  let depth = /^\s*\[/.test(text) ? -1 : 0;
  let last = 0;
  scanOutsideStrings(
    text,
    (sign, at) => {
      if ("([{".includes(sign)) depth++;
      else if (")]}".includes(sign)) depth--;
      else if (depth === 0 && ",;\n".includes(sign)) last = at;
      return false;
    },
    { opens: opensAnyString },
  );
  return last;
}

function keywordArguments(text: string, tool: ToolOffer | undefined): JsonObject | null {
  const args: JsonObject = {};
  const known = Object.keys(asSchema(tool?.parameters.properties));
  const parts = splitOutside(text, ",");
  if (!parts) return null;
  for (const [at, part] of parts.entries()) {
    const [head = "", key = known[at]] = /^([A-Za-z_]\w*)\s*=/.exec(part) ?? [];
    if (key === undefined || key === "__proto__") return null;
    // Wrapped, so that words of Python are values; anything that is computed is not.
    const read = parseMended(`[${part.slice(head.length)}]`, { isCautious: true })?.value;
    if (!Array.isArray(read) || read.length !== 1) return null;
    args[key] = must(read, 0);
  }
  return args;
}

/** The pieces between separators that stand outside of strings and brackets, trimmed; null where brackets do not match. */
function splitOutside(text: string, separators: string): string[] | null {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  const isOpen = scanOutsideStrings(
    text,
    (sign, at) => {
      if ("([{".includes(sign)) depth++;
      else if (")]}".includes(sign)) depth--;
      else if (depth === 0 && separators.includes(sign)) {
        parts.push(text.slice(start, at));
        start = at + 1;
      }
      return depth < 0;
    },
    { opens: opensAnyString },
  );
  if (depth !== 0 || isOpen) return null;
  parts.push(text.slice(start));
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}
