import { z } from "zod";
import type { Db } from "@/db/open";
import {
  SEARCH_SERVICES,
  type SearchBackend,
  SearchKind,
  SearchPurpose,
} from "@/server/domain/tool/search-backend";
import type { Sealer } from "@/server/secrets/sealer";
import { newSettingStore } from "../settings";
import { savedSecret } from "../stored-secret";

/** What a search uses, as screens see it: the key itself never comes out. */
export interface SearchSetting {
  purpose: SearchPurpose;
  /** Null: nothing is configured, and the tool says so. */
  kind: SearchKind | null;
  base_url: string;
  has_key: boolean;
  /** The last characters of the key, where it is long enough to give nothing away. */
  key_hint: string | null;
}

export interface SearchInput {
  purpose: SearchPurpose;
  kind: keyof typeof SEARCH_SERVICES;
  /** Empty: where the service usually is. */
  base_url: string;
  /** Undefined keeps the key, unless the service or its address changes; null removes it. */
  key?: string | null | undefined;
}

export interface ToolSettingStore {
  list(): SearchSetting[];
  save(input: SearchInput): void;
  /** False where nothing was configured. */
  remove(purpose: SearchPurpose): boolean;
  /** What to search with now, with its key. Throws where the key cannot be opened. */
  backendFor(purpose: SearchPurpose): SearchBackend | null;
}

const Stored = z.object({
  kind: SearchKind.exclude(["demo"]),
  base_url: z.string(),
  /** AES-256-GCM record, bound to the purpose, the service and its address. */
  secret: z.string().nullable(),
  hint: z.string().nullable(),
});
type Stored = z.infer<typeof Stored>;

const keyOf = (purpose: SearchPurpose) => `search.${purpose}`;
const bindingOf = (purpose: SearchPurpose, { kind, base_url }: Pick<Stored, "kind" | "base_url">) =>
  `search:${purpose}:${kind}:key:${base_url}`;
const DEMO: SearchBackend = { kind: "demo", base_url: "", key: null };

/** `isDemo`: whether the offline demo answers for models; if so, it also answers searches while none is configured. */
export function newToolSettingStore(db: Db, sealer: Sealer, isDemo: () => boolean): ToolSettingStore {
  const settings = newSettingStore(db);
  const find = (purpose: SearchPurpose): Stored | null => {
    const text = settings.find(keyOf(purpose));
    return text === undefined ? null : Stored.parse(JSON.parse(text));
  };

  return {
    list: () =>
      SearchPurpose.options.map((purpose) => {
        const stored = find(purpose);
        return {
          purpose,
          kind: stored?.kind ?? (isDemo() ? "demo" : null),
          base_url: stored?.base_url ?? "",
          has_key: stored?.secret != null,
          key_hint: stored?.hint ?? null,
        };
      }),
    save({ purpose, kind, base_url, key }) {
      const before = find(purpose);
      const next = {
        kind,
        base_url: base_url.trim().replace(/(?<!\/)\/+$/, "") || SEARCH_SERVICES[kind].base_url,
      };
      const isSame = before?.kind === next.kind && before.base_url === next.base_url;
      const { secret, secretHint: hint } = savedSecret(
        key,
        isSame && { secret: before.secret, secretHint: before.hint },
        (text) => sealer.seal(text, bindingOf(purpose, next)),
      );
      settings.set(keyOf(purpose), JSON.stringify({ ...next, secret, hint } satisfies Stored));
    },
    remove: (purpose) => settings.remove(keyOf(purpose)),
    backendFor(purpose) {
      const stored = find(purpose);
      if (!stored) return isDemo() ? DEMO : null;
      const { kind, base_url, secret } = stored;
      return {
        kind,
        base_url,
        key: secret === null ? null : sealer.open(secret, bindingOf(purpose, stored)),
      };
    },
  };
}
