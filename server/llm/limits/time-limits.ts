import type { LlmConfig } from "@/server/domain/agent/role";
import { isPrivateHost, type Provider } from "@/server/domain/model/provider";
import { TRANSPORT_LIMITS, type TransportLimits } from "../openai/transport";

type Times = Pick<TransportLimits, "firstByteMs" | "idleMs" | "totalMs">;

const MINUTE = 60_000;
/** Models that think before they answer say nothing meanwhile, and some think for long. */
const THINKING: Times = { firstByteMs: 10 * MINUTE, idleMs: 3 * MINUTE, totalMs: 30 * MINUTE };
/** Models on one's own hardware load and read slowly before they begin. */
const NEARBY: Times = { firstByteMs: 5 * MINUTE, idleMs: 2 * MINUTE, totalMs: 30 * MINUTE };
/** Longer than that, timers go off at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * How long a call may take: as the agent's settings say, else the provider's, else as long as such models need.
 * `own`: in place of what is usual. `thinks`: the model was seen to think before it answers.
 */
export function timeLimits(
  provider: Pick<Provider, "base_url" | "settings">,
  model: string,
  config: LlmConfig,
  { own = {}, thinks = false }: { own?: Partial<TransportLimits> | undefined; thinks?: boolean } = {},
): TransportLimits {
  const { settings } = provider;
  const kinds = [
    TRANSPORT_LIMITS,
    ...(thinks || isAskedToThink(config) || isThinkingModel(model) ? [THINKING] : []),
    ...(isNearby(provider) ? [NEARBY] : []),
  ];
  const usual = (name: keyof Times) => own[name] ?? Math.max(...kinds.map((kind) => kind[name]));
  const silence = config.idle_timeout_ms ?? settings.idle_timeout_ms;
  const first = config.first_byte_ms ?? settings.first_byte_ms;
  const timer = (ms: number) => Math.min(ms, LONGEST_TIMER_MS);
  return {
    ...TRANSPORT_LIMITS,
    ...own,
    // Whoever allows a long silence means the one before the first word, too.
    firstByteMs: timer(first ?? Math.max(usual("firstByteMs"), silence ?? 0)),
    idleMs: timer(silence ?? usual("idleMs")),
    totalMs: timer(config.timeout_ms ?? settings.timeout_ms ?? usual("totalMs")),
  };
}

/** Names of models that think before they answer, as far as names tell. */
const THINKING_NAMES =
  /(?:^|[/:_.-])(?:o[1-9]|gpt-(?:[5-9]|oss)|codex|deepseek-(?:r\d|reasoner|v[4-9])|qwq|qwen-?3|magistral|grok-(?:[4-9]|3-mini)|gemini-(?:[3-9]|2\.5)|claude-(?:opus|sonnet|fable)-(?:[4-9])|glm-(?:4\.[5-9]|[5-9])|minimax-m|nemotron|phi-4-(?:mini-)?reasoning)|r1(?:$|[:_-])|think|reason/i;

/** Whether the model thinks before it answers, by its name. */
export const isThinkingModel = (model: string): boolean => THINKING_NAMES.test(model);

const THINKING_FIELDS = [
  "reasoning",
  "thinking",
  "enable_thinking",
  "thinking_budget",
  "chat_template_kwargs",
];

export function isAskedToThink({ reasoning_effort, extra_body = {} }: LlmConfig): boolean {
  if (reasoning_effort !== undefined) return reasoning_effort !== "none";
  return THINKING_FIELDS.some((field) => extra_body[field] !== undefined);
}

/** A server on this machine or in this network, or one that a person says is their own. */
export function isNearby({ base_url, settings }: Pick<Provider, "base_url" | "settings">): boolean {
  if (settings.local !== undefined) return settings.local;
  if (!URL.canParse(base_url)) return false;
  const { hostname } = new URL(base_url);
  // A name without a dot is one of this network: a container, a machine next door.
  return isPrivateHost(hostname) || !/[.:]/.test(hostname);
}
