import { defined } from "@/server/domain/base/defined";
import { choicesOf, type FormPart } from "@/server/domain/base/form";
import { TOOL_PROTOCOLS } from "@/server/domain/tool/tool";
import { isLocalServer, MODEL_APIS, type Price, type ProviderSettings } from "./provider";

/** A provider while its form is filled in. */
export interface ProviderDraft extends Omit<ProviderSettings, "prices" | "capabilities"> {
  name: string;
  base_url: string;
  /** What was entered; the stored one never comes out. */
  key: string;
  default_model: string;
  is_default: boolean;
  /** US dollars for a million tokens, of all models that have no price of their own. */
  input_price?: number;
  output_price?: number;
}

const PRICE = {
  as: "decimal",
  hint: "US$ per million tokens",
  min: 0,
  step: 0.1,
  placeholder: "Auto",
} as const;
const TIME = { as: "number", per: 1000, min: 1, max: 86_400, placeholder: "Default" } as const;

/** The form of a provider. Slots: its own headers. */
export const PROVIDER_FORM: readonly FormPart<ProviderDraft, "headers">[] = [
  { key: "name", label: "Name", as: "text", longest: 80, empty: "" },
  {
    key: "base_url",
    label: "URL",
    as: "text",
    isMono: true,
    keyboard: "url",
    placeholder: "https://api.example.org/v1",
    empty: "",
  },
  { key: "key", label: "API key", as: "secret", empty: "" },
  {
    key: "default_model",
    label: "Model",
    as: "suggest",
    isMono: true,
    hint: "Default model. “Test” lists models and sends a few short prompts.",
    empty: "",
  },
  {
    key: "is_default",
    label: "Default provider",
    as: "check",
    hint: "Used unless a node selects another provider",
  },
  {
    as: "box",
    title: "Limits and prices",
    parts: [
      {
        as: "columns",
        most: 3,
        parts: [
          { key: "max_concurrency", label: "Max concurrent requests", as: "number", min: 1, max: 64 },
          { key: "input_price", label: "Input price", ...PRICE },
          { key: "output_price", label: "Output price", ...PRICE },
          {
            key: "max_requests_per_minute",
            label: "Requests per minute",
            as: "number",
            hint: "Extra requests are queued",
            min: 1,
            max: 1_000_000,
            placeholder: "No limit",
          },
          {
            key: "max_tokens_per_minute",
            label: "Tokens per minute",
            as: "number",
            hint: "Input plus output",
            min: 1,
            max: 1_000_000_000,
            placeholder: "No limit",
          },
          {
            key: "tool_protocol",
            label: "Tool calling",
            as: "choice",
            hint: "Small models often work better with text",
            unset: "Auto",
            options: choicesOf(TOOL_PROTOCOLS),
          },
          {
            key: "api",
            label: "API",
            as: "choice",
            hint: "Chat Completions or Responses",
            unset: "Auto-detect",
            options: choicesOf(MODEL_APIS),
          },
          {
            key: "unknown_ends",
            label: "Unknown finish reason",
            as: "choice",
            hint: "By default, only local servers can omit it",
            unset: "Default",
            options: [
              { value: "take", label: "Accept response" },
              { value: "refuse", label: "Retry" },
            ],
          },
          {
            key: "context_window",
            label: "Context window",
            as: "number",
            hint: "Max tokens per request",
            min: 1_000,
            max: 100_000_000,
            step: 1_000,
            placeholder: "Auto",
          },
        ],
      },
      {
        as: "columns",
        most: 3,
        parts: [
          {
            key: "first_byte_ms",
            label: "First-token timeout",
            hint: "Seconds until the first token",
            ...TIME,
          },
          { key: "idle_timeout_ms", label: "Idle timeout", hint: "Seconds between chunks", ...TIME },
          {
            key: "timeout_ms",
            label: "Response timeout",
            hint: "Seconds for the complete response",
            ...TIME,
          },
        ],
      },
      {
        key: "local",
        label: "Self-hosted",
        as: "check",
        hint: "Calls cost nothing",
        usual: ({ base_url }) => isLocalServer(base_url),
      },
    ],
  },
  { as: "box", title: "Custom headers", parts: [{ slot: "headers" }] },
];

const PRICE_OF_ALL = "*";

/** The settings of a provider as its form has them. */
export function providerLimits({
  prices,
  capabilities: _learned,
  ...limits
}: ProviderSettings): Omit<ProviderDraft, "name" | "base_url" | "key" | "default_model" | "is_default"> {
  const price = prices?.[PRICE_OF_ALL];
  return price
    ? { ...limits, input_price: price.input_per_mtok, output_price: price.output_per_mtok }
    : limits;
}

/** The settings from the form; those it doesn't show stay unchanged. */
export function providerSettings(before: ProviderSettings, draft: ProviderDraft): ProviderSettings {
  const { name, base_url, key, default_model, is_default, input_price, output_price, ...limits } = draft;
  const prices = pricesOf(before, input_price, output_price);
  return {
    ...limits,
    ...defined({
      capabilities: before.capabilities,
      prices: Object.keys(prices).length > 0 ? prices : undefined,
    }),
  };
}

/** Prices of single models stay; where one of the two is entered, the other is none. */
function pricesOf({ prices = {} }: ProviderSettings, input?: number, output?: number): Record<string, Price> {
  const { [PRICE_OF_ALL]: before, ...others } = prices;
  return input === undefined && output === undefined
    ? others
    : { ...others, [PRICE_OF_ALL]: { ...before, input_per_mtok: input ?? 0, output_per_mtok: output ?? 0 } };
}

/** What is wrong with what has to be there, by field. */
export function providerErrors(draft: Pick<ProviderDraft, "name" | "base_url" | "default_model">): {
  name?: string;
  base_url?: string;
  default_model?: string;
} {
  const address = draft.base_url.trim();
  return {
    ...defined({ name: draft.name.trim() ? undefined : "Enter a name." }),
    ...(/^https?:\/\//.test(address) && URL.canParse(address)
      ? {}
      : { base_url: "Enter a URL that starts with https:// or http:// and usually ends in /v1." }),
    ...defined({ default_model: draft.default_model.trim() ? undefined : "Enter a model." }),
  };
}
