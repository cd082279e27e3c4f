import { asSchema } from "@/server/domain/base/json-schema";
import { present } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { opensAnyString, opensString, parseMended, scanOutsideStrings } from "./json";
import type { ToolOffer } from "./model";
import {
  faulty,
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
 * Calls in the words of other chat templates: what a server without the right parser hands on as plain text. Two rules:
 * an answer that is nothing but calls of tools on offer is calls; and whatever stands behind a token that only calls have
 * is a call or, where it cannot be read, a fault that the model is told, never a result.
 *
 * The forms are those that the templates of these families write: Llama 3 and 4, Qwen3-Coder, DeepSeek V3 and R1, GLM,
 * Kimi K2, Granite, Phi-4, Hunyuan, InternLM, MiniMax, Seed, xLAM, gpt-oss.
 */
function readDialectCalls(
  text: string,
  { tools, isCut }: { tools: readonly ToolOffer[]; isCut: boolean },
): ReadText | null {
  if (tools.length === 0) return null;
  const bare = bareCalls(text.trim(), tools);
  if (bare) return { content: "", calls: bounded(bare, text) };
  const at = firstToken(text);
  if (at < 0) return null;
  const behind = text.slice(at);
  const found = DIALECTS.flatMap((read) => read(behind, tools) ?? []);
  const isCalls = found.length > 0 && !(isCut && found.length === 1);
  const calls = isCalls || isClosed(behind) ? found : [];
  return {
    content: text.slice(0, at).trim(),
    calls:
      calls.length === 0
        ? [faulty(isCut ? TRUNCATED : "it is not in a form that is known here", behind)]
        : bounded(calls, behind),
  };
}

const bounded = (calls: ReadCall[], text: string): ReadCall[] =>
  calls.length > MAX_CALLS ? [...calls.slice(0, MAX_CALLS), faulty(TOO_MANY, text)] : calls;

/** What only calls begin with, at the beginning of a line. */
const TOKEN =
  /^[ \t]*(?:<\|python_(?:tag|start)\|>|<tool_call>\s*(?:<function=|[\w.:/-]+\s*<arg_key>|[\w.:/-]+\s*<\/tool_call>)|<function=[\w.:/-]+>|<seed:tool_call>|<｜tool▁calls?▁begin｜>|<\|tool_calls?_(?:section_)?begin\|>|<\|tool_call\|>|<function_call>|functools\[|<tool_calls>|<(?:minimax:tool_call|function_calls)>|<invoke name=|<\|action_start\|>|(?:<\|start\|>assistant)?<\|channel\|>commentary to=)/m;

const firstToken = (text: string): number => TOKEN.exec(text)?.index ?? -1;

const END =
  /<\/(?:function|tool_call|tool_calls|invoke|function_calls|minimax:tool_call|seed:tool_call)>|<｜tool▁calls?▁end｜>|<\|tool_calls?_(?:section_)?end\|>|<\|\/tool_call\|>|<\|action_end\|>|<\|call\|>/;
const isClosed = (text: string) => END.test(text);

type Read = (text: string, tools: readonly ToolOffer[]) => ReadCall[] | null;

/** Each reads all calls of its own form in the rest of a text; null where there are none. */
const DIALECTS: readonly Read[] = [
  // <function=NAME><parameter=KEY>VALUE</parameter></function>
  (text, tools) =>
    every(text, /<function=([^>\n]{1,200})>([\s\S]*?)(?:<\/function>|$(?![\s\S]))/g, ([, name, body]) =>
      withParameters(name, body, /<parameter=([^>\n]{1,200})>([\s\S]*?)<\/parameter>/g, tools),
    ),
  // <invoke name="NAME"><parameter name="KEY">VALUE</parameter></invoke>
  (text, tools) =>
    every(text, /<invoke name="([^"\n]{1,200})">([\s\S]*?)<\/invoke>/g, ([, name, body]) =>
      withParameters(name, body, /<parameter name="([^"\n]{1,200})"[^>]*>([\s\S]*?)<\/parameter>/g, tools),
    ),
  // <tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value></tool_call>
  (text, tools) =>
    every(
      text,
      /<tool_call>\s*([\w.:/-]{1,200})\s*((?:<arg_key>[\s\S]*?)?)<\/tool_call>/g,
      ([, name, body]) =>
        withParameters(
          name,
          body,
          /<arg_key>([\s\S]{1,200}?)<\/arg_key>\s*<arg_value>([\s\S]*?)<\/arg_value>/g,
          tools,
        ),
    ),
  // <｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME ```json {…} ```<｜tool▁call▁end｜>, and without the first word and the fence
  (text, tools) =>
    every(
      text,
      /<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?([\w.:/-]{1,200})(?:<｜tool▁sep｜>)?\s*([\s\S]*?)<｜tool▁call▁end｜>/g,
      ([, name, body]) => named(name, body, tools),
    ),
  // <|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{…}<|tool_call_end|>
  (text, tools) =>
    every(
      text,
      /<\|tool_call_begin\|>\s*(?:functions\.)?([\w./-]{1,200}?)(?::\d+)?\s*<\|tool_call_argument_begin\|>([\s\S]*?)<\|tool_call_end\|>/g,
      ([, name, body]) => named(name, body, tools),
    ),
  // <|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{…}<|call|>
  (text, tools) =>
    every(
      text,
      /to=(?:functions\.)?([\w.:/-]{1,200})[^\n]{0,80}?<\|message\|>([\s\S]*?)(?:<\|call\|>|<\|end\|>|$(?![\s\S]))/g,
      ([, name, body]) => named(name, body, tools),
    ),
  // A token and JSON: <|python_tag|>{…}, <|tool_call|>[…], <function_call> {…}, functools[…], <tool_calls>[…], <|action_start|><|plugin|>{…}
  (text, tools) => {
    const head =
      /^\s*(?:<\|python_(?:tag|start)\|>|<\|tool_call\|>|<function_call>|functools(?=\[)|<tool_calls>|<\|action_start\|>(?:<\|\w+\|>)?)\s*/.exec(
        text,
      )?.[0];
    if (head === undefined) return null;
    const body = text
      .slice(head.length)
      .replace(
        /<\|python_end\|>|<\|\/?tool_call\|>|<\/?function_call>|<\/tool_calls>|<\|action_end\|>|<\|e\w+_id\|>/g,
        "\n",
      );
    return looksLikeJson(body.trim()) ? jsonCalls(body, tools) : pythonCalls(body.trim(), tools);
  },
];

