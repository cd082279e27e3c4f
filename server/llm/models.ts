import "server-only";
import type { Usage } from "@/server/domain/agent/outcome";
import type { LlmConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { OFFLINE, type Price, type Provider, type Providers } from "@/server/domain/model/provider";
import { providerFetch } from "@/server/egress/fetch";
import { AdaptiveCalls, SHORTEST_CAP } from "./capabilities/adaptive-calls";
import { type Estimate, newBudgets, THOUGHTFUL_ANSWER, USUAL_ANSWER } from "./limits/budget";
import { cheaperThan } from "./limits/cheaper";
import { contextWindowOf, knownContextWindow } from "./limits/context-window";
import { type Gates, newGates } from "./limits/gates";
import { costOf, isPriceKnown } from "./limits/prices";
import type { RateLimiter } from "./limits/rate-limit";
import { isAskedToThink, isThinkingModel, timeLimits } from "./limits/time-limits";
import { newTokenRatios } from "./limits/token-ratio";
import {
  type FailedCost,
  type ModelAnswer,
  ModelError,
  type ModelIo,
  type ModelRequest,
  type Models,
} from "./model";
import { newOfflineFetch } from "./offline";
import { cancelled } from "./openai/errors";
import { CallFailed } from "./openai/openai";
import type { RawAnswer } from "./openai/openai-call";
import type { TransportLimits } from "./openai/transport";
import { usageOf } from "./openai/usage";

/** The minimum time without calls after a rate limit error. */
const SHORTEST_COOL_DOWN_MS = 1_000;
const LONGEST_COOL_DOWN_MS = 60_000;
const BUSY_QUEUE = 1_000;

export interface ModelsOptions {
  providers: Providers;
  /** Opens the connections; the offline model never uses it. */
  fetch?: typeof fetch;
  offlineFetch?: typeof fetch;
  limits?: Partial<TransportLimits>;
  /** Absent: this process has its providers to itself. */
  gates?: Gates;
  /** Unix time in milliseconds. */
  now?: () => number;
}

/** Model calls over the configured providers: queues, budgets, prices, and what was learned about each model. */
export function newModels(options: ModelsOptions): Models {
  const models = new ProviderModels(options);
  return {
    complete: (request, io) => models.complete(request, io),
    describe: (config) => models.describe(config),
    cheaperThan: (config) => cheaperThan(options.providers, config),
    priceOf: (config, usage) => models.priceOf(config, usage),
  };
}

type Paid = Pick<ModelAnswer, "usage" | "cost_usd">;

/** A request with what its call needs. */
interface PlannedCall {
  request: ModelRequest;
  provider: Provider;
  priced: PricedProvider;
  model: string;
  /** The text that the model reads, and its length in tokens. */
  prompt: string;
  input_tokens: number;
  estimate: Estimate;
  limits: TransportLimits;
  /** The most that the budget leaves for the answer, in tokens. */
  max_tokens?: number | undefined;
  /** Set when the call has ended. */
  paid?: Paid | undefined;
}

class ProviderModels {
  private readonly providers: Providers;
  private readonly fetch: typeof fetch;
  private readonly offlineFetch: typeof fetch;
  private readonly gates: Gates;
  private readonly calls: AdaptiveCalls;
  private readonly budgets = newBudgets();
  private readonly ratios = newTokenRatios();
  /** Models that have been seen to think before they answer; losing this with the process does no harm. */
  private readonly thinkers = new Set<string>();

  constructor(private readonly options: ModelsOptions) {
    this.providers = options.providers;
    this.fetch = options.fetch ?? providerFetch;
    this.offlineFetch = options.offlineFetch ?? newOfflineFetch();
    this.gates = options.gates ?? newGates();
    this.calls = new AdaptiveCalls(options.providers, options.now ?? Date.now);
  }

  async complete(request: ModelRequest, io: ModelIo): Promise<ModelAnswer> {
    if (io.signal.aborted) throw cancelled();
    const call = this.planCall(request);
    const reservation = await asCancelled(
      this.budgets.reserve(request.run_id, request.budget, call.estimate, io.signal),
      io.signal,
    );
    call.max_tokens = reservation.max_tokens;
    try {
      return await this.callInTurn(call, io);
    } finally {
      reservation.settle({
        tokens: call.paid ? tokensOf(call.paid) : 0,
        cost_usd: call.paid?.cost_usd ?? 0,
      });
    }
  }

  describe(config: LlmConfig = {}) {
    const found = this.find(config);
    if (!found) return null;
    const { provider, model } = found;
    return {
      provider_id: provider.id,
      name: provider.name,
      model,
      simulated: provider.simulated,
      price_known: isPriceKnown(this.priced(provider, model), model),
      context_window: this.windowOf(provider, model),
    };
  }

  priceOf(config: LlmConfig, usage: Pick<Usage, "input_tokens" | "output_tokens">) {
    const found = this.find(config);
    if (!found) return null;
    const { provider, model } = found;
    return costOf(this.priced(provider, model), model, { ...usage, cached_input_tokens: 0 }).cost_usd;
  }

  private find(config: LlmConfig): { provider: Provider; model: string } | null {
    const provider = providerOf(this.providers, config);
    return provider ? { provider, model: config.model || provider.default_model } : null;
  }

  private priced(provider: Provider, model: string): PricedProvider {
    return { ...provider, listPrice: this.providers.reported(provider.id, model).price };
  }

  private windowOf(provider: Provider, model: string): number {
    const known = this.providers.find(provider.id) ?? provider;
    return contextWindowOf(known, model, this.providers.reported(provider.id, model));
  }

  private countOf(provider: Provider, model: string) {
    return (text: string) => this.ratios.tokens(provider.id, model, text);
  }

  private planCall(request: ModelRequest): PlannedCall {
    const { providers } = this;
    const { provider, model } = readable("The model providers", "Check them", () =>
      choose(providers, request.llm_config),
    );
    if (provider.is_damaged) throw damaged(`The settings of ${provider.name}`, "Open and save them again");
    const thinks =
      this.thinkers.has(keyOfModel(provider, model)) ||
      isAskedToThink(request.llm_config) ||
      isThinkingModel(model);
    const limits = timeLimits(provider, model, request.llm_config, { own: this.options.limits, thinks });
    const prompt = promptText(request);
    const priced = this.priced(provider, model);
    const input_tokens = this.ratios.tokens(provider.id, model, prompt);
    const known = providers.find(provider.id) ?? provider;
    const window = knownContextWindow(known, model, providers.reported(provider.id, model));
    const room = (window ?? Number.POSITIVE_INFINITY) - input_tokens;
    const estimate = estimateOf(request, priced, model, {
      input_tokens,
      // Services reject a limit that exceeds the model's window.
      usual_tokens: Math.min(thinks ? THOUGHTFUL_ANSWER : USUAL_ANSWER, Math.max(room, SHORTEST_CAP)),
    });
    return { request, provider, priced, model, prompt, input_tokens, estimate, limits };
  }

  /** Waits for the provider's gate, then calls it. Throws a ModelError with what the failed call cost. */
  private async callInTurn(call: PlannedCall, io: ModelIo): Promise<ModelAnswer> {
    const { provider, estimate, input_tokens } = call;
    const gate = this.gates.of(provider);
    if (gate.waiting >= BUSY_QUEUE) throw tooBusy(provider);
    const guessed = input_tokens + (call.max_tokens ?? estimate.max_tokens ?? estimate.usual_tokens);
    const leave = await asCancelled(gate.enter(io.signal, guessed, io.begunAt), io.signal);
    const lost = this.gates.lost?.(provider);
    try {
      return await this.send(call, lost ? until(lost, io) : io);
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error;
      coolDown(gate, error.failure);
      const cost = this.costOfFailure(error, call);
      call.paid = cost;
      const failure = lost?.aborted && !io.signal.aborted ? outOfTouch(provider) : error.failure;
      throw cost ? failure.costing(cost) : failure;
    } finally {
      leave(call.paid && tokensOf(call.paid));
    }
  }

  private async send(call: PlannedCall, io: ModelIo): Promise<ModelAnswer> {
    const { providers, ratios } = this;
    const { request, provider, priced, model, prompt, estimate, limits, max_tokens, input_tokens } = call;
    const started = performance.now();
    const isReal = provider.kind !== "offline";
    const raw = await this.calls.call(
      {
        provider,
        key: isReal ? opened(provider, () => providers.keyOf(provider.id)) : null,
        headers: isReal ? opened(provider, () => providers.headersOf(provider.id)) : {},
        model,
        request,
        fetch: isReal ? this.fetch : this.offlineFetch,
        limits,
        ...defined({ max_tokens }),
      },
      io,
      input_tokens,
    );
    const usage = usageOf(raw.taken, prompt, this.countOf(provider, model));
    const latency_ms = Math.round(performance.now() - started);
    const answer = toAnswer(raw, priced, model, { usage, latency_ms });
    call.paid = answer;
    if (usage.reasoning_tokens > 0) this.thinkers.add(keyOfModel(provider, model));
    if (!usage.estimated) ratios.observe(provider.id, model, prompt, usage.input_tokens);
    return {
      ...answer,
      ...defined({ capped_at: estimate.max_tokens === undefined ? max_tokens : undefined }),
      reads: { context_window: this.windowOf(provider, model), token_ratio: ratios.of(provider.id, model) },
    };
  }

  /** Undefined if the service did nothing for the call. */
  private costOfFailure(
    { taken, failure, refusal }: CallFailed,
    { provider, priced, model, prompt }: PlannedCall,
  ): FailedCost | undefined {
    const { code } = failure.error;
    // A refusal inside of a 200 came before the model was asked, unless it is about what the model wrote.
    const isRejected = refusal !== undefined && code !== "CONTENT_FILTER" && code !== "OUTPUT_INVALID";
    const isAnswering = taken.isAccepted && code !== "CONFIG" && !isRejected;
    if (taken.usage === undefined && !isAnswering && taken.written + taken.reasoning === "") return undefined;
    const usage = usageOf(taken, prompt, this.countOf(provider, model));
    return {
      usage,
      ...costOf(priced, model, usage, taken.usage?.cost),
      provider: provider.name,
      model,
      simulated: provider.simulated,
    };
  }
}

const tokensOf = ({ usage }: Paid): number => usage.input_tokens + usage.output_tokens;

const providerOf = (providers: Providers, { provider_id }: LlmConfig) =>
  provider_id ? providers.find(provider_id) : providers.findDefault();

const keyOfModel = (provider: Provider, model: string) => `${provider.id}\n${model}`;

/** The provider and the model that a call means. */
function choose(providers: Providers, config: LlmConfig): { provider: Provider; model: string } {
  const provider = providerOf(providers, config);
  if (!provider)
    throw new ModelError({
      code: "CONFIG",
      message: config.provider_id
        ? "The chosen model provider no longer exists. Choose another."
        : "There is no model provider. Add one in Settings.",
      retryable: false,
      user_action: "settings",
    });
  // The demo model answers under any name, but it says which one it is.
  const model = provider.kind === "offline" ? OFFLINE.model : config.model || provider.default_model;
  if (!model)
    throw new ModelError({
      code: "CONFIG",
      message: `No model is set for ${provider.name}. Choose one in Settings.`,
      retryable: false,
      user_action: "settings",
    });
  return { provider, model };
}

/** A provider's decrypted key or headers. */
const opened = <T>(provider: Provider, open: () => T): T =>
  readable(`The saved key or headers of ${provider.name}`, "Enter them again", open);

/** What was read. Throws a ModelError that says what to do `in the settings` if the data is damaged. */
function readable<T>(what: string, toDo: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof ModelError ? error : damaged(what, toDo);
  }
}

