import { z } from "zod";
import { ToolProtocol } from "@/server/domain/tool/tool";

/** The provider that is always there: answers by a script, without any network. */
export const OFFLINE = {
  id: "offline",
  name: "Offline demo (scripted, not an AI)",
  model: "offline-demo",
  base_url: "http://offline.invalid/v1",
} as const;

/** How a model can be asked for a shape, the strictest first. */
export const ResponseRung = z.enum(["strict", "json_schema", "json_object", "prompt"]);
export type ResponseRung = z.infer<typeof ResponseRung>;

/** The protocols of OpenAI that a model can be asked by. */
export const ModelApi = z.enum(["chat", "responses"]);
export type ModelApi = z.infer<typeof ModelApi>;

/** What OpenAI calls them. */
export const MODEL_APIS: Record<ModelApi, string> = { chat: "Chat Completions", responses: "Responses" };

/** What was learned about one model of a provider from its refusals, and from tests. */
export const Capability = z
  .object({
    response_format: ResponseRung,
    /** False: refuses `stream_options.include_usage`. */
    stream_usage: z.boolean(),
    /** False: does not know functions; tools are offered as text. */
    native_tools: z.boolean(),
    /** False: one call at a time is all it can do. */
    parallel_tools: z.boolean(),
    max_tokens_name: z.enum(["max_tokens", "max_completion_tokens"]),
    /** Request fields that it refuses. */
    refuses: z.array(z.string().max(80)).max(20),
    /** True: wants its earlier thoughts back, with the messages that they led to. */
    wants_reasoning: z.boolean(),
    /** False: knows no system messages. */
    system_role: z.boolean(),
    /** How it is asked, where that is not Chat Completions. */
    api: ModelApi,
    /** Does not take an effort together with functions: it is left out there, or "none" is asked for. */
    effort_with_tools: z.enum(["omit", "none"]),
    /** How much it reads at once, in tokens, where it said so itself. */
    context_window: z.number().int().positive(),
    /** When a refusal taught what (`lessons.ts`), Unix time in milliseconds. What tests found out has no time. */
    learned_at: z.record(z.string().max(100), z.number()),
  })
  .partial();
export type Capability = z.infer<typeof Capability>;

/** US dollars for a million tokens. */
export const Price = z.object({
  input_per_mtok: z.number().nonnegative(),
  output_per_mtok: z.number().nonnegative(),
  cached_input_per_mtok: z.number().nonnegative().optional(),
});
export type Price = z.infer<typeof Price>;

/** What a service says of one of its models without being asked to answer: in its list, or in a description. */
export const ModelFacts = z
  .object({
    /** Tokens. */
    context_window: z.number().int().positive(),
    native_tools: z.boolean(),
    response_format: ResponseRung,
    price: Price,
  })
  .partial();
export type ModelFacts = z.infer<typeof ModelFacts>;

export const ProviderSettings = z
  .object({
    /** Calls at the same time. */
    max_concurrency: z.number().int().min(1).max(64),
    /** Calls in a minute. */
    max_requests_per_minute: z.number().int().min(1).max(1_000_000),
    /** Tokens in a minute, in and out together. */
    max_tokens_per_minute: z.number().int().min(1).max(1_000_000_000),
    /** How all its models are asked; absent: as the test of each found out, else by Chat Completions. */
    api: ModelApi,
    /** How tools are offered to all its models; absent: by functions where a model knows them. */
    tool_protocol: ToolProtocol,
    /** How much its models read at once, in tokens; absent: what is known of each. */
    context_window: z.number().int().min(1_000).max(100_000_000),
    /** How long a call may take, in milliseconds: until its first word, between two pieces, in all. */
    first_byte_ms: z.number().int().min(1000).max(86_400_000),
    idle_timeout_ms: z.number().int().min(1000).max(86_400_000),
    timeout_ms: z.number().int().min(1000).max(86_400_000),
    /** Whether answers are used that end without a known reason; absent: as `takesEnd` (server/llm/openai/finish.ts) decides. */
    unknown_ends: z.enum(["take", "refuse"]),
    /** Runs on local hardware: costs nothing. */
    local: z.boolean(),
    /** Prices by model; "*" is for all others. */
    prices: z.record(z.string().max(200), Price),
    capabilities: z.record(z.string().max(200), Capability),
  })
  .partial();
