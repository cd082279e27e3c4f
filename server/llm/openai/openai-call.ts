import type { Capability, Provider } from "@/server/domain/model/provider";
import type { ModelAnswer, ModelRequest } from "../model";
import type { TransportLimits } from "./transport";
import type { Counted } from "./usage";

/** What a call used, as far as the server told, and what came of its answer. */
export interface Taken {
  /** The server took the request. */
  isAccepted: boolean;
  /** Undefined where the server did not count. */
  usage: Counted | undefined;
  /** All that the model wrote besides its thoughts. */
  written: string;
  reasoning: string;
}

export interface ProviderCall {
  provider: Provider;
  key: string | null;
  /** The provider's own. */
  headers: Readonly<Record<string, string>>;
  model: string;
  request: ModelRequest;
  capability: Capability;
  /** A limit on the answer where the budget sets one. */
  max_tokens?: number;
  fetch: typeof fetch;
  limits: TransportLimits;
}

/** A complete answer from the server; its cost is computed elsewhere. */
export type RawAnswer = Pick<
  ModelAnswer,
  | "content"
  | "reasoning"
  | "carried"
  | "refusal"
  | "tool_calls"
  | "tool_protocol"
  | "finish_reason"
  | "ttft_ms"
  | "response_format"
> & {
  taken: Taken;
  /** What people should know of it, a sentence each. */
  notes: string[];
};
