import { asc, eq } from "drizzle-orm";
import type { Db } from "@/db/open";
import { providers } from "@/db/schema";
import { defined } from "@/server/domain/base/defined";
import { newId } from "@/server/domain/base/ids";
import { lastOf, must } from "@/server/domain/base/must";
import {
  type Capability,
  type ModelFacts,
  offlineDemo,
  type Provider,
  ProviderSettings,
  type Providers,
} from "@/server/domain/model/provider";
import type { Sealer } from "@/server/secrets/sealer";
import type { Env } from "@/server/settings";
import {
  headerNames,
  openHeaders,
  openKey,
  REPORTED_MODELS_PREFIX,
  type ReportedModels,
  readReportedModels,
  sealHeaders,
  sealKey,
} from "./provider-secrets";
import { newSettingStore, type SettingStore } from "./settings";
import { hintOf, savedSecret } from "./stored-secret";

/** What a person enters about a provider. */
export interface ProviderInput {
  id?: string;
  name: string;
  base_url: string;
  default_model: string;
  /** Undefined keeps the key, unless the address changes; null removes it. */
  key?: string | null;
  /** All its own headers; one without a value keeps the stored one, unless the address changes. Undefined: as they are. */
  headers?: readonly { name: string; value?: string | undefined }[];
  settings?: ProviderSettings;
}

type Row = typeof providers.$inferSelect;

export const ENVIRONMENT_ID = "environment";
const OPENAI_URL = "https://api.openai.com/v1";
/** Where nobody names one: small, cheap, and there for long. */
const OPENAI_MODEL = "gpt-5-mini";
/** Which provider people chose, where it is not a row of the table. */
const CHOSEN = "default_provider";
/** What was learned about the environment's models; the provider itself is never written. */
const LEARNED = "environment_provider_capabilities";

const reportedModelsKey = (id: string) => `${REPORTED_MODELS_PREFIX}${id}`;
const NOTHING: ModelFacts = {};

/**
 * Providers of models: the offline demo that is always there, the one that environment variables describe, and those
 * that people entered. Keys are sealed and come out only through `keyOf`.
 */
export class ProviderStore implements Providers {
  private readonly settings: SettingStore;
  private readonly read = new Map<string, { text: string } & ReportedModels>();

  constructor(
    private readonly db: Db,
    private readonly sealer: Sealer,
    private readonly env: Env = process.env,
  ) {
    this.settings = newSettingStore(db);
  }

  list(): Provider[] {
    const fromEnv = environmentProvider(this.env, this.settings.find(LEARNED));
    const all = [...(fromEnv ? [fromEnv] : []), ...this.rows().map(toProvider), offlineDemo(false)];
    const chosen = this.settings.find(CHOSEN);
    // Without a choice, the provider from the environment comes first: a key that was set there is meant to be used.
    const fallback = fromEnv ?? lastOf(all);
    const standard = all.find(({ id }) => id === chosen) ?? fallback;
    return all.map((provider) => ({ ...provider, is_default: provider.id === standard.id }));
  }

  find(id: string) {
    return this.list().find((provider) => provider.id === id);
  }

  setDefault(id: string): boolean {
    if (!this.find(id)) return false;
    this.settings.set(CHOSEN, id);
    return true;
  }

  headersOf(id: string): Record<string, string> {
    const row = this.db.select().from(providers).where(eq(providers.id, id)).get();
    return row ? openHeaders(this.sealer, row.id, row.baseUrl, row.headers) : {};
  }

  findDefault() {
    return this.list().find(({ is_default }) => is_default);
  }

  keyOf(id: string): string | null {
    if (id === ENVIRONMENT_ID) return this.env.OPENAI_API_KEY?.trim() || null;
    const row = this.db.select().from(providers).where(eq(providers.id, id)).get();
    return row?.secret ? openKey(this.sealer, row.id, row.baseUrl, row.secret) : null;
  }

  observe(id: string, model: string, capability: Capability): void {
    const add = (before: ProviderSettings): ProviderSettings => ({
      ...before,
      capabilities: { ...before.capabilities, [model]: capability },
    });
    if (id === ENVIRONMENT_ID)
      this.settings.set(LEARNED, JSON.stringify(add(readSettings(this.settings.find(LEARNED)))));
    else this.changeSettings(id, add);
  }

  reported(id: string, model: string): ModelFacts {
    const text = this.settings.find(reportedModelsKey(id));
    if (text === undefined) return NOTHING;
    if (this.read.get(id)?.text !== text) this.read.set(id, { text, ...readReportedModels(text) });
    const { base_url, models } = must(this.read, id);
    // What was said holds for one address only.
    return this.find(id)?.base_url === base_url && Object.hasOwn(models, model)
      ? must(models, model)
      : NOTHING;
  }

  keepReported(id: string, models: Readonly<Record<string, ModelFacts>>): void {
    const base_url = this.find(id)?.base_url;
    if (base_url !== undefined)
      this.settings.set(reportedModelsKey(id), JSON.stringify({ base_url, models }));
  }

