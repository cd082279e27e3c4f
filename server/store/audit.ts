import { and, desc, eq, lt } from "drizzle-orm";
import type { Db } from "@/db/open";
import { audit } from "@/db/schema";
import { Json, type JsonObject } from "@/server/domain/values";

/** Something that a person may later want to know who allowed: grants, confirmations, refusals, changes of secrets. */
export interface AuditEntry {
  id: number;
  at: number;
  /** What happened, for example `tool_denied`. */
  kind: string;
  /** A session, a token, an agent of a run; never a secret. */
  who: string;
  detail: JsonObject;
}

/** Only ever added to: there is no changing and no removing. */
export interface AuditStore {
  append(entry: { kind: string; who: string; detail?: JsonObject }): AuditEntry;
  /** The newest first. `before`: the id of the last entry of the page before. */
  list(filter?: { kind?: string; before?: number; limit?: number }): AuditEntry[];
}

export function newAuditStore(db: Db, now: () => number = Date.now): AuditStore {
  return {
    append: ({ kind, who, detail = {} }) =>
      toEntry(
        db
          .insert(audit)
          .values({ at: now(), kind, who, detail: JSON.stringify(detail) })
          .returning()
          .get(),
      ),
    list: ({ kind, before, limit = 100 } = {}) =>
      db
        .select()
        .from(audit)
        .where(
          and(
            kind === undefined ? undefined : eq(audit.kind, kind),
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
