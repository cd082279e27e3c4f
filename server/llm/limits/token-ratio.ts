/** About how many tokens a text is, where nothing is known of the model. */
export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text, "utf8") / 4);

/** Models cut text differently, and messages have a frame; what a model counted tells more about its next count. */
export interface TokenRatios {
  /** About how many tokens a text is to this model. */
  tokens(provider_id: string, model: string, text: string): number;
  /** Real tokens for each that a quarter of a text's bytes would make; 1 where nothing is known. */
  of(provider_id: string, model: string): number;
  /** Learns from what the provider counted for a text. */
  observe(provider_id: string, model: string, text: string, counted: number): void;
}

/** How much the newest count weighs. */
const WEIGHT = 0.2;
/** Short texts are mostly frame. */
const SHORTEST_TOKENS = 100;
/** Counts beyond that come from somewhere else, such as hidden prompts. */
const [LEAST, MOST] = [0.25, 4];
const KEPT = 500;

/** Ratios of real to guessed tokens per model, kept as a moving average for as long as the process lives. */
export function newTokenRatios(): TokenRatios {
  const ratios = new Map<string, number>();
  const keyOf = (provider_id: string, model: string) => `${provider_id}\n${model}`;
  const of = (provider_id: string, model: string) => ratios.get(keyOf(provider_id, model)) ?? 1;
  return {
    of,
    tokens: (provider_id, model, text) => Math.ceil(estimateTokens(text) * of(provider_id, model)),
    observe(provider_id, model, text, counted) {
      const guessed = estimateTokens(text);
      if (guessed < SHORTEST_TOKENS || !(counted > 0)) return;
      const seen = Math.min(MOST, Math.max(LEAST, counted / guessed));
      const key = keyOf(provider_id, model);
      const known = ratios.get(key);
      if (known === undefined && ratios.size >= KEPT) ratios.delete(ratios.keys().next().value ?? "");
      ratios.set(key, known === undefined ? seen : known + (seen - known) * WEIGHT);
    },
  };
}
