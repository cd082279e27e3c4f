import type { Capability, Provider } from "@/server/domain/model/provider";
import type { ModelAnswer, ModelRequest } from "../model";
import type { TransportLimits } from "./transport";
import type { Counted } from "./usage";

/** A call's usage, as reported by the server, and the received parts of its answer. */
export interface Taken {
  /** The server accepted the request. */
  isAccepted: boolean;
  /** Undefined if the server didn't report it. */
  usage: Counted | undefined;
  /** Everything that the model wrote besides its thoughts. */
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
  /** The budget's limit on the answer, if any. */
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
  /** Notes for people, a sentence each. */
  notes: string[];
};
