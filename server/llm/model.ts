import type { RunError, Usage } from "@/server/domain/agent/outcome";
import type { LlmConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { asJson } from "@/server/domain/base/json";
import { namedError } from "@/server/domain/base/named-error";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import type { ChatMessage } from "@/server/domain/run/events";
import type { ToolCall, ToolProtocol } from "@/server/domain/tool/tool";

/** A tool as described to a model. */
export interface ToolOffer {
  name: string;
  description: string;
  parameters: JsonSchema;
}

/** One model call, ready to send. */
export interface ModelRequest {
  llm_config: LlmConfig;
  messages: readonly ChatMessage[];
  /** The schema that the answer must match; absent for free text. Schemas are objects at the root. */
  response?: { name: string; schema: JsonSchema };
  /** What the model may call. Names are as people see them; the wire may need others. */
  tools?: readonly ToolOffer[];
  /** How to offer them; "auto": by functions where the model knows them, else by text. */
  tool_protocol?: ToolProtocol | "auto";
  call_id: string;
  /** Groups calls for budgets. */
  run_id: string;
  budget?: BudgetCheck;
}

/** What the run may spend and has spent; checked before the call goes out. Costs in US dollars. */
export interface BudgetCheck {
  max_cost_usd: number | null;
  max_total_tokens: number | null;
  spent_cost_usd: number;
  spent_tokens: number;
  mode: "hard" | "soft";
}

export interface ModelIo {
  signal: AbortSignal;
  /** When it was first requested, in Unix milliseconds: calls requested later queue behind it. Absent: now. */
  begunAt?: number;
  /** Streamed text; `offset` counts characters of this channel sent before. */
  delta(channel: "content" | "reasoning" | "tool_args", offset: number, text: string): void;
}

export interface ModelAnswer {
  content: string;
  reasoning?: string;
  /** What the service needs back with this message, if anything. */
  carried?: JsonObject;
  refusal?: string;
  /** The model's calls, in order, with the names in the request; absent or empty: it answered. */
  tool_calls?: ToolCall[];
  /** How the tools were offered; absent if there were none. */
  tool_protocol?: ToolProtocol;
  /** stop | length | tool_calls, whatever the service calls it. */
  finish_reason: string;
  /** What people should know of this answer, a sentence each, such as settings that were left out; absent: nothing. */
  notes?: string[];
  provider: string;
  provider_id: string;
  model: string;
  simulated: boolean;
  usage: Usage;
  /** US dollars; null if the price is unknown, which is not zero. */
  cost_usd: number | null;
  cost_source: "provider" | "override" | "price_table" | "local" | "simulated" | "unknown";
  latency_ms: number;
  ttft_ms: number | null;
  response_format: "json_schema" | "json_object" | "prompt" | "text";
  /** Tokens that the budget left for the answer, if no other limit was set; absent: the budget didn't limit it. */
  capped_at?: number;
  /** The model's context size, for keeping a conversation short enough. */
  reads?: Reads;
}

/** What a call without an answer cost. */
export type FailedCost = Pick<
  ModelAnswer,
  "usage" | "cost_usd" | "cost_source" | "provider" | "model" | "simulated"
>;

export interface Reads {
  /** Tokens that a prompt and its answer may have together. */
  context_window: number;
  /** Real tokens per estimated token, at four bytes each. */
  token_ratio: number;
}

/** A failed model call, classified. Callers decide about retries; `retry_after_ms` is what the server asks for. */
export class ModelError extends namedError("ModelError") {
  constructor(
    readonly error: RunError,
    readonly http_status?: number,
    readonly retry_after_ms?: number,
    readonly more: {
      /** How often a call may fail in this way; undefined: as often as any other. */
      tries?: number;
      /** Undefined if it cost nothing. */
      cost?: FailedCost;
      /** Stored data of the provider can't be read: a run waits for its repair instead of failing. */
      isDamage?: boolean;
    } = {},
  ) {
    super(error.message);
  }
  /** The same failure, with what it cost. */
  costing(cost: FailedCost): ModelError {
    return new ModelError(this.error, this.http_status, this.retry_after_ms, { ...this.more, cost });
  }
  toDetail(): Json {
    const { tries, cost } = this.more;
    return {
      error: asJson(this.error),
      ...defined({
        http_status: this.http_status,
        retry_after_ms: this.retry_after_ms,
        tries,
        cost: cost === undefined ? undefined : asJson(cost),
      }),
    };
  }
}

/** The models that runs may call. One attempt per call: no hidden retries. */
export interface Models {
  /** Throws ModelError. Resolves only with a complete answer. */
  complete(request: ModelRequest, io: ModelIo): Promise<ModelAnswer>;
  /** What the settings currently point to, as text for people; null if nothing is configured. */
  describe(config?: LlmConfig): {
    provider_id: string;
    name: string;
    model: string;
    simulated: boolean;
    price_known: boolean;
    /** Tokens; absent: not known. */
    context_window?: number;
  } | null;
  /**
   * A model of this installation with a lower known price than that one, its own fallbacks first; null if none is known
   * to be cheaper. A model of unknown price never counts as cheaper.
   */
  cheaperThan?(config: LlmConfig): { provider_id: string; model: string; name: string } | null;
  /** What this many tokens of a model cost at today's prices, in US dollars; null if unknown. */
  priceOf?(config: LlmConfig, usage: Pick<Usage, "input_tokens" | "output_tokens">): number | null;
}
