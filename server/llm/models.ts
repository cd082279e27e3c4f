import "server-only";
import type { Usage } from "@/server/domain/agent/outcome";
import type { LlmConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { currentCapability, withLesson } from "@/server/domain/model/lessons";
import {
  type Capability,
  OFFLINE,
  type Price,
  type Provider,
  type Providers,
} from "@/server/domain/model/provider";
import { providerFetch } from "@/server/egress/fetch";
import { type Asked, adapt } from "./capabilities/adapt";
import { type Estimate, newBudgets, THOUGHTFUL_ANSWER, USUAL_ANSWER } from "./limits/budget";
import { cheaperThan } from "./limits/cheaper";
import { contextWindowOf, knownContextWindow, windowInRefusal } from "./limits/context-window";
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
import { CONTEXT, cancelled } from "./openai/errors";
import { CallFailed, callOnce } from "./openai/openai";
import type { ProviderCall, RawAnswer } from "./openai/openai-call";
import { chosenProtocol, protocolFor, rungFor } from "./openai/openai-request";
import type { TransportLimits } from "./openai/transport";
import { usageOf } from "./openai/usage";

/** How often one call may be adapted and repeated after the server rejected a part of it. */
const MAX_ADAPTATIONS = 6;
/** The minimum time without calls after a rate limit error. */
const SHORTEST_COOL_DOWN_MS = 1_000;
const LONGEST_COOL_DOWN_MS = 60_000;
const BUSY_QUEUE = 1_000;
const MOST_BLANKED = 1_000;
/** A shorter answer would be of no use. */
const SHORTEST_CAP = 256;

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
  const { providers, fetch = providerFetch, now = Date.now } = options;
  const offlineFetch = options.offlineFetch ?? newOfflineFetch();
  const gates = options.gates ?? newGates();
  const budgets = newBudgets();
  const ratios = newTokenRatios();
  /** Models that were seen to think before they answer; nothing is lost with the process. */
  const thinkers = new Set<string>();
  /** Turns whose last answer in JSON mode was blank: the next try asks for JSON in the prompt. */
  const blanked = new Set<string>();

  const countOf = (provider: Provider, model: string) => (text: string) =>
    ratios.tokens(provider.id, model, text);
  const windowOf = (provider: Provider, model: string) =>
    contextWindowOf(providers.find(provider.id) ?? provider, model, providers.reported(provider.id, model));

  return {
    async complete(request, io) {
      if (io.signal.aborted) throw cancelled();
      const { provider, model } = readable("The model providers", "Look at them", () =>
        choose(providers, request.llm_config),
      );
      if (provider.is_damaged) throw damaged(`The settings of ${provider.name}`, "Open and save them again");
      const fetcher = provider.kind === "offline" ? offlineFetch : fetch;
      const thinks =
        thinkers.has(keyOfModel(provider, model)) ||
        isAskedToThink(request.llm_config) ||
        isThinkingModel(model);
      const limits = timeLimits(provider, model, request.llm_config, { own: options.limits, thinks });
      const prompt = promptText(request);
      const priced = { ...provider, listPrice: providers.reported(provider.id, model).price };
      const input_tokens = ratios.tokens(provider.id, model, prompt);
      const known = providers.find(provider.id) ?? provider;
      const window = knownContextWindow(known, model, providers.reported(provider.id, model));
      const room = (window ?? Number.POSITIVE_INFINITY) - input_tokens;
      const estimate = estimateOf(request, priced, model, {
        input_tokens,
        // Services refuse a limit that goes beyond what they can hold.
        usual_tokens: Math.min(thinks ? THOUGHTFUL_ANSWER : USUAL_ANSWER, Math.max(room, SHORTEST_CAP)),
      });
      const reservation = await asCancelled(
        budgets.reserve(request.run_id, request.budget, estimate, io.signal),
        io.signal,
      );
      let used: Pick<ModelAnswer, "usage" | "cost_usd"> | undefined;
      try {
        const gate = gates.of(provider);
        if (gate.waiting >= BUSY_QUEUE) throw tooBusy(provider);
        const guessed =
          input_tokens + (reservation.max_tokens ?? estimate.max_tokens ?? estimate.usual_tokens);
        const leave = await asCancelled(gate.enter(io.signal, guessed, io.begunAt), io.signal);
        const started = performance.now();
        const lost = gates.lost?.(provider);
        try {
          const isReal = provider.kind !== "offline";
          const key = isReal ? opened(provider, () => providers.keyOf(provider.id)) : null;
          const headers = isReal ? opened(provider, () => providers.headersOf(provider.id)) : {};
          const raw = await ask(
            {
              provider,
              key,
              headers,
              model,
              request,
              fetch: fetcher,
              limits,
              ...defined({ max_tokens: reservation.max_tokens }),
            },
            lost ? until(lost, io) : io,
            input_tokens,
          );
          const usage = usageOf(raw.taken, prompt, countOf(provider, model));
          const answer = toAnswer(raw, priced, model, {
            usage,
            latency_ms: Math.round(performance.now() - started),
          });
          used = answer;
          if (usage.reasoning_tokens > 0) thinkers.add(keyOfModel(provider, model));
          if (!usage.estimated) ratios.observe(provider.id, model, prompt, usage.input_tokens);
          return {
            ...answer,
            ...(estimate.max_tokens === undefined && reservation.max_tokens !== undefined
              ? { capped_at: reservation.max_tokens }
              : {}),
            reads: { context_window: windowOf(provider, model), token_ratio: ratios.of(provider.id, model) },
          };
        } catch (error) {
          if (!(error instanceof CallFailed)) throw error;
          coolDown(gate, error.failure);
          const cost = costOfFailure(error, priced, model, prompt);
          used = cost;
          const failure = lost?.aborted && !io.signal.aborted ? outOfTouch(provider) : error.failure;
          throw cost ? failure.costing(cost) : failure;
        } finally {
          leave(used && used.usage.input_tokens + used.usage.output_tokens);
        }
      } finally {
        reservation.settle({
          tokens: (used?.usage.input_tokens ?? 0) + (used?.usage.output_tokens ?? 0),
          cost_usd: used?.cost_usd ?? 0,
        });
      }
    },

    describe(config = {}) {
      const provider = config.provider_id ? providers.find(config.provider_id) : providers.findDefault();
      if (!provider) return null;
      const model = config.model || provider.default_model;
      return {
        provider_id: provider.id,
        name: provider.name,
        model,
        simulated: provider.simulated,
        price_known: isPriceKnown(
          { ...provider, listPrice: providers.reported(provider.id, model).price },
          model,
        ),
        context_window: windowOf(provider, model),
      };
    },

    priceOf(config, usage) {
      const provider = config.provider_id ? providers.find(config.provider_id) : providers.findDefault();
      if (!provider) return null;
      const model = config.model || provider.default_model;
      const priced = { ...provider, listPrice: providers.reported(provider.id, model).price };
      return costOf(priced, model, { ...usage, cached_input_tokens: 0 }).cost_usd;
    },

    cheaperThan: (config) => cheaperThan(providers, config),
  };

  /** Undefined where the service did nothing for it. */
  function costOfFailure(
    { taken, failure, refusal }: CallFailed,
    provider: PricedProvider,
    model: string,
    prompt: string,
  ): FailedCost | undefined {
    const { code } = failure.error;
    // Who refuses inside of a 200 did not ask the model, unless the refusal is about what that wrote.
    const isRejected = refusal !== undefined && code !== "CONTENT_FILTER" && code !== "OUTPUT_INVALID";
    const isAnswering = taken.isAccepted && code !== "CONFIG" && !isRejected;
    if (taken.usage === undefined && !isAnswering && taken.written + taken.reasoning === "") return undefined;
    const usage = usageOf(taken, prompt, countOf(provider, model));
    return {
      usage,
      ...costOf(provider, model, usage, taken.usage?.cost),
      provider: provider.name,
      model,
      simulated: provider.simulated,
    };
  }

  /** Calls the model, and again with an adapted request if the server doesn't support a part of it. */
  async function ask(
    call: Omit<Parameters<typeof callOnce>[0], "capability">,
    io: ModelIo,
    inputTokens: number,
  ): Promise<RawAnswer> {
    const { provider, model } = call;
    let { max_tokens } = call;
    const stored = () => providers.find(provider.id)?.settings.capabilities?.[model] ?? {};
    let learned: Capability = currentCapability(stored(), now());
    const { native_tools, response_format } = providers.reported(provider.id, model);
    const turn = `${call.request.run_id} ${call.request.call_id.replace(/\/call\d{1,3}$/, "")}`;
    for (let adaptations = 0; ; adaptations++) {
      // What a model did counts more than what its service says of it.
      const capability: Capability = {
        ...defined({ native_tools, response_format }),
        ...learned,
        ...(blanked.has(turn) ? { response_format: "prompt" } : {}),
      };
      try {
        return await callOnce({ ...call, ...defined({ max_tokens }), capability }, io);
      } catch (error) {
        if (!(error instanceof CallFailed)) throw error;
        const { refusal } = error;
        if (!refusal) {
          const isBlank = error.failure.error.code === "OUTPUT_INVALID" && error.taken.written.trim() === "";
          if (isBlank && (askedBy(call, capability).rung ?? "prompt") !== "prompt") {
            if (blanked.size >= MOST_BLANKED) blanked.clear();
            blanked.add(turn);
          }
          throw error;
        }
        // What was shown of an answer cannot be taken back.
        const mayAskAnew =
          adaptations < MAX_ADAPTATIONS && error.taken.written + error.taken.reasoning === "";
        const smaller =
          max_tokens !== undefined && call.request.llm_config.max_tokens === undefined && mayAskAnew
            ? smallerCap(refusal.message, max_tokens, inputTokens)
            : undefined;
        if (smaller !== undefined) {
          max_tokens = smaller;
          continue;
        }
        const next = mayAskAnew ? adapt(refusal, capability, askedBy(call, capability)) : null;
        if (!next) {
          const context_window = windowInRefusal(refusal.message);
          if (error.failure.error.code === "CONTEXT_OVERFLOW" && context_window !== undefined)
            providers.observe(provider.id, model, { ...stored(), context_window });
          throw error;
        }
        learned = withLesson(learned, next.learned, now());
        if (next.remember) providers.observe(provider.id, model, withLesson(stored(), next.learned, now()));
      }
    }
  }
}

