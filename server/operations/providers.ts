import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { Rejection } from "@/server/domain/errors/rejection";
import { withoutLesson } from "@/server/domain/model/lessons";
import { headerError, type Provider, ProviderSettings } from "@/server/domain/model/provider";
import { keyFate } from "@/server/domain/run/audit";
import {
  checkProvider,
  describeModels,
  type Findings,
  factsByName,
  findOllama,
} from "@/server/llm/capabilities/check";
import { ModelError } from "@/server/llm/model";
import { redactJson, registerSecret } from "@/server/secrets/redact";
import { normalUrl, type ProviderStore } from "@/server/store/providers";
import { BaseUrl, hostOf, Key } from "./addresses";
import { onlyUnlimited } from "./limited/limited";
import { onlyPerson, operationsOf } from "./operation";
import { ModelProvider, ProviderCheck } from "./settings-schemas";

const { mutation, query } = operationsOf("Providers");

/** Its own headers; one without a value keeps the stored one. */
const OwnHeaders = z
  .array(z.object({ name: z.string().max(100), value: z.string().trim().max(4000).optional() }))
  .max(20)
  .superRefine((headers, ctx) => {
    const seen = new Set<string>();
    for (const [at, { name, value }] of headers.entries()) {
      const error = seen.has(name.toLowerCase()) ? `Duplicate header ${name}` : headerError(name, value);
      seen.add(name.toLowerCase());
      if (error) ctx.addIssue({ code: "custom", path: [at], message: error });
    }
  });
const Id = z.object({ id: z.string() });

const SaveInput = z.object({
  id: z.string().optional(),
  name: z.string().trim().min(1, "Enter a name").max(80),
  base_url: BaseUrl,
  default_model: z.string().trim().max(200),
  /** Left out: keeps the stored key, unless the address changes. Null: removes it. */
  key: Key.nullish(),
  headers: OwnHeaders.optional(),
  settings: ProviderSettings.optional(),
});
/** Names a provider, or gives an address. */
const TestInput = z.object({
  id: z.string().optional(),
  base_url: BaseUrl.optional(),
  key: Key.nullish(),
  headers: OwnHeaders.optional(),
  default_model: z.string().trim().max(200).optional(),
});
const ADDRESS =
  "a provider's URL determines where prompts and keys go, and can point inside this machine's network";

