import { asSchema } from "@/server/domain/base/json-schema";
import type { JsonObject, JsonSchema } from "@/server/domain/base/values";
import { answerTo, inShape, suggestionsFor } from "./answer";
import type { ChatRequest } from "./chat-request";
import type { DirectedTurn, ScriptedFailure } from "./directives";
import { instanceOf } from "./instance";
import { type Message, type Prompt, readPrompt, type Tool } from "./prompt";
import { writtenFor } from "./samples";
import { asLines, offeredName, scriptedLine, type ToolCall } from "./text-tools";

/** What one call will say, before it is put on the wire. */
export interface Reply {
  content: string | null;
  reasoning: string | null;
  refusal: string | null;
  calls: ToolCall[];
  finish: "stop" | "length" | "tool_calls";
  /** Closes the connection after this many chunks. */
  dropAfter: number | null;
}

type ToolChoice = "none" | "auto" | "required" | { name: string };

interface Asked {
  messages: readonly Message[];
  tools: readonly Tool[];
}

/** A reply whose calls are lines of text, where the tools were offered so. */
export function inProtocol(reply: Reply, isText: boolean): Reply {
  if (!isText || reply.calls.length === 0) return reply;
  return { ...reply, content: asLines(reply.calls), calls: [], finish: "stop" };
}

/** What a call says: as its script wants it, else a prepared answer or a placeholder. */
export function replyTo(body: ChatRequest, asked: Asked, turn: DirectedTurn | undefined): Reply {
  const reply: Reply = {
    content: null,
    reasoning: turn?.think ?? null,
    refusal: null,
    calls: [],
    finish: "stop",
    dropAfter: null,
  };
  const answer = turn?.answer;
  switch (answer?.kind) {
    case "text":
    case "json":
      return { ...reply, content: answer.text };
    case "tools":
      return {
        ...reply,
        calls: answer.calls.map(({ name, args }) => ({ name: offeredName(name, asked.tools), args })),
        finish: "tool_calls",
      };
    case "handoff":
      return { ...reply, ...handoff(answer.agent, asked.tools) };
    case "malformed":
      return { ...reply, content: '{"answer": "this JSON never ends, and its quotes do not match\', ' };
    case "refuse":
      return { ...reply, refusal: "I can't help with that (scripted refusal)." };
    case "textcall": {
      const [, name = "", args = "{}"] = /^(\S+)\s*([\s\S]*)/.exec(answer.text) ?? [];
      return { ...reply, content: scriptedLine(name, args.trim() || "{}") };
    }
    default:
      return { ...reply, ...ownReply(body, asked) };
  }
}

function handoff(agent: string, tools: readonly Tool[]): Pick<Reply, "content" | "calls" | "finish"> {
  const own = tools.find(({ name }) => name === `transfer_to_${agent}`)?.name;
  const args: JsonObject = own ? {} : { destination_agent: agent, reason: "Scripted handoff" };
  const calls = [{ name: own ?? "handoff", args }];
  return tools.length > 0
    ? { content: null, calls, finish: "tool_calls" }
    : { content: asLines(calls), calls: [], finish: "stop" };
}

function ownReply(
  body: ChatRequest,
  { messages, tools }: Asked,
): Pick<Reply, "content" | "calls" | "finish"> {
  const prompt = readPrompt(messages);
  const choice = choiceOf(body.tool_choice);
  const written = choice === "auto" ? writtenFor(prompt, tools) : null;
  const prepared = written?.gives === undefined ? null : inShape(written.gives, prompt, shapeOf(body));
  if (prepared !== null) return { content: prepared, calls: [], finish: "stop" };
  const calls = written?.call ? [written.call] : requiredCalls(prompt, tools, choice);
  if (calls.length > 0) return { content: null, calls, finish: "tool_calls" };
  return { content: answerTo(prompt, shapeOf(body)), calls: [], finish: "stop" };
}

/** Without directives or a sample, tools are called only where the request leaves no choice. */
function requiredCalls(prompt: Prompt, tools: readonly Tool[], choice: ToolChoice): ToolCall[] {
  if (choice === "none" || choice === "auto") return [];
  const tool = choice === "required" ? tools[0] : tools.find(({ name }) => name === choice.name);
  if (!tool) return [];
  const args = instanceOf({ type: "object", ...tool.parameters }, suggestionsFor(prompt));
  return [{ name: tool.name, args: asSchema(args) }];
}

function choiceOf(choice: ChatRequest["tool_choice"]): ToolChoice {
  return typeof choice === "object" && choice !== null ? { name: choice.function.name } : (choice ?? "auto");
}

/** Why no answer can be what `tool_choice` asks for, or null. */
export function unmetChoice({ tool_choice, tools }: ChatRequest): string | null {
  const choice = choiceOf(tool_choice);
  if (choice === "none" || choice === "auto") return null;
  if (!tools || tools.length === 0)
    return "tool_choice requires a tool call, but there are no tools. Add some.";
  if (choice === "required" || tools.some(({ function: { name } }) => name === choice.name)) return null;
  return `tool_choice requires ${choice.name}, which isn't one of the tools.`;
}

function shapeOf(body: ChatRequest): JsonSchema | "object" | null {
  const format = body.response_format;
  if (format?.type === "json_schema") return format.json_schema?.schema ?? "object";
  return format?.type === "json_object" ? "object" : null;
}

/** The reply as a scripted trouble spoils it. */
export function withScriptedFailure(reply: Reply, scripted: ScriptedFailure | undefined): Reply {
  const text = reply.content ?? "";
  switch (scripted?.kind) {
    case "drop":
      return { ...reply, dropAfter: scripted.chunks };
    case "truncate":
      return { ...reply, content: text.slice(0, Math.ceil(text.length / 2)), calls: [], finish: "length" };
    case "blank":
      return { ...reply, content: "", calls: [], finish: "stop" };
    default:
      return reply;
  }
}
