import { concurrencyOf, type Provider } from "@/server/domain/model/provider";
import { newRateLimiter, type Rate, type RateLimiter } from "./rate-limit";

/** Where model calls wait until their provider's limits let them through. */
export interface Gates {
  of(provider: Provider): RateLimiter;
  /**
   * Aborted once running calls may not continue, since it is no longer known who else calls the provider; absent:
   * never.
   */
  lost?(provider: Provider): AbortSignal | undefined;
}

const rateOf = ({ settings }: Provider): Rate => ({
  requests: settings.max_requests_per_minute,
  tokens: settings.max_tokens_per_minute,
});

/** For a process that has all providers to itself. */
export function newGates(): Gates {
  const gates = new Map<string, RateLimiter>();
  return {
    of(provider) {
      const most = concurrencyOf(provider);
      const gate = gates.get(provider.id) ?? newRateLimiter(most);
      gate.setLimit(most, rateOf(provider));
      gates.set(provider.id, gate);
      return gate;
    },
  };
}