/** Like a rejected key, so that a fallback model of another provider is tried. */
const damaged = (what: string, toDo: string) =>
  new ModelError(
    {
      code: "AUTH",
      message: `${what} can't be read. ${toDo} in Settings.`,
      retryable: false,
      user_action: "settings",
    },
    undefined,
    undefined,
    { isDamage: true },
  );

type PricedProvider = Provider & { listPrice: Price | undefined };

function estimateOf(
  request: ModelRequest,
  provider: PricedProvider,
  model: string,
  tokens: Pick<Estimate, "input_tokens" | "usual_tokens">,
): Estimate {
  return {
    ...tokens,
    max_tokens: request.llm_config.max_tokens,
    price: (input_tokens, output_tokens) =>
      costOf(provider, model, { input_tokens, output_tokens, cached_input_tokens: 0 }).cost_usd,
    model,
  };
}

/** The text that the model reads. */
function promptText({ messages, response, tools }: ModelRequest): string {
  const texts = messages.map(({ content, tool_calls }) =>
    tool_calls?.length ? `${content}\n${JSON.stringify(tool_calls)}` : content,
  );
  return [...texts, response && JSON.stringify(response.schema), tools?.length && JSON.stringify(tools)]
    .filter(Boolean)
    .join("\n");
}

function toAnswer(
  raw: RawAnswer,
  provider: PricedProvider,
  model: string,
  { usage, latency_ms }: { usage: Usage; latency_ms: number },
): ModelAnswer {
  const { reasoning, carried, refusal, tool_calls, tool_protocol } = raw;
  return {
    content: raw.content,
    ...defined({ reasoning, carried, refusal, tool_calls, tool_protocol }),
    finish_reason: raw.finish_reason,
    provider: provider.name,
    provider_id: provider.id,
    model,
    simulated: provider.simulated,
    usage,
    ...defined({ notes: raw.notes.length > 0 ? raw.notes : undefined }),
    ...costOf(provider, model, usage, raw.taken.usage?.cost),
    latency_ms,
    ttft_ms: raw.ttft_ms,
    response_format: raw.response_format,
  };
}

