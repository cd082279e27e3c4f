import { defined } from "@/server/domain/base/defined";
import type { Json } from "@/server/domain/base/values";
import type { ToolCall } from "@/server/domain/tool/tool";
import type { ModelAnswer, ModelError, ModelIo, ModelRequest, Models } from "./model";
import { cancelled } from "./openai/errors";

/** One answer of a scripted model. */
export type ScriptedStep =
  | { text: string; matches?: RegExp; delayMs?: number; finish_reason?: string; reasoning?: string }
  | { json: Json; matches?: RegExp; delayMs?: number }
  | { refusal: string; matches?: RegExp; delayMs?: number }
  /** Calls tools, whether or not they are on offer. Calls without an id get `call_1`, `call_2` ... over all steps. */
  | { tool_calls: readonly ScriptedCall[]; text?: string; matches?: RegExp; delayMs?: number }
  | { error: ModelError; matches?: RegExp; delayMs?: number }
  /** Answers only once the call is cancelled. */
  | { hang: true; matches?: RegExp };

export type ScriptedCall = Pick<ToolCall, "tool_name"> & Partial<ToolCall>;

export interface ScriptedModels extends Models {
  /** Every request that came, in order. */
  readonly calls: ModelRequest[];
  /** Adds steps at the end. */
  add(...steps: ScriptedStep[]): void;
  /** Throws if steps are left over. */
  assertComplete(): void;
}

/** A model for tests: answers with the given steps in their order, and refuses any call beyond them. */
export function newScriptedModels(steps: readonly ScriptedStep[] = []): ScriptedModels {
  const queue = [...steps];
  const calls: ModelRequest[] = [];
  let called = 0;
  const withId = (call: ScriptedCall): ToolCall => ({ id: `call_${++called}`, args: {}, ...call });
  return {
    calls,
    add: (...more) => void queue.push(...more),
    assertComplete() {
      if (queue.length > 0)
        throw new Error(
          `${queue.length} scripted steps were never requested: ${JSON.stringify(queue[0])} ...`,
        );
    },
    describe: () => ({
      provider_id: "scripted",
      name: "Scripted",
      model: "scripted",
      simulated: true,
      price_known: true,
    }),
    async complete(request, io) {
      calls.push(structuredClone({ ...request }));
      const prompt = request.messages.map(({ content }) => content).join("\n");
      const at = queue.findIndex(({ matches }) => !matches || matches.test(prompt));
      const [step] = at < 0 ? [] : queue.splice(at, 1);
      if (!step) throw new Error(`Call ${calls.length} was not in the script: ${prompt.slice(-200)}`);
      await wait("hang" in step ? null : (step.delayMs ?? 0), io.signal);
      if ("error" in step) throw step.error;
      const toolCalls = "tool_calls" in step ? step.tool_calls.map(withId) : undefined;
      return answerOf(step, request, toolCalls, io);
    },
  };
}

function wait(ms: number | null, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(cancelled());
  if (ms === 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const timer = ms === null ? undefined : setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        reject(cancelled());
      },
      { once: true },
    );
  });
}

function answerOf(
  step: Exclude<ScriptedStep, { error: ModelError }>,
  request: ModelRequest,
  toolCalls: ToolCall[] | undefined,
  io: ModelIo,
): ModelAnswer {
  const content = "text" in step ? (step.text ?? "") : "json" in step ? JSON.stringify(step.json) : "";
  const reasoning = "reasoning" in step ? step.reasoning : undefined;
  if (reasoning) io.delta("reasoning", 0, reasoning);
  if (content) io.delta("content", 0, content);
  const written = toolCalls?.map(({ args }) => JSON.stringify(args)).join("") ?? "";
  if (written) io.delta("tool_args", 0, written);
  const asked = request.messages.reduce((sum, message) => sum + message.content.length, 0);
  return {
    content,
    ...defined({
      reasoning: reasoning || undefined,
      refusal: "refusal" in step ? step.refusal : undefined,
      tool_calls: toolCalls,
    }),
    ...(request.tools && { tool_protocol: request.tool_protocol === "text" ? "text" : "native" }),
    finish_reason:
      ("finish_reason" in step && step.finish_reason) || (toolCalls?.length ? "tool_calls" : "stop"),
    provider: "Scripted",
    provider_id: "scripted",
    model: "scripted",
    simulated: true,
    usage: {
      input_tokens: Math.ceil(asked / 4),
      output_tokens: Math.ceil((content.length + written.length) / 4),
      cached_input_tokens: 0,
      reasoning_tokens: 0,
      requests: 1,
      estimated: false,
    },
    cost_usd: 0,
    cost_source: "simulated",
    latency_ms: 0,
    ttft_ms: 0,
    response_format: "json" in step ? "json_schema" : "text",
  };
}
