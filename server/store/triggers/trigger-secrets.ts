import { randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import { z } from "zod";
import type { Db } from "@/db/open";
import { triggers } from "@/db/schema";
import type { TriggerKind } from "@/server/domain/trigger/trigger";
import type { Sealer } from "@/server/secrets/sealer";
import { ownJson } from "../own-json";
import { hashOf } from "../tokens";

const Secrets = z.array(z.string());
const secretBinding = (id: string) => `trigger:${id}:secret`;
const keyBinding = (id: string) => `trigger:${id}:key`;

/** A key for an address, with 192 random bits. */
export const newTriggerKey = (): string => randomBytes(24).toString("base64url");

/** Keys of triggers' addresses, signing secrets of webhooks and password hashes of forms. */
export function newTriggerSecrets(db: Db, sealer: Sealer) {
  const stored = (id: string) =>
    db.select({ key: triggers.key, secret: triggers.secret }).from(triggers).where(eq(triggers.id, id)).get();

  /** The address of a form can be shown again; that of a webhook is a password. */
  const keyColumns = (id: string, kind: TriggerKind, key: string) => ({
    keyHash: hashOf(key),
    key: kind === "form" ? sealer.seal(key, keyBinding(id)) : null,
  });

  return {
    keyColumns,

    secretColumn: (id: string, secrets: readonly string[]): string | null =>
      secrets.length > 0 ? sealer.seal(JSON.stringify(secrets), secretBinding(id)) : null,

    /** Replaces the key of its address. */
    setKey: (id: string, kind: TriggerKind, key: string): void =>
      void db
        .update(triggers)
        .set(keyColumns(id, kind, key))
        .where(eq(triggers.id, id))
        .run(),

    /** The key of its address, if it can be shown again. */
    keyOf(id: string): string | null {
      const key = stored(id)?.key;
      return key ? sealer.open(key, keyBinding(id)) : null;
    },

    /** Throws if they can't be decrypted. */
    secretsOf(id: string): string[] {
      const secret = stored(id)?.secret;
      return secret ? Secrets.parse(ownJson(sealer.open(secret, secretBinding(id)))) : [];
    },
  };
}