  /** Throws if stored headers are to be kept and can't be read. */
  save(input: ProviderInput): { id: string } {
    const now = Date.now();
    const before =
      input.id === undefined
        ? undefined
        : this.db.select().from(providers).where(eq(providers.id, input.id)).get();
    const id = before?.id ?? newId("prov");
    const baseUrl = normalUrl(input.base_url);
    // Keys, headers and what was learned are valid for one address only.
    const kept = before?.baseUrl === baseUrl ? before : undefined;
    const { secret, secretHint } = savedSecret(input.key, kept, (key) =>
      sealKey(this.sealer, id, baseUrl, key),
    );
    const values = {
      name: input.name.trim(),
      kind: "openai-compatible",
      baseUrl,
      secret,
      secretHint: secret === null ? null : (secretHint ?? ""),
      headers: this.savedHeaders(input.headers, kept, { id, baseUrl }),
      defaultModel: input.default_model.trim(),
      settings: JSON.stringify(savedSettings(input.settings, before, kept !== undefined)),
      updatedAt: now,
    };
    if (before) this.db.update(providers).set(values).where(eq(providers.id, id)).run();
    else
      this.db
        .insert(providers)
        .values({ id, createdAt: now, ...values })
        .run();
    return { id };
  }

  /** The encrypted headers. Those without a value keep their stored one. */
  private savedHeaders(
    given: ProviderInput["headers"],
    kept: Row | undefined,
    { id, baseUrl }: { id: string; baseUrl: string },
  ): string | null {
    if (given === undefined) return kept?.headers ?? null;
    const needsStored = given.some(({ value }) => value === undefined);
    const known = kept && needsStored ? this.headersOf(kept.id) : {};
    const headers = given.flatMap(({ name, value = known[name] }) =>
      value === undefined ? [] : [[name, value] as const],
    );
    return headers.length === 0 ? null : sealHeaders(this.sealer, id, baseUrl, headers);
  }

  /** False if the provider doesn't exist or can't be removed. */
  remove(id: string): boolean {
    const done = this.db.delete(providers).where(eq(providers.id, id)).run().changes > 0;
    if (done) this.settings.remove(reportedModelsKey(id));
    if (done && this.settings.find(CHOSEN) === id) this.settings.remove(CHOSEN);
    return done;
  }

  private rows() {
    return this.db
      .select()
      .from(providers)
      .orderBy(asc(providers.createdAt))
      .all()
      .filter(({ kind }) => kind !== "offline");
  }

  private changeSettings(id: string, change: (before: ProviderSettings) => ProviderSettings) {
    const row = this.db.select().from(providers).where(eq(providers.id, id)).get();
    if (row)
      this.db
        .update(providers)
        .set({ settings: JSON.stringify(change(readSettings(row.settings))) })
        .where(eq(providers.id, id))
        .run();
  }
}

function toProvider(row: Row): Provider {
  return {
    id: row.id,
    name: row.name,
    kind: "openai-compatible",
    base_url: row.baseUrl,
    has_key: row.secret !== null,
    key_hint: row.secretHint,
    header_names: headerNames(row.headers),
    default_model: row.defaultModel,
    is_default: false,
    simulated: false,
    from_environment: false,
    settings: readSettings(row.settings),
    ...defined({ is_damaged: isReadable(row.settings) ? undefined : true }),
  };
}

/** The provider that OPENAI_API_KEY and OPENAI_BASE_URL describe; an address without a key will do. */
function environmentProvider(env: Env, learned: string | undefined): Provider | null {
  const key = env.OPENAI_API_KEY?.trim();
  const address = env.OPENAI_BASE_URL?.trim();
  if (!key && !address) return null;
  const base_url = normalUrl(address || OPENAI_URL);
  return {
    id: ENVIRONMENT_ID,
    name:
      address && URL.canParse(address) && base_url !== OPENAI_URL
        ? `${new URL(address).host} (environment)`
        : "OpenAI (environment)",
    kind: "openai-compatible",
    base_url,
    has_key: Boolean(key),
    key_hint: key ? (hintOf(key) ?? "") : null,
    header_names: [],
    default_model: env.OPENAI_MODEL?.trim() || (base_url === OPENAI_URL ? OPENAI_MODEL : ""),
    is_default: false,
    simulated: false,
    from_environment: true,
    settings: readSettings(learned),
  };
}

/** A URL normalized for comparing and joining: without blanks, trailing slashes or an endpoint's path at the end. */
export function normalUrl(text: string): string {
  return text
    .trim()
    .replace(/(?<!\/)\/+$/, "")
    .replace(/\/chat\/completions$/, "");
}

function readSettings(text: string | undefined): ProviderSettings {
  return parsedSettings(text) ?? {};
}

/** The given settings, else the stored ones; only the server itself sets what was learned. */
function savedSettings(
  given: ProviderSettings | undefined,
  before: Row | undefined,
  isSameAddress: boolean,
): ProviderSettings {
  const stored = readSettings(before?.settings);
  const { capabilities: _fromOutside, ...own } = given ?? stored;
  return { ...own, ...defined({ capabilities: isSameAddress ? stored.capabilities : undefined }) };
}

const isReadable = (text: string) => parsedSettings(text) !== null;

function parsedSettings(text = "{}"): ProviderSettings | null {
  try {
    return ProviderSettings.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
