import { z } from "zod";
import { Usage } from "@/server/domain/agent/outcome";
import type { Json } from "@/server/domain/base/values";
import {
  ToolCallNeeded,
  type ToolOutput,
  ToolQuestion,
  ToolSpec,
  ToolStatus,
} from "@/server/domain/tool/tool";
import type { ModelAnswer } from "@/server/llm/model";
import { CallsStep } from "@/server/tools/sandbox/sandbox";

// The log's entry of a call: this run's answer, one of its original, or one of a cassette. A valid answer is passed on
// unchanged, so that a replay gets exactly the stored one. Each throws if it is invalid.

/** Whatever a run asks for again and again; what only some answers have is read where it is used. */
const Answer = z.looseObject({
  content: z.string(),
  finish_reason: z.string(),
  provider: z.string(),
  provider_id: z.string(),
  model: z.string(),
  simulated: z.boolean(),
  usage: Usage,
  cost_usd: z.number().nullable(),
  latency_ms: z.number(),
});
const isModelAnswer = (value: unknown): value is ModelAnswer => Answer.safeParse(value).success;

/** Its result may be any JSON, and large, so it isn't traversed. */
const Output = z.looseObject({
  status_code: ToolStatus,
  error: z.string().optional(),
  tainted: z.boolean().optional(),
  asks: ToolQuestion.optional(),
  needs: ToolCallNeeded.optional(),
});
const isToolOutput = (value: unknown): value is ToolOutput => Output.safeParse(value).success;

export function modelAnswerFrom(value: Json): ModelAnswer {
  if (isModelAnswer(value)) return value;
  throw new Error("The recorded answer of a model is invalid.");
}

export function toolOutputFrom(value: Json): ToolOutput {
  if (isToolOutput(value)) return value;
  throw new Error("The recorded output of a tool is invalid.");
}

/** The tools that an agent was granted at its start, and the names of all that there were. */
export const GrantedTools = z.object({ specs: z.array(ToolSpec), names: z.array(z.string()) });
export type GrantedTools = z.infer<typeof GrantedTools>;

/** How far a program came; null where no code was run. */
export const RanCode = CallsStep.nullable();
