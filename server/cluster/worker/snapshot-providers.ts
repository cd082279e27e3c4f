import { must } from "@/server/domain/base/must";
import type { ModelFacts, Provider, Providers } from "@/server/domain/model/provider";
import { PROOF, type ProviderSnapshot } from "@/server/domain/model/provider-snapshot";
import type { Sealer } from "@/server/secrets/sealer";
import { openHeaders, openKey } from "@/server/store/provider-secrets";
import type { LearnBody } from "../worker-protocol";

const NOTHING: ModelFacts = {};

/** The providers of the server, at a worker. */
export interface SnapshotProviders extends Providers {
  /** Null before the first. */
  readonly version: string | null;
  /** Takes in a newer one. Throws where server and worker do not have the same key. */
  replace(snapshot: ProviderSnapshot): void;
}

/** `learn`: tells the server what a refusal taught. */
export function newSnapshotProviders(sealer: Sealer, learn: (lesson: LearnBody) => void): SnapshotProviders {
  let now: ProviderSnapshot = { version: "", providers: [], sealed: {}, said: {}, proof: "" };
  const find = (id: string) => now.providers.find((provider) => provider.id === id);
  const sealedOf = (id: string) => (Object.hasOwn(now.sealed, id) ? must(now.sealed, id) : undefined);
  const keyOf = ({ id, base_url }: Provider) => {
    const sealed = sealedOf(id)?.key ?? null;
    return sealed === null ? null : openKey(sealer, id, base_url, sealed);
  };
  const headersOf = ({ id, base_url }: Provider) =>
    openHeaders(sealer, id, base_url, sealedOf(id)?.headers ?? null);

  return {
    get version() {
      return now.version || null;
    },
    replace(snapshot) {
      checkProof(sealer, snapshot);
      now = snapshot;
      // Opening registers them, so that they are blacked out here, too, before any is used.
      for (const provider of now.providers) {
        ignoring(() => keyOf(provider));
        ignoring(() => headersOf(provider));
      }
    },
    list: () => [...now.providers],
    find,
    findDefault: () => now.providers.find(({ is_default }) => is_default),
    keyOf(id) {
      const provider = find(id);
      return provider ? keyOf(provider) : null;
    },
    headersOf(id) {
      const provider = find(id);
      return provider ? headersOf(provider) : {};
    },
    observe(id, model, capability) {
      now = {
        ...now,
        providers: now.providers.map((provider) =>
          provider.id === id ? withCapability(provider, model, capability) : provider,
        ),
      };
      learn({ provider_id: id, model, capability });
    },
    reported(id, model) {
      const reported = Object.hasOwn(now.said, id) ? now.said[id] : undefined;
      // What was said holds for one address only.
      return reported && reported.base_url === find(id)?.base_url && Object.hasOwn(reported.models, model)
        ? must(reported.models, model)
        : NOTHING;
    },
    keepReported: (id, models) => learn({ provider_id: id, models }),
  };
}

function checkProof(sealer: Sealer, { proof }: ProviderSnapshot): void {
  try {
    if (sealer.open(proof, PROOF.binding) === PROOF.text) return;
  } catch {
    // Said below.
  }
  throw new Error(
    "This worker can't decrypt the server's keys: set TROUPE_SECRET_KEY to the same value as on the server.",
  );
}

/** What cannot be opened is told when it is wanted. */
function ignoring(open: () => unknown): void {
  try {
    open();
  } catch {
    // As above.
  }
}

const withCapability = (
  provider: Provider,
  model: string,
  capability: Parameters<Providers["observe"]>[2],
): Provider => ({
  ...provider,
  settings: {
    ...provider.settings,
    capabilities: { ...provider.settings.capabilities, [model]: capability },
  },
});
