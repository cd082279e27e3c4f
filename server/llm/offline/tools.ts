import type { JsonObject, JsonSchema } from "@/server/domain/values";
import { instanceOf } from "./instance";
import type { Message, Prompt } from "./prompt";

export interface Tool {
  name: string;
  description: string;
  parameters: JsonSchema;
}
export interface ToolCall {
  name: string;
  args: JsonObject;
}
export type ToolChoice = "none" | "auto" | "required" | { name: string };

const CHANGES = /delete|remove|drop|write|update|create|send|post|pay|deploy|execute|run_|shell/i;

/** The tools that a turn without directives calls: one or two that fit the task, each once, reading before changing. */
export function chooseCalls(
  prompt: Prompt,
  messages: readonly Message[],
  tools: readonly Tool[],
  choice: ToolChoice,
): ToolCall[] {
  if (choice === "none" || tools.length === 0) return [];
  const fill = (tool: Tool): ToolCall => ({ name: tool.name, args: argsFor(tool, prompt) });
  if (typeof choice === "object") return tools.filter(({ name }) => name === choice.name).map(fill);
  const hasResult = messages.some(({ role }) => role === "tool");
  if (choice === "auto" && (hasResult || prompt.answers >= 2)) return [];
  const text = `${prompt.task} ${prompt.data}`.toLowerCase();
  const fitting = tools.filter((tool) => !CHANGES.test(tool.name) && sharesWords(tool, text));
  if (fitting.length > 0) return fitting.slice(0, 2).map(fill);
  return choice === "required" ? [fill(tools.find(({ name }) => !CHANGES.test(name)) ?? tools[0]!)] : [];
}

function sharesWords(tool: Tool, text: string): boolean {
  const words = `${tool.name} ${tool.description}`.toLowerCase().match(/[a-z]{4,}/g) ?? [];
  return words.some(
    (word) => !["with", "from", "this", "that", "tool", "text"].includes(word) && text.includes(word),
  );
}

function argsFor(tool: Tool, prompt: Prompt): JsonObject {
  const made = instanceOf({ type: "object", ...tool.parameters }, (_key, schema) =>
    schema.type === "string" ? prompt.topic : undefined,
  );
  return made !== null && typeof made === "object" && !Array.isArray(made) ? made : {};
}