/** A rate limit error applies to all callers: no call reaches this provider for a while. */
function coolDown(gate: RateLimiter, error: ModelError) {
  if (error.error.code !== "RATE_LIMIT") return;
  const wait = error.retry_after_ms ?? SHORTEST_COOL_DOWN_MS;
  if (wait <= LONGEST_COOL_DOWN_MS) gate.coolDown(Date.now() + wait);
}

function tooBusy(provider: Provider): ModelError {
  return new ModelError({
    code: "RATE_LIMIT",
    message: `More than ${BUSY_QUEUE} calls are waiting for ${provider.name}.`,
    retryable: true,
    user_action: "retry",
  });
}

/** The same call, also aborted by the signal. */
const until = (signal: AbortSignal, io: ModelIo): ModelIo => ({
  signal: AbortSignal.any([io.signal, signal]),
  delta: (...piece) => io.delta(...piece),
});

/** Retryable: the next attempt waits until the server is back. */
function outOfTouch(provider: Provider): ModelError {
  return new ModelError({
    code: "RATE_LIMIT",
    message: `The call to ${provider.name} was aborted: this worker was disconnected from the server for too long to know about other calls.`,
    retryable: true,
    user_action: "retry",
  });
}

/** Turns the rejection of an aborted wait into our own error. */
async function asCancelled<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    if (signal.aborted && !(error instanceof ModelError)) throw cancelled();
    throw error;
  }
}