/** What of a request a refusal may be about. */
function askedBy(
  { provider, request }: Pick<ProviderCall, "provider" | "request">,
  capability: Capability,
): Asked {
  const { structured_output: shape = "auto", reasoning_effort } = request.llm_config;
  const offered = protocolFor({ request, capability, provider });
  return {
    rung:
      request.response && offered === null && shape === "auto"
        ? rungFor({ request, capability, provider })
        : null,
    hasFunctions: offered === "native",
    mayDropFunctions: offered === "native" && chosenProtocol({ request, provider }) === undefined,
    hasEffort: reasoning_effort !== undefined,
    mayChangeApi: provider.settings.api === undefined,
  };
}

const keyOfModel = (provider: Provider, model: string) => `${provider.id}\n${model}`;

/** The provider and the model that a call means. */
function choose(providers: Providers, config: LlmConfig): { provider: Provider; model: string } {
  const provider = config.provider_id ? providers.find(config.provider_id) : providers.findDefault();
  if (!provider)
    throw new ModelError({
      code: "CONFIG",
      message: config.provider_id
        ? "The model provider chosen here does not exist any more. Choose another."
        : "There is no model provider. Add one in the settings.",
      retryable: false,
      user_action: "settings",
    });
  // The demo model answers under any name, but it says which one it is.
  const model = provider.kind === "offline" ? OFFLINE.model : config.model || provider.default_model;
  if (!model)
    throw new ModelError({
      code: "CONFIG",
      message: `No model is chosen for ${provider.name}. Choose one in the settings.`,
      retryable: false,
      user_action: "settings",
    });
  return { provider, model };
}