function every(text: string, pattern: RegExp, read: (match: string[]) => ReadCall): ReadCall[] | null {
  const calls = [...text.matchAll(pattern)].slice(0, MAX_CALLS + 1).map((match) => read([...match]));
  return calls.length > 0 ? calls : null;
}

/** A call whose arguments stand as text between tags; what a parameter's schema does not call text is read as JSON. */
function withParameters(name = "", body = "", pattern: RegExp, tools: readonly ToolOffer[]): ReadCall {
  const tool_name = name.trim();
  const properties = asSchema(tools.find((tool) => tool.name === tool_name)?.parameters.properties);
  const args: JsonObject = {};
  for (const [, key = "", value = ""] of body.matchAll(pattern)) {
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

/** A name that stands before its arguments. */
function named(name = "", body = "", tools: readonly ToolOffer[]): ReadCall {
  const json = body.trim().replace(/^```(?:json)?\s*|\s*```$/g, "");
  return present(readCalls(json === "" ? "{}" : json, tools, { name: name.trim() })[0], "json");
}

/** JSON values one after another, each a call or a list of them; null where none begins. */
function jsonCalls(text: string, tools: readonly ToolOffer[]): ReadCall[] | null {
  const values = valuesIn(text);
  if (values.length === 0) return null;
  return values.flatMap((json) => readCalls(json, tools, {}));
}

/**
 * The texts of the JSON values that stand one after another, parted by nothing, line breaks, commas or semicolons, up to
 * anything else; `isStrict`: none where there is anything else.
 */
function valuesIn(text: string, { isStrict = false } = {}): string[] {
  const values: string[] = [];
  let depth = 0;
  let start = -1;
  let isClosedTwice = false;
  let isOther = false;
  scanOutsideStrings(
    text,
    (sign, at) => {
      if (sign === "{" || sign === "[") {
        if (depth++ === 0) start = at;
      } else if (sign === "}" || sign === "]") {
        isClosedTwice = --depth < 0;
        if (depth === 0) values.push(text.slice(start, at + 1));
      } else isOther = depth === 0 && !/[\s,;]/.test(sign);
      return isClosedTwice || isOther;
    },
    { opens: (sign, before) => depth > 0 && opensString(sign, before) },
  );
  if (isOther) return isStrict ? [] : values;
  return depth === 0 ? values : [];
}

/** An answer that is nothing but calls of tools on offer; null where it is anything else. */
function bareCalls(text: string, tools: readonly ToolOffer[]): ReadCall[] | null {
  const body = /^```(?:json|tool_code|python)?\s*\n([\s\S]*?)\n?```$/.exec(text)?.[1]?.trim() ?? text;
  const calls = looksLikeJson(body) ? onlyJson(body, tools) : pythonCalls(unwrapped(body), tools);
  const isOnOffer = ({ tool_name, fault }: ReadCall) =>
    fault === undefined && tools.some((tool) => tool.name === tool_name);
  return calls && calls.length > 0 && calls.every(isOnOffer) ? calls : null;
}

/** tool_code in Gemma's words prints what it calls. */
const unwrapped = (text: string) => /^print\(([\s\S]*)\)$/.exec(text)?.[1] ?? text;
const looksLikeJson = (text: string) => /^(?:\{|\[\s*[{\]])/.test(text);

const CALL_KEYS = new Set(["tool_calls", "name", "tool_name", "tool", "function", "type", "id"]);
const ARGUMENT_KEYS = new Set(["arguments", "args", "parameters", "params", "input"]);

/** JSON that says a name and arguments and nothing else: an answer that only has a field "name" is an answer. */
function onlyJson(text: string, tools: readonly ToolOffer[]): ReadCall[] | null {
  const values = valuesIn(text, { isStrict: true });
  if (values.length === 0) return null;
  const read = values.map((json) => parseMended(json, { isCautious: true })?.value);
  const isCall = (value: Json | undefined): boolean => {
    if (Array.isArray(value)) return value.length > 0 && value.every(isCall);
    if (value === null || value === undefined || typeof value !== "object") return false;
    const keys = Object.keys(value);
    if (keys.length === 1 && keys[0] === "tool_calls") return isCall(value.tool_calls);
    if (typeof value.function === "object") return isCall(value.function ?? undefined);
    return (
      keys.every((key) => CALL_KEYS.has(key) || ARGUMENT_KEYS.has(key)) &&
      keys.some((key) => ARGUMENT_KEYS.has(key))
    );
  };
  return read.every(isCall) ? values.flatMap((json) => readCalls(json, tools, {})) : null;
}

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

function keywordArguments(text: string, tool: ToolOffer | undefined): JsonObject | null {
  const args: JsonObject = {};
  const known = Object.keys(asSchema(tool?.parameters.properties));
  const parts = splitOutside(text, ",");
  if (!parts) return null;
  for (const [at, part] of parts.entries()) {
    const [, key = known[at], value = ""] = /^(?:([A-Za-z_]\w*)\s*=\s*)?([\s\S]+)$/.exec(part) ?? [];
    if (key === undefined || key === "__proto__") return null;
    // Wrapped, so that words of Python are values; anything that is computed is not.
    const read = parseMended(`[${value}]`, { isCautious: true })?.value;
    if (!Array.isArray(read) || read.length !== 1) return null;
    args[key] = present(read[0], "read[0]");
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
