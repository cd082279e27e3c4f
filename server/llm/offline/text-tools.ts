import type { JsonObject } from "@/server/domain/base/values";
import { CALL_MARKER, callLine, RESULT_MARKER } from "@/server/llm/tool-calls/text-protocol";
import type { Message, Tool } from "./prompt";

/** Tools that are offered and called as text. */

export interface ToolCall {
  name: string;
  args: JsonObject;
}

const BLOCK_END = "answer without TOOL_CALL.";

/** The tools block of a text, and the text without it; null if there is none. */
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

/** Converts a conversation whose tools are offered as text to one with functions; null if none are. */
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

/** The tools of a block. Only directives call them, so that their parameters do not matter. */
const toolsIn = (block: string): Tool[] =>
  [...block.matchAll(/^- ([^\s(]+)\(/gm)].map(([, name = ""]) => ({ name, parameters: {} }));

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

/** The start of a call line with scripted arguments, valid or not. */
export const scriptedLine = (name: string, args: string): string =>
  `${CALL_MARKER}: {"tool_name": ${JSON.stringify(name)}, "args": ${args}}`;