/** What is kept sealed of a provider: its key, or its headers. */
const opened = <T>(provider: Provider, open: () => T): T =>
  readable(`The stored key or headers of ${provider.name}`, "Enter them again", open);

/** What the database gives. Throws a ModelError that says what to do `in the settings` where it cannot be read. */
function readable<T>(what: string, toDo: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof ModelError ? error : damaged(what, toDo);
  }
}

/** Like a key that is refused: a fallback model of another provider may do. */
const damaged = (what: string, toDo: string) =>
  new ModelError(
    {
      code: "AUTH",
      message: `${what} cannot be read. ${toDo} in the settings.`,
      retryable: false,
      user_action: "settings",
    },
    undefined,
    undefined,
    { isDamage: true },
  );

/** What a refusal of a limit of `cap` tokens leaves for the answer; undefined where it is about something else. */
function smallerCap(message: string, cap: number, inputTokens: number): number | undefined {
  const window = CONTEXT.test(message) ? windowInRefusal(message) : undefined;
  const named = /max\w{0,20}_tokens|completion tokens/i.test(message)
    ? [...message.matchAll(/\d{3,7}/g)].map(([digits]) => Number(digits)).filter((tokens) => tokens < cap)
    : [];
  // Our count of the prompt is a guess.
  const left = window === undefined ? Math.max(...named) : Math.floor(window - inputTokens * 1.1 - 16);
  return left >= SHORTEST_CAP && left < cap ? left : undefined;
}

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

/** All that a request makes the model read. */
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
    message: `More than ${BUSY_QUEUE} calls wait for ${provider.name}.`,
    retryable: true,
    user_action: "retry",
  });
}

/** The same call, which ends with that signal, too. */
const until = (signal: AbortSignal, io: ModelIo): ModelIo => ({
  signal: AbortSignal.any([io.signal, signal]),
  delta: (...piece) => io.delta(...piece),
});

/** Tried again, the call waits until the server is back. */
function outOfTouch(provider: Provider): ModelError {
  return new ModelError({
    code: "RATE_LIMIT",
    message: `The call of ${provider.name} was given up: this worker has not heard from the server for too long to know what others call.`,
    retryable: true,
    user_action: "retry",
  });
}

/** Waiting that was cancelled ends with our own error. */
async function asCancelled<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    if (signal.aborted && !(error instanceof ModelError)) throw cancelled();
    throw error;
  }
}
