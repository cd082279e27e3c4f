import { defined } from "@/server/domain/base/defined";
import { currentCapability, withLesson } from "@/server/domain/model/lessons";
import type { Capability, Providers } from "@/server/domain/model/provider";
import { windowInRefusal } from "../limits/context-window";
import type { ModelIo } from "../model";
import { CONTEXT } from "../openai/errors";
import { CallFailed, callOnce } from "../openai/openai";
import type { ProviderCall, RawAnswer } from "../openai/openai-call";
import { chosenProtocol, protocolFor, rungFor } from "../openai/openai-request";
import { type Asked, adapt } from "./adapt";

/** How often one call may be adapted and repeated after the server rejected a part of it. */
const MAX_ADAPTATIONS = 6;
const MOST_BLANKED = 1_000;
/** The shortest useful limit of an answer, in tokens. */
export const SHORTEST_CAP = 256;

type UnadaptedCall = Omit<Parameters<typeof callOnce>[0], "capability">;

/** Calls that adapt to what a model's server supports, and remember it. */
export class AdaptiveCalls {
  /** Turns whose last answer in JSON mode was blank: the next attempt asks for JSON in the prompt. */
  private readonly blanked = new Set<string>();

  constructor(
    private readonly providers: Providers,
    /** Unix time in milliseconds. */
    private readonly now: () => number,
  ) {}

  /** Calls the model, and again with an adapted request if the server doesn't support a part of it. */
  async call(call: UnadaptedCall, io: ModelIo, inputTokens: number): Promise<RawAnswer> {
    const { providers, now } = this;
    const { provider, model } = call;
    let { max_tokens } = call;
    let learned = currentCapability(this.stored(call), now());
    for (let adaptations = 0; ; adaptations++) {
      const capability = this.capabilityFor(call, learned);
      try {
        return await callOnce({ ...call, ...defined({ max_tokens }), capability }, io);
      } catch (error) {
        if (!(error instanceof CallFailed)) throw error;
        const { refusal, taken } = error;
        if (!refusal) {
          this.noteBlank(call, error, capability);
          throw error;
        }
        // What was shown of an answer cannot be taken back.
        const mayRepeat = adaptations < MAX_ADAPTATIONS && taken.written + taken.reasoning === "";
        const isOwnCap = call.request.llm_config.max_tokens !== undefined;
        const smaller =
          max_tokens !== undefined && !isOwnCap && mayRepeat
            ? smallerCap(refusal.message, max_tokens, inputTokens)
            : undefined;
        if (smaller !== undefined) {
          max_tokens = smaller;
          continue;
        }
        const next = mayRepeat ? adapt(refusal, capability, askedBy(call, capability)) : null;
        if (!next) {
          this.noteWindow(call, error, refusal.message);
          throw error;
        }
        learned = withLesson(learned, next.learned, now());
        if (next.remember)
          providers.observe(provider.id, model, withLesson(this.stored(call), next.learned, now()));
      }
    }
  }

  private stored({ provider, model }: UnadaptedCall): Capability {
    return this.providers.find(provider.id)?.settings.capabilities?.[model] ?? {};
  }

  /** What was learned takes precedence over what the service reports. */
  private capabilityFor(call: UnadaptedCall, learned: Capability): Capability {
    const { native_tools, response_format } = this.providers.reported(call.provider.id, call.model);
    return {
      ...defined({ native_tools, response_format }),
      ...learned,
      ...(this.blanked.has(turnOf(call)) ? { response_format: "prompt" } : {}),
    };
  }

  private noteBlank(call: UnadaptedCall, { failure, taken }: CallFailed, capability: Capability): void {
    const isBlank = failure.error.code === "OUTPUT_INVALID" && taken.written.trim() === "";
    if (!isBlank || (askedBy(call, capability).rung ?? "prompt") === "prompt") return;
    if (this.blanked.size >= MOST_BLANKED) this.blanked.clear();
    this.blanked.add(turnOf(call));
  }

  private noteWindow(call: UnadaptedCall, { failure }: CallFailed, message: string): void {
    const context_window = windowInRefusal(message);
    if (failure.error.code === "CONTEXT_OVERFLOW" && context_window !== undefined)
      this.providers.observe(call.provider.id, call.model, { ...this.stored(call), context_window });
  }
}

/** Identifies the turn of a call: all of its attempts have the same. */
const turnOf = ({ request }: UnadaptedCall): string =>
  `${request.run_id} ${request.call_id.replace(/\/call\d{1,3}$/, "")}`;

/** The parts of a request that a refusal may be about. */
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

/** The tokens that a refusal of a limit of `cap` tokens leaves for the answer; undefined if it is about something else. */
function smallerCap(message: string, cap: number, inputTokens: number): number | undefined {
  const window = CONTEXT.test(message) ? windowInRefusal(message) : undefined;
  const named = /max\w{0,20}_tokens|completion tokens/i.test(message)
    ? [...message.matchAll(/\d{3,7}/g)].map(([digits]) => Number(digits)).filter((tokens) => tokens < cap)
    : [];
  // The prompt's token count is an estimate.
  const left = window === undefined ? Math.max(...named) : Math.floor(window - inputTokens * 1.1 - 16);
  return left >= SHORTEST_CAP && left < cap ? left : undefined;
}
