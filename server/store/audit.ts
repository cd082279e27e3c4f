import { and, desc, inArray, lt } from "drizzle-orm";
import type { Db } from "@/db/open";
import { audit } from "@/db/schema";
import { Json, type JsonObject } from "@/server/domain/base/values";
import type { AuditKind } from "@/server/domain/run/audit";

/** Something that a person may later want to know who did: grants, confirmations, changes of secrets, who came in. */
export interface AuditEntry {
  id: number;
  at: number;
  /** An AuditKind, or what an older version called it. */
  kind: string;
  /** `session:ID`, `token:ID`, or the attempted sign-in method: `password`, `link`. Never a secret. */
  who: string;
  detail: JsonObject;
}

/** Only ever added to: there is no changing and no removing. */
export interface AuditStore {
  append(entry: { kind: AuditKind; who: string; detail?: JsonObject }): AuditEntry;
  /** The newest first. `before`: the id of the last entry of the page before. */
  list(filter?: { kinds?: readonly AuditKind[]; before?: number; limit?: number }): AuditEntry[];
}

/** `redact` removes secrets from the JSON text of every entry, in case a caller forgot to. */
export function newAuditStore(
  db: Db,
  now: () => number = Date.now,
  redact: (text: string) => string = (text) => text,
): AuditStore {
  return {
    append: ({ kind, who, detail = {} }) =>
      toEntry(
        db
          .insert(audit)
          .values({ at: now(), kind, who, detail: redact(JSON.stringify(detail)) })
          .returning()
          .get(),
      ),
    list: ({ kinds, before, limit = 100 } = {}) =>
      db
        .select()
        .from(audit)
        .where(
          and(
            kinds === undefined ? undefined : inArray(audit.kind, [...kinds]),
            before === undefined ? undefined : lt(audit.id, before),
          ),
        )
        .orderBy(desc(audit.id))
        .limit(limit)
        .all()
        .map(toEntry),
  };
}

function toEntry({ detail, ...row }: typeof audit.$inferSelect): AuditEntry {
  const read = Json.parse(JSON.parse(detail));
  return { ...row, detail: read !== null && typeof read === "object" && !Array.isArray(read) ? read : {} };
}
