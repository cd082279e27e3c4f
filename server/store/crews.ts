import { asc, eq, sql } from "drizzle-orm";
import type { Db } from "@/db/open";
import { crews } from "@/db/schema";
import { CrewConfig } from "@/server/domain/crew";
import { canonicalJson } from "@/server/domain/values";

export interface StoredCrew {
  /** What workflows name it by; the same as `crew.crew_id`, and it never changes. */
  id: string;
  name: string;
  crew: CrewConfig;
  /** Counts saves; a save names the one it was made on. */
  revision: number;
  updated_at: number;
}

export type CrewSaveResult =
  | { saved: true; revision: number }
  /** Someone else saved in between, or the crew is gone (`current` undefined). */
  | { saved: false; current: StoredCrew | undefined };

/** The crews that workflows may name. */
export interface CrewStore {
  /** By name. */
  list(): StoredCrew[];
  find(id: string): StoredCrew | undefined;
  /** Its id is the crew's own. False if that is taken. */
  create(name: string, crew: CrewConfig): boolean;
  /** Saves over a revision that the caller has seen; the crew keeps the id of the row. */
  save(change: { id: string; revision: number; name: string; crew: CrewConfig }): CrewSaveResult;
  /** Adds or replaces, whatever was there. */
  put(name: string, crew: CrewConfig): void;
  remove(id: string): boolean;
}

export function newCrewStore(db: Db, now: () => number = Date.now): CrewStore {
  const toCrew = (row: typeof crews.$inferSelect): StoredCrew => ({
    id: row.id,
    name: row.name,
    crew: CrewConfig.parse(JSON.parse(row.crew)),
    revision: row.revision,
    updated_at: row.updatedAt,
  });
  const find = (id: string) => {
    const row = db.select().from(crews).where(eq(crews.id, id)).get();
    return row && toCrew(row);
  };
  const rowOf = (name: string, crew: CrewConfig) => {
    const at = now();
    return { id: crew.crew_id, name, crew: canonicalJson(crew), createdAt: at, updatedAt: at };
  };
  const nextRevision = sql`${crews.revision} + 1`;

  return {
    list: () =>
      db
        .select()
        .from(crews)
        .orderBy(asc(sql`lower(${crews.name})`), asc(crews.id))
        .all()
        .map(toCrew),
    find,
    create: (name, crew) =>
      db.insert(crews).values(rowOf(name, crew)).onConflictDoNothing().run().changes > 0,
    save: ({ id, revision, name, crew }) => {
      // One statement checks and writes: two tabs can never both pass the check.
      const row = db
        .update(crews)
        .set({
          name,
          crew: canonicalJson({ ...crew, crew_id: id }),
          revision: nextRevision,
          updatedAt: now(),
        })
        .where(sql`${crews.id} = ${id} and ${crews.revision} = ${revision}`)
        .returning({ revision: crews.revision })
        .get();
      return row ? { saved: true, revision: row.revision } : { saved: false, current: find(id) };
    },
    put: (name, crew) => {
      const row = rowOf(name, crew);
      db.insert(crews)
        .values(row)
        .onConflictDoUpdate({
          target: crews.id,
          set: { name, crew: row.crew, revision: nextRevision, updatedAt: row.updatedAt },
        })
        .run();
    },
    remove: (id) => db.delete(crews).where(eq(crews.id, id)).run().changes > 0,
  };
}