/** Where models come from: saved providers, the environment's, and the offline demo. Keys go in and never come out. */
export const providerOperations = {
  list: query({
    name: "listProviders",
    summary: "List model providers",
    needs: "read",
    input: z.void(),
    output: z.object({ providers: z.array(ModelProvider) }),
    http: {
      route: "GET /providers",
      success: "Saved providers, the one from the environment, and the offline demo",
    },
    async run({ providers }) {
      const known = providers.list();
      const ollama = await ollamaNow();
      const isKnown = known.some(({ base_url }) => ollama !== null && sameServer(base_url, ollama.base_url));
      return { providers: known, ollama: isKnown ? null : ollama };
    },
  }),

  save: mutation({
    name: "replaceProvider",
    summary: "Edit a provider: name, key, headers, model and settings",
    about:
      "An omitted key or header value is kept; a null key is removed. `base_url` must be the current URL: only people can add providers and change their URLs.",
    needs: "admin",
    input: SaveInput,
    output: Id,
    problems: ["not_found", "fixed", "person_only"],
    audits: ["provider_added", "provider_changed"],
    http: { route: "PUT /providers/{id}", success: "Applies from the next call" },
    run({ providers }, input, { note, principal }) {
      const { key, settings, id, headers, ...rest } = input;
      const before = id === undefined ? undefined : changeable(providers, id);
      const isMoved = normalUrl(input.base_url) !== before?.base_url;
      if (isMoved) onlyPerson(principal, ADDRESS);
      const hadOnlyDemo = id === undefined && providers.list().every(({ simulated }) => simulated);
      if (before && !isMoved && headers?.some(({ value }) => value === undefined))
        storedHeaders(providers, before.id);
      const saved = providers.save({ ...rest, ...defined({ id, key, headers, settings }) });
      note(before ? "provider_changed" : "provider_added", changeOf(before, providers.find(saved.id), input));
      const found = unsaved.get(normalUrl(rest.base_url));
      if (found && unsaved.delete(normalUrl(rest.base_url))) keep(providers, saved.id, found);
      // The first real provider becomes the default.
      if (hadOnlyDemo) providers.setDefault(saved.id);
      return saved;
    },
  }),

  /** Removes a provider. Where it is the default, `next` names the one that comes after it. */
  remove: mutation({
    name: "deleteProvider",
    summary: "Remove a provider and its key",
    about: "For the default provider, `next` is the id of the new default.",
    needs: "admin",
    input: Id.extend({ next: z.string().optional() }),
    problems: ["not_found", "fixed"],
    audits: ["provider_chosen", "provider_removed"],
    http: { route: "DELETE /providers/{id}", success: "Deleted" },
    run({ providers }, input, { note }) {
      const { name, has_key, is_default } = changeable(providers, input.id);
      if (is_default) {
        const next = input.next === input.id ? undefined : providers.find(input.next ?? "");
        if (!next)
          throw new Rejection(
            "bad_request",
            `“${name}” is the default provider. Choose another default first.`,
          );
        providers.setDefault(next.id);
        note("provider_chosen", { provider: next.name });
      }
      providers.remove(input.id);
      note("provider_removed", { provider: name, key: keyFate(null, has_key, false) });
      return { id: input.id };
    },
  }),

  setDefault: mutation({
    name: "chooseProvider",
    summary: "Make a provider the default",
    needs: "admin",
    input: Id,
    audits: ["provider_chosen"],
    http: { route: "POST /providers/{id}/default", success: "Used wherever no model is set" },
    run({ providers }, { id }, { note }) {
      if (!providers.setDefault(id)) throw notFound();
      note("provider_chosen", { provider: providers.find(id)?.name ?? id });
      return { id };
    },
  }),

  /** Asks the service for its list and its model a few tiny questions; what is found out is kept for runs. */
  test: mutation({
    name: "testProvider",
    summary: "Test a provider by listing its models and sending a few short prompts",
    about: "Detected capabilities are saved for runs. Only people can test a URL other than the saved one.",
    needs: "admin",
    input: TestInput,
    output: ProviderCheck,
    problems: ["not_found", "person_only"],
    http: { route: "POST /providers/{id}/test", success: "Whether it works, and any error" },
    async run({ providers }, input, { principal }) {
      onlyUnlimited(principal);
      const checked = checkedFrom(providers, input);
      const saved = input.id === undefined ? undefined : providers.find(input.id);
      if (saved?.base_url !== checked.base_url) onlyPerson(principal, ADDRESS);
      if (checked.key !== null) registerSecret(checked.key);
      const { findings, ...shown } = await checkProvider(checked);
      if (saved?.base_url === checked.base_url) keep(providers, saved.id, findings);
      else rememberFindings(checked.base_url, findings);
      // A server may repeat the key, in whatever spelling; also one that was only typed in.
      return redactJson(shown);
    },
  }),

  forget: mutation({
    name: "forgetLesson",
    summary: "Forget a model's detected capability",
    about: "The next call is sent as usual and may detect it again.",
    needs: "admin",
    input: z.object({ id: z.string(), model: z.string(), lesson: z.string() }),
    http: { route: "POST /providers/{id}/forget", success: "Deleted" },
    run({ providers }, { id, model, lesson }) {
      const known = providers.find(id)?.settings.capabilities?.[model];
      if (!known) throw notFound();
      providers.observe(id, model, withoutLesson(known, lesson));
      return { id };
    },
  }),

  /** Whether the prices of these models are known, in the same order; a model that is not there counts as known. */
  knownPrices: query({
    name: "listKnownPrices",
    summary: "Whether the prices of models are known",
    needs: "read",
    input: z.array(z.object({ provider_id: z.string().optional(), model: z.string().optional() })).max(1000),
    http: { browserOnly: "a hint next to fields; programs read unknown_cost_calls of a run" },
    run: ({ models }, choices) => choices.map((choice) => models.describe(choice)?.price_known !== false),
  }),

  models: query({
    name: "listModels",
    summary: "List the models that a provider reports",
    needs: "read",
    input: Id,
    output: z.array(z.string()),
    problems: ["not_found", "provider_failed"],
    http: { route: "GET /providers/{id}/models", success: "Model names", as: "models" },
    async run({ providers }, { id }) {
      const provider = providers.find(id);
      if (!provider) throw notFound();
      try {
        const { models } = await describeModels({ ...provider, ...opened(providers, provider.id) });
        keep(providers, provider.id, { reported: factsByName(models) });
        return models.map(({ name }) => name);
      } catch (error) {
        if (error instanceof ModelError)
          throw new Rejection("provider_failed", error.message, { code: error.error.code });
        throw error;
      }
    },
  }),
};

/** What the audit records of a saved provider. */
function changeOf(
  before: Provider | undefined,
  after: Provider | undefined,
  { name, base_url, key }: z.infer<typeof SaveInput>,
) {
  const host = hostOf(base_url);
  const hostBefore = before && hostOf(before.base_url);
  return {
    provider: name,
    host,
    ...defined({ host_before: hostBefore === host ? undefined : hostBefore }),
    key: keyFate(key, before?.has_key ?? false, after?.has_key ?? false),
    ...defined({ headers: after?.header_names.length ? [...after.header_names] : undefined }),
  };
}