export type ProviderSettings = z.infer<typeof ProviderSettings>;

/** A place that answers model calls. Its key is asked for separately. */
export interface Provider {
  id: string;
  name: string;
  kind: "openai-compatible" | "offline";
  base_url: string;
  has_key: boolean;
  /** The last characters of the key. */
  key_hint: string | null;
  /** Custom headers sent with each request; their values are stored like keys. */
  header_names: readonly string[];
  default_model: string;
  is_default: boolean;
  /** Answers by rules, not by an AI. */
  simulated: boolean;
  /** Comes from environment variables and cannot be changed here. */
  from_environment: boolean;
  settings: ProviderSettings;
  /** What is stored as its settings cannot be read: `settings` is empty, and no call goes out until they are saved again. */
  is_damaged?: boolean;
}

/** Where model calls find their providers. */
export interface Providers {
  list(): Provider[];
  find(id: string): Provider | undefined;
  /** The provider for calls that name none. */
  findDefault(): Provider | undefined;
  /** The decrypted key; null if there is none. Throws if it can't be decrypted. */
  keyOf(id: string): string | null;
  /** Its own headers in the clear. Throws where they cannot be read. */
  headersOf(id: string): Readonly<Record<string, string>>;
  /** Keeps what was learned about a model. */
  observe(id: string, model: string, capability: Capability): void;
  /** What the service said of a model when it was last asked for its list. */
  reported(id: string, model: string): ModelFacts;
  /** Keeps what a service says of its models, in place of what it said before. */
  keepReported(id: string, models: Readonly<Record<string, ModelFacts>>): void;
}

/** Headers that a request sets itself, or that would change its destination. */
const FIXED_HEADERS = new Set([
  "host",
  "content-length",
  "content-type",
  "transfer-encoding",
  "connection",
  "upgrade",
  "te",
  "trailer",
  "expect",
  "accept",
  "cookie",
]);

/** Why a custom header is invalid; null if it is valid. */
export function headerError(name: string, value: string | undefined): string | null {
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name)) return "Use letters, digits and - in header names";
  if (FIXED_HEADERS.has(name.toLowerCase()) || /^(?:proxy|sec)-/i.test(name))
    return `The header ${name} is set automatically`;
  if (value !== undefined && !/^[\x21-\x7e](?:[\x20-\x7e]{0,3998}[\x21-\x7e])?$/.test(value))
    return `The value of ${name} has invalid characters; copy it again`;
  return null;
}

const LOCAL_PORTS = new Set(["11434", "1234", "8000", "8080", "30000", "1337"]);

/** Whether the address is that of a model server on this machine or in this network, by its usual port. */
export function isLocalServer(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return false;
  const { hostname, port } = new URL(baseUrl);
  // A gateway to paid services may run on this machine too, so the address alone does not say "free".
  return isPrivateHost(hostname) && LOCAL_PORTS.has(port);
}

/** Whether a host name is this machine or in a private network, as far as its spelling tells. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return (
    host === "localhost" ||
    host === "::1" ||
    host === "host.docker.internal" ||
    host.endsWith(".local") ||
    host.endsWith(".localhost") ||
    /^(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)/.test(host)
  );
}

/** Ollama works on one answer at a time; others on several. */
export function concurrencyOf(provider: Pick<Provider, "kind" | "base_url" | "settings">): number {
  const isOllama = URL.canParse(provider.base_url) && new URL(provider.base_url).port === "11434";
  return provider.settings.max_concurrency ?? (provider.kind === "offline" ? 64 : isOllama ? 1 : 4);
}

/** The offline demo as a provider. `is_default`: it answers unless another provider is chosen. */
export const offlineDemo = (is_default: boolean): Provider => ({
  id: OFFLINE.id,
  name: OFFLINE.name,
  kind: "offline",
  base_url: OFFLINE.base_url,
  has_key: false,
  key_hint: null,
  header_names: [],
  default_model: OFFLINE.model,
  is_default,
  simulated: true,
  from_environment: false,
  settings: {},
});
