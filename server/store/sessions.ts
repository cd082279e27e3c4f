import { count, desc, eq, inArray, lt, or } from "drizzle-orm";
import type { Db } from "@/db/open";
import { sessions } from "@/db/schema";

export interface SessionRow {
  hash: string;
  createdAt: number;
  lastSeenAt: number;
}

/** Sessions by the hash of their id, so that reading the database doesn't allow using them. */
export interface SessionStore {
  add(hash: string, now: number): void;
  find(hash: string): SessionRow | null;
  touch(hash: string, now: number): void;
  remove(hash: string): void;
  removeAll(): void;
  /** Drops what was made or used before these times, then the least used beyond `kept`. */
  prune(made: number, used: number, kept: number): void;
}

export function newSessionStore(db: Db): SessionStore {
  return {
    add: (hash, now) => {
      db.insert(sessions).values({ hash, createdAt: now, lastSeenAt: now }).run();
    },
    find: (hash) => db.select().from(sessions).where(eq(sessions.hash, hash)).get() ?? null,
    touch: (hash, now) => {
      db.update(sessions).set({ lastSeenAt: now }).where(eq(sessions.hash, hash)).run();
    },
    remove: (hash) => {
      db.delete(sessions).where(eq(sessions.hash, hash)).run();
    },
    removeAll: () => {
      db.delete(sessions).run();
    },
    prune: (made, used, kept) => {
      db.delete(sessions)
        .where(or(lt(sessions.createdAt, made), lt(sessions.lastSeenAt, used)))
        .run();
      const total = db.select({ total: count() }).from(sessions).get()?.total ?? 0;
      if (total <= kept) return;
      const surplus = db
        .select({ hash: sessions.hash })
        .from(sessions)
        .orderBy(desc(sessions.lastSeenAt))
        .limit(total - kept)
        .offset(kept);
      db.delete(sessions).where(inArray(sessions.hash, surplus)).run();
    },
  };
}
