import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import type { ModelFacts, Price, ResponseRung } from "@/server/domain/model/provider";

// Facts about models in services' lists and descriptions, each in its own format.

export interface ListedModel {
  name: string;
  facts: ModelFacts;
}

const MAX_MODELS = 2_000;
/** More is a mistake in the list, less is useless. */
const [FEWEST_TOKENS, MOST_TOKENS] = [500, 100_000_000];

const tokens = z.coerce.number().int().min(FEWEST_TOKENS).max(MOST_TOKENS).nullish().catch(undefined);
/** US dollars per token; OpenRouter writes -1 if it varies. */
const perToken = z
  .union([z.string().min(1), z.number()])
  .transform(Number)
  .pipe(z.number().min(0).max(0.01))
  .nullish()
  .catch(undefined);

const Entry = z
  .object({
    id: z.string(),
    /** LM Studio: the context length that the model is currently loaded with. */
    loaded_context_length: tokens,
    /** OpenRouter, Together and others. */
    context_length: tokens,
    /** vLLM, SGLang. */
    max_model_len: tokens,
    /** Groq. */
    context_window: tokens,
    /** Mistral, LM Studio. */
    max_context_length: tokens,
    /** llama.cpp. */
    meta: z.object({ n_ctx: tokens }).nullish().catch(undefined),
    /** OpenRouter: the host that it would choose. */
    top_provider: z.object({ context_length: tokens }).nullish().catch(undefined),
    supported_parameters: z.array(z.string()).nullish().catch(undefined),
    pricing: z
      .object({ prompt: perToken, completion: perToken, input_cache_read: perToken })
      .nullish()
      .catch(undefined),
    /** Mistral says it as an object, LM Studio as a list. */
    capabilities: z
      .union([z.array(z.string()), z.object({ function_calling: z.boolean().optional() })])
      .nullish()
      .catch(undefined),
    owned_by: z.string().nullish().catch(undefined),
  })
  .loose();
const List = z.object({ data: z.array(Entry).max(100_000) });

/** The models of a list in the OpenAI protocol, sorted by name; null if it isn't one. */
export function readModelList(value: unknown): { models: ListedModel[]; isOllama: boolean } | null {
  const list = List.safeParse(value);
  if (!list.success) return null;
  const { data } = list.data;
  const models = data
    .slice(0, MAX_MODELS)
    .map((entry) => ({ name: entry.id.replace(/^models\//, ""), facts: factsOf(entry) }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return { models, isOllama: data.some(({ owned_by }) => owned_by === "library") };
}

function factsOf(entry: z.infer<typeof Entry>): ModelFacts {
  const context_window =
    entry.loaded_context_length ??
    entry.top_provider?.context_length ??
    entry.context_length ??
    entry.max_model_len ??
    entry.context_window ??
    entry.max_context_length ??
    entry.meta?.n_ctx;
  const { supported_parameters: parameters, capabilities } = entry;
  const native_tools = parameters
    ? parameters.includes("tools")
    : Array.isArray(capabilities)
      ? capabilities.includes("tool_use") || undefined
      : capabilities?.function_calling;
  const price = priceOf(entry.pricing);
  return {
    ...defined({
      context_window: context_window || undefined,
      native_tools,
      response_format: parameters ? rungOf(parameters) : undefined,
      price,
    }),
  };
}

const rungOf = (parameters: readonly string[]): ResponseRung =>
  parameters.includes("structured_outputs")
    ? "strict"
    : parameters.includes("response_format")
      ? "json_object"
      : "prompt";

function priceOf(pricing: z.infer<typeof Entry>["pricing"]): Price | undefined {
  if (pricing?.prompt == null || pricing.completion == null) return undefined;
  const perMillion = (usd: number) => Number((usd * 1e6).toPrecision(12));
  return {
    input_per_mtok: perMillion(pricing.prompt),
    output_per_mtok: perMillion(pricing.completion),
    ...defined({
      cached_input_per_mtok:
        pricing.input_cache_read == null ? undefined : perMillion(pricing.input_cache_read),
    }),
  };
}

const Description = z.object({
  capabilities: z.array(z.string()).nullish().catch(undefined),
  model_info: z.record(z.string(), z.unknown()).nullish().catch(undefined),
  parameters: z.string().nullish().catch(undefined),
});

/** What Ollama's description of a model (`/api/show`) says. */
export function readOllamaDescription(value: unknown): ModelFacts {
  const read = Description.safeParse(value);
  if (!read.success) return {};
  const { capabilities, model_info, parameters } = read.data;
  const length = Object.entries(model_info ?? {}).find(([key]) => key.endsWith(".context_length"))?.[1];
  // The configured window takes precedence over the possible one.
  const set = /^num_ctx\s+(\d+)/m.exec(parameters ?? "")?.[1];
  const context_window = tokens.parse(set ?? length);
  return {
    ...defined({
      context_window: context_window || undefined,
      native_tools: capabilities ? capabilities.includes("tools") : undefined,
    }),
  };
}

const Loaded = z.object({
  models: z.array(z.object({ name: z.string(), model: z.string().optional(), context_length: tokens })),
});

/** The context window of a model that Ollama has in memory (`/api/ps`); undefined if unknown. */
export function readOllamaLoaded(value: unknown, model: string): number | undefined {
  const read = Loaded.safeParse(value);
  const plain = (name: string) => name.replace(/:latest$/, "");
  const found = read.data?.models.find((one) => plain(one.name) === plain(model));
  return found?.context_length ?? undefined;
}