/** Keeps what was found out about a saved provider. The demo has nothing to keep. */
function keep(providers: ProviderStore, id: string, { reported, learned }: Findings) {
  const provider = providers.find(id);
  if (!provider || provider.kind === "offline") return;
  if (reported) providers.keepReported(id, reported);
  if (!learned) return;
  const context_window = provider.settings.capabilities?.[learned.model]?.context_window;
  providers.observe(id, learned.model, { ...defined({ context_window }), ...learned.capability });
}

/** What tests found out about addresses that are not saved yet: most people test first, then save. */
const unsaved = new Map<string, Findings>();
const MOST_UNSAVED = 20;

function rememberFindings(base_url: string, findings: Findings) {
  unsaved.delete(base_url);
  const oldest = unsaved.keys().next();
  if (unsaved.size >= MOST_UNSAVED && !oldest.done) unsaved.delete(oldest.value);
  unsaved.set(base_url, findings);
}

const notFound = () => new Rejection("not_found", "This provider no longer exists.");

/** The provider; refuses changes of what is not a saved one. */
function changeable(providers: ProviderStore, id: string): Provider {
  const provider = providers.find(id);
  if (!provider) throw notFound();
  if (provider.from_environment)
    throw new Rejection(
      "fixed",
      "This provider comes from the environment variables OPENAI_API_KEY and OPENAI_BASE_URL. Change it there.",
    );
  if (provider.kind === "offline")
    throw new Rejection("fixed", "The offline demo is built in and can't be changed.");
  return provider;
}

/** The provider to test: a saved one with the form's changes. A stored key is only ever sent to its own address. */
function checkedFrom(providers: ProviderStore, input: z.infer<typeof TestInput>) {
  if (input.id === undefined && input.base_url === undefined)
    throw new Rejection("bad_request", "Specify a provider or a URL.");
  const saved = input.id === undefined ? undefined : providers.find(input.id);
  if (input.id !== undefined && !saved) throw notFound();
  const base_url = normalUrl(input.base_url ?? saved?.base_url ?? "");
  const isSameAddress = saved?.base_url === base_url;
  return {
    name: saved?.name ?? new URL(base_url).host,
    kind: saved?.kind ?? ("openai-compatible" as const),
    base_url,
    default_model: input.default_model ?? saved?.default_model ?? "",
    ...accessFrom(input, saved && isSameAddress ? opened(providers, saved.id) : { key: null, headers: {} }),
    settings: saved?.settings ?? {},
  };
}

/** The entered key and headers; what is left out is taken from the stored ones. */
function accessFrom(
  { key, headers }: z.infer<typeof TestInput>,
  stored: ReturnType<typeof opened>,
): ReturnType<typeof opened> {
  const entered = headers?.flatMap(({ name, value = stored.headers[name] }) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return {
    key: key === undefined ? stored.key : key?.trim() || null,
    headers: entered ? Object.fromEntries(entered) : stored.headers,
  };
}

/** Refuses to keep what cannot be read. */
function storedHeaders(providers: ProviderStore, id: string): void {
  try {
    providers.headersOf(id);
  } catch {
    throw new Rejection(
      "bad_request",
      "The stored header values can't be decrypted. Enter them again or remove those headers.",
    );
  }
}

/** What is kept sealed of a provider, in the clear. */
function opened(providers: ProviderStore, id: string) {
  try {
    return { key: providers.keyOf(id), headers: providers.headersOf(id) };
  } catch (error) {
    throw new Rejection(
      "bad_request",
      error instanceof Error ? error.message : "The stored key can't be decrypted. Enter it again.",
    );
  }
}

/** Ollama answers on several names of this machine. */
const sameServer = (a: string, b: string) =>
  a.replace("//localhost:", "//127.0.0.1:").replace(/(?<!\/)\/+$/, "") ===
  b.replace("//localhost:", "//127.0.0.1:").replace(/(?<!\/)\/+$/, "");

const OLLAMA_MEMORY_MS = 10_000;
let ollama: { at: number; answer: ReturnType<typeof findOllama> } | null = null;

/** Whether Ollama runs here; asked at most every ten seconds. */
function ollamaNow(): ReturnType<typeof findOllama> {
  if (ollama === null || Date.now() - ollama.at > OLLAMA_MEMORY_MS)
    ollama = { at: Date.now(), answer: findOllama() };
  return ollama.answer;
}
