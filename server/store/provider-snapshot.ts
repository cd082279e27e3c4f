import { createHash } from "node:crypto";
import { asc, inArray, like, or } from "drizzle-orm";
import type { Db } from "@/db/open";
import { providers, settings } from "@/db/schema";
import type { Sealer } from "@/server/access/secrets";
import { PROOF, type ProviderSnapshot } from "@/server/cluster/worker-protocol";
import { readSaid, SAID, sealKey } from "./provider-secrets";
import { CHOSEN, ENVIRONMENT_ID, LEARNED, type ProviderStore } from "./providers";

export interface ProviderSnapshots {
  /** Another one once anything has changed that workers need to know. */
  version(): string;
  snapshot(): ProviderSnapshot;
}

type Env = Readonly<Record<string, string | undefined>>;

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

  const snapshot = (): ProviderSnapshot => {
    const rows = db.select().from(providers).orderBy(asc(providers.createdAt)).all();
    const list = store.list();
    const fromEnvironment = list.find(({ id }) => id === ENVIRONMENT_ID);
    const sealed: ProviderSnapshot["sealed"] = Object.fromEntries(
      rows.map(({ id, secret, headers }) => [id, { key: secret, headers }]),
    );
    if (fromEnvironment)
      sealed[ENVIRONMENT_ID] = { key: environmentKey(fromEnvironment.base_url), headers: null };
    const kept = db
      .select()
      .from(settings)
      .where(or(like(settings.key, `${SAID}%`), inArray(settings.key, [CHOSEN, LEARNED])))
      .all();
    const said = kept.flatMap(({ key, value }) =>
      key.startsWith(SAID) ? [[key.slice(SAID.length), readSaid(value)] as const] : [],
    );
    const content = { providers: list, sealed, said: Object.fromEntries(said) };
    const version = createHash("sha256").update(JSON.stringify(content)).digest("base64url").slice(0, 22);
    return { version, ...content, proof };
  };
  return { version: () => snapshot().version, snapshot };
}
