import type { LlmConfig } from "@/server/domain/agent/role";
import type { Provider, Providers } from "@/server/domain/model/provider";
import { costOf } from "./prices";

interface Candidate {
  provider: Provider;
  model: string;
}

/** What a million tokens in and out cost, in US dollars. */
interface Rates {
  input: number;
  output: number;
}

/**
 * A model with a lower known price than the call's model: the first cheaper one of its fallbacks, else the cheapest
 * known to this installation: a provider's default model, or one with a price of its own. Null if none is known to be
 * cheaper. Simulated models cost nothing and are no alternative.
 */
export function cheaperThan(
  providers: Providers,
  config: LlmConfig,
): { provider_id: string; model: string; name: string } | null {
  const own = find(providers, config);
  const now = own && ratesOf(providers, own);
  if (!own || !now || own.provider.simulated) return null;
  const isCheaper = (one: Candidate) => {
    const rates = ratesOf(providers, one);
    return rates !== null && isLess(rates, now);
  };
  const fallback = (config.fallback_models ?? [])
    .flatMap((other) => find(providers, other) ?? [])
    .find((one) => !one.provider.simulated && isCheaper(one));
  const chosen = fallback ?? cheapest(providers, known(providers).filter(isCheaper));
  return chosen && { provider_id: chosen.provider.id, model: chosen.model, name: chosen.model };
}

function find(providers: Providers, { provider_id, model }: LlmConfig): Candidate | null {
  const provider = provider_id ? providers.find(provider_id) : providers.findDefault();
  return provider ? { provider, model: model || provider.default_model } : null;
}

/** The models of which this installation knows by name. */
const known = (providers: Providers): Candidate[] =>
  providers
    .list()
    .filter(({ simulated, is_damaged }) => !simulated && !is_damaged)
    .flatMap((provider) => {
      const priced = Object.keys(provider.settings.prices ?? {}).filter((name) => name !== "*");
      const names = new Set([provider.default_model, ...priced].filter(Boolean));
      return [...names].map((model) => ({ provider, model }));
    });

function ratesOf(providers: Providers, { provider, model }: Candidate): Rates | null {
  const priced = { ...provider, listPrice: providers.reported(provider.id, model).price };
  const cost = (input_tokens: number, output_tokens: number) =>
    costOf(priced, model, { input_tokens, output_tokens, cached_input_tokens: 0 }).cost_usd;
  const [input, output] = [cost(1_000_000, 0), cost(0, 1_000_000)];
  return input === null || output === null ? null : { input, output };
}

/** Neither what it reads nor what it writes costs more, and one of them costs less. */
const isLess = (a: Rates, b: Rates): boolean =>
  a.input <= b.input && a.output <= b.output && (a.input < b.input || a.output < b.output);

function cheapest(providers: Providers, from: readonly Candidate[]): Candidate | null {
  const sum = (one: Candidate) => {
    const rates = ratesOf(providers, one);
    return rates === null ? Number.POSITIVE_INFINITY : rates.input + rates.output;
  };
  return from.toSorted((a, b) => sum(a) - sum(b) || a.model.localeCompare(b.model))[0] ?? null;
}
