import { createHash } from "node:crypto";
import { asc, like } from "drizzle-orm";
import type { Db } from "@/db/open";
import { providers, settings } from "@/db/schema";
import type { Provider } from "@/server/domain/model/provider";
import { PROOF, type ProviderSnapshot } from "@/server/domain/model/provider-snapshot";
import type { Sealer } from "@/server/secrets/sealer";
import type { Env } from "@/server/settings";
import { REPORTED_MODELS_PREFIX, readReportedModels, sealKey } from "./provider-secrets";
import { ENVIRONMENT_ID, type ProviderStore } from "./providers";

export interface ProviderSnapshots {
  /** Another one once anything has changed that workers need to know. */
  version(): string;
  snapshot(): ProviderSnapshot;
}

/** The providers as workers get them, their secrets as sealed as they are stored. */
export function newProviderSnapshots(
  db: Db,
  parts: { store: Pick<ProviderStore, "list">; sealer: Sealer; env?: Env },
): ProviderSnapshots {
  const { store, sealer, env = process.env } = parts;
  const proof = sealer.seal(PROOF.text, PROOF.binding);
  /** Sealed once: each time it would come out differently. */
  let environment: { of: string; sealed: string } | null = null;

  const environmentKey = (baseUrl: string): string | null => {
    const key = env.OPENAI_API_KEY?.trim();
    if (!key) return null;
    const of = `${baseUrl}\n${key}`;
    if (environment?.of !== of) environment = { of, sealed: sealKey(sealer, ENVIRONMENT_ID, baseUrl, key) };
    return environment.sealed;
  };

  const sealedKeys = (list: readonly Provider[]): ProviderSnapshot["sealed"] => {
    const rows = db.select().from(providers).all();
    const fromEnvironment = list.find(({ id }) => id === ENVIRONMENT_ID);
    const sealed: ProviderSnapshot["sealed"] = {};
    for (const { id, secret, headers } of rows) sealed[id] = { key: secret, headers };
    if (fromEnvironment)
      sealed[ENVIRONMENT_ID] = { key: environmentKey(fromEnvironment.base_url), headers: null };
    return sealed;
  };
  const read = () => {
    const list = store.list();
    const reported = db
      .select()
      .from(settings)
      .where(like(settings.key, `${REPORTED_MODELS_PREFIX}%`))
      .orderBy(asc(settings.key))
      .all();
    const sealed = sealedKeys(list);
    const version = createHash("sha256")
      .update(JSON.stringify([list, sealed, reported]))
      .digest("base64url")
      .slice(0, 22);
    return { list, said: reported, sealed, version };
  };
  return {
    version: () => read().version,
    snapshot() {
      const { list, said: reported, sealed, version } = read();
      const models = reported.map(
        ({ key, value }) => [key.slice(REPORTED_MODELS_PREFIX.length), readReportedModels(value)] as const,
      );
      return { version, providers: list, sealed, said: Object.fromEntries(models), proof };
    },
  };
}
