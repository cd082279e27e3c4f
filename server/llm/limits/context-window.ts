import { must } from "@/server/domain/base/must";
import { isLocalServer, type ModelFacts, type Provider } from "@/server/domain/model/provider";
import { listedContextWindow } from "./prices";

/** The context window if it is unknown; tokens. Less than most models have today. */
const UNKNOWN = 32_768;
/** Servers on one's own hardware are set up for little, and some cut what is beyond it without a word. */
const UNKNOWN_LOCAL = 8_192;
const OFFLINE_WINDOW = 128_000;

type Known = Pick<Provider, "kind" | "base_url" | "settings">;

/** How much a model reads at once, in tokens: the known value, else a conservative guess. */
export function contextWindowOf(provider: Known, model: string, reported: ModelFacts = {}): number {
  const guess = isLocalServer(provider.base_url) ? UNKNOWN_LOCAL : UNKNOWN;
  return knownContextWindow(provider, model, reported) ?? guess;
}

/** What a person entered, then what the model said itself, then the service's list, then the bundled table. */
export function knownContextWindow(
  { kind, base_url, settings }: Known,
  model: string,
  reported: ModelFacts = {},
): number | undefined {
  if (kind === "offline") return OFFLINE_WINDOW;
  const learned = Object.hasOwn(settings.capabilities ?? {}, model)
    ? must(settings, "capabilities")[model]
    : undefined;
  return (
    settings.context_window ??
    learned?.context_window ??
    reported.context_window ??
    listedContextWindow(base_url, model)
  );
}

/** What a server's refusal of a long prompt says about how much its model reads; tokens. */
export function windowInRefusal(message: string): number | undefined {
  const found =
    /context (?:length|window|size)\D{0,40}?(\d[\d,]{2,8})/i.exec(message) ??
    /(\d[\d,]{2,8}) (?:tokens? )?maximum/i.exec(message) ??
    /maximum number of tokens allowed \(?(\d[\d,]{2,8})/i.exec(message) ??
    // Text Generation Inference names the most that both may have together, or the prompt alone.
    /\binputs?\W{0,3} (?:must have less than|tokens \+)\D{0,60}?(\d[\d,]{2,8})/i.exec(message);
  const tokens = Number(found?.[1]?.replaceAll(",", ""));
  return tokens >= 500 ? tokens : undefined;
}
