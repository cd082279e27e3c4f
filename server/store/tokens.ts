import { createHash, randomBytes } from "node:crypto";
import { and, desc, eq, isNull } from "drizzle-orm";
import type { Db } from "@/db/open";
import { apiTokens } from "@/db/schema";
import { newId } from "@/server/domain/base/ids";

export interface ApiToken {
  id: string;
  name: string;
  /** The token's last characters, to tell it from others. */
  hint: string;
  created_at: number;
  last_used_at: number | null;
}

/** Tokens of the HTTP API. A token is shown once, when it is made; only its hash is kept. */
export interface TokenStore {
  list(): ApiToken[];
  create(name: string): { id: string; token: string };
  revoke(id: string): boolean;
  /** Also of one that was revoked. */
  nameOf(id: string): string | undefined;
  /** The id behind a token that is still good; notes its use. */
  recognise(token: string): string | null;
}

/** The last use is written down at most this often. */
const TOUCH_MS = 60_000;

export const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

export function newTokenStore(db: Db, now: () => number = Date.now): TokenStore {
  return {
    list: () =>
      db
        .select()
        .from(apiTokens)
        .where(isNull(apiTokens.revokedAt))
        .orderBy(desc(apiTokens.createdAt))
        .all()
        .map(({ id, name, hint, createdAt, lastUsedAt }) => ({
          id,
          name,
          hint,
          created_at: createdAt,
          last_used_at: lastUsedAt,
        })),
    create: (name) => {
      const token = `wf_${randomBytes(32).toString("base64url")}`;
      const id = newId("tok");
      db.insert(apiTokens)
        .values({ id, name, hash: hashOf(token), hint: token.slice(-4), createdAt: now() })
        .run();
      return { id, token };
    },
    revoke: (id) =>
      db
        .update(apiTokens)
        .set({ revokedAt: now() })
        .where(and(eq(apiTokens.id, id), isNull(apiTokens.revokedAt)))
        .run().changes > 0,
    nameOf: (id) =>
      db.select({ name: apiTokens.name }).from(apiTokens).where(eq(apiTokens.id, id)).get()?.name,
    recognise: (token) => {
      const row = db
        .select()
        .from(apiTokens)
        .where(and(eq(apiTokens.hash, hashOf(token)), isNull(apiTokens.revokedAt)))
        .get();
      if (!row) return null;
      if (now() - (row.lastUsedAt ?? 0) > TOUCH_MS)
        db.update(apiTokens).set({ lastUsedAt: now() }).where(eq(apiTokens.id, row.id)).run();
      return row.id;
    },
  };
}
