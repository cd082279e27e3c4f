import { createHash, randomBytes } from "node:crypto";
import { and, desc, eq, gt, isNull, or } from "drizzle-orm";
import { z } from "zod";
import type { Db } from "@/db/open";
import { apiTokens } from "@/db/schema";
import { newId } from "@/server/domain/base/ids";
import { SCOPES, type Scope } from "@/server/domain/base/scopes";

/** What a token may do. */
export interface TokenRights {
  scopes: readonly Scope[];
  /** IDs of workflows that it may see and use; null: all. */
  workflows: readonly string[] | null;
  /** Unix milliseconds; null: never. */
  expires_at: number | null;
  /** Whether input sent with it is trusted. */
  is_trusted: boolean;
}

export interface ApiToken extends TokenRights {
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
  create(name: string, rights: TokenRights): { id: string; token: string };
  revoke(id: string): boolean;
  /** Also of one that was revoked. */
  nameOf(id: string): string | undefined;
  /** The token's row if it is valid; records its use. */
  recognise(token: string): ApiToken | null;
}

/** The last use is written down at most this often. */
const TOUCH_MS = 60_000;

export const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

const Scopes = z.array(z.enum(SCOPES));
const Ids = z.array(z.string());

const toToken = (row: typeof apiTokens.$inferSelect): ApiToken => ({
  id: row.id,
  name: row.name,
  hint: row.hint,
  created_at: row.createdAt,
  last_used_at: row.lastUsedAt,
  // Tokens from before scopes have all of them.
  scopes: row.scopes === null ? SCOPES : Scopes.parse(JSON.parse(row.scopes)),
  workflows: row.workflows === null ? null : Ids.parse(JSON.parse(row.workflows)),
  expires_at: row.expiresAt,
  is_trusted: row.isTrusted,
});

export function newTokenStore(db: Db, now: () => number = Date.now): TokenStore {
  return {
    list: () =>
      db
        .select()
        .from(apiTokens)
        .where(isNull(apiTokens.revokedAt))
        .orderBy(desc(apiTokens.createdAt))
        .all()
        .map(toToken),
    create: (name, { scopes, workflows, expires_at, is_trusted }) => {
      const token = `wf_${randomBytes(32).toString("base64url")}`;
      const id = newId("tok");
      db.insert(apiTokens)
        .values({
          id,
          name,
          hash: hashOf(token),
          hint: token.slice(-4),
          createdAt: now(),
          scopes: JSON.stringify(scopes),
          workflows: workflows && JSON.stringify(workflows),
          expiresAt: expires_at,
          isTrusted: is_trusted,
        })
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
        .where(
          and(
            eq(apiTokens.hash, hashOf(token)),
            isNull(apiTokens.revokedAt),
            or(isNull(apiTokens.expiresAt), gt(apiTokens.expiresAt, now())),
          ),
        )
        .get();
      if (!row) return null;
      if (now() - (row.lastUsedAt ?? 0) > TOUCH_MS)
        db.update(apiTokens).set({ lastUsedAt: now() }).where(eq(apiTokens.id, row.id)).run();
      return toToken(row);
    },
  };
}
