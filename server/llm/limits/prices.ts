import { calcPrice, findProvider, type Provider as TableProvider } from "@pydantic/genai-prices";
import type { Usage } from "@/server/domain/agent/outcome";
import { isLocalServer, type Price, type Provider } from "@/server/domain/model/provider";
import type { ModelAnswer } from "../model";

export interface Cost {
  /** US dollars; null where the price is unknown. */
  cost_usd: number | null;
  cost_source: ModelAnswer["cost_source"];
}
type Priced = Pick<Provider, "kind" | "simulated" | "base_url" | "settings"> & {
  /** The price that the service names in its list. */
  listPrice?: Price | undefined;
};

/**
 * What a call cost. The cost that the provider reports comes first, then prices that a person entered, then those of
 * the service's own list, then the price table, then zero for models on local hardware; otherwise it is unknown, and
 * unknown is not zero.
 */
export function costOf(
  provider: Priced,
  model: string,
  usage: Pick<Usage, "input_tokens" | "output_tokens" | "cached_input_tokens">,
  reported?: number,
): Cost {
  if (provider.kind === "offline" || provider.simulated) return { cost_usd: 0, cost_source: "simulated" };
  if (reported !== undefined && Number.isFinite(reported) && reported >= 0)
    return { cost_usd: reported, cost_source: "provider" };
  const prices = provider.settings.prices ?? {};
  const own = Object.hasOwn(prices, model) ? prices[model] : prices["*"];
  if (own) return { cost_usd: byPrice(own, usage), cost_source: "override" };
  if (provider.settings.local === true) return { cost_usd: 0, cost_source: "local" };
  if (provider.listPrice) return { cost_usd: byPrice(provider.listPrice, usage), cost_source: "price_table" };
  const listed = byTable(provider.base_url, model, usage);
  if (listed !== null) return { cost_usd: listed, cost_source: "price_table" };
  if (provider.settings.local !== false && isLocalServer(provider.base_url))
    return { cost_usd: 0, cost_source: "local" };
  return { cost_usd: null, cost_source: "unknown" };
}

/** Whether the cost of a call can be said beforehand. */
export function isPriceKnown(provider: Priced, model: string): boolean {
  return (
    costOf(provider, model, { input_tokens: 1, output_tokens: 1, cached_input_tokens: 0 }).cost_usd !== null
  );
}

function byPrice(
  price: Price,
  usage: Pick<Usage, "input_tokens" | "output_tokens" | "cached_input_tokens">,
): number {
  const cached = Math.min(usage.cached_input_tokens, usage.input_tokens);
  const fresh = usage.input_tokens - cached;
  const cachedPrice = price.cached_input_per_mtok ?? price.input_per_mtok;
  // Tokens of reasoning are among the output tokens.
  return (
    (fresh * price.input_per_mtok + cached * cachedPrice + usage.output_tokens * price.output_per_mtok) / 1e6
  );
}

/** The bundled price table; it is never refreshed. Null if it has no entry for this address and model. */
function byTable(
  baseUrl: string,
  model: string,
  usage: Pick<Usage, "input_tokens" | "output_tokens" | "cached_input_tokens">,
): number | null {
  const known = tableFor(baseUrl, model);
  if (!known) return null;
  try {
    const price = calcPrice(
      {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cache_read_tokens: Math.min(usage.cached_input_tokens, usage.input_tokens),
      },
      model,
      { provider: known },
    );
    return price === null || !Number.isFinite(price.total_price) ? null : price.total_price;
  } catch {
    return null;
  }
}

/** How much a model reads by the bundled table, in tokens. */
export function listedContextWindow(baseUrl: string, model: string): number | undefined {
  return tableFor(baseUrl, model)?.models[0]?.context_window;
}

const tables = new Map<string, TableProvider | null>();

/** The price table's entry for an address, cut down to one model: looking through all of them takes a while. */
function tableFor(baseUrl: string, model: string): TableProvider | null {
  const key = `${baseUrl}\n${model}`;
  const known = tables.get(key);
  if (known !== undefined) return known;
  const provider = URL.canParse(baseUrl) ? findTable(new URL(baseUrl)) : null;
  const entry = provider && calcPrice({ input_tokens: 1, output_tokens: 1 }, model, { provider });
  if (tables.size > 500) tables.clear();
  const found = provider && entry ? { ...provider, models: [entry.model] } : null;
  tables.set(key, found);
  return found;
}

function findTable({ protocol, host, pathname }: URL): TableProvider | null {
  const address = `${protocol}//${host}${pathname}`;
  const found = findProvider({ providerApiUrl: address });
  // The table's patterns are not anchored at the end of the host name.
  return found && new RegExp(`^(?:${found.api_pattern})(?:[/:]|$)`).test(address) ? found : null;
}
