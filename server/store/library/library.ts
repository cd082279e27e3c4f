import { asc, eq, sql } from "drizzle-orm";
import type { z } from "zod";
import type { Db } from "@/db/open";
import type { agents, crews } from "@/db/schema";
import { canonicalJson } from "@/server/domain/base/json";
import { newShelfBin } from "./shelf-bin";

/** A thing of the library under its own word, such as `{ id, name, crew, ... }`. */
export type Stored<Word extends string, Thing> = {
  /** What others name it by; the same as the id inside of the thing, and it never changes. */
  id: string;
  name: string;
  /** Counts saves; a save names the one it was made on. */
  revision: number;
  updated_at: number;
} & Record<Word, Thing>;

export type LibrarySaveResult<Word extends string, Thing> =
  | { saved: true; revision: number }
  /** Someone else saved in between, or it is gone (`current` undefined). */
  | { saved: false; current: Stored<Word, Thing> | undefined };

/** Things with an id and a name that workflows may name by that id. */
export interface LibraryStore<Word extends string, Thing> {
  /** By name. */
  list(): Stored<Word, Thing>[];
  find(id: string): Stored<Word, Thing> | undefined;
  /** Its id is the thing's own. False if that is taken. */
  create(name: string, thing: Thing): boolean;
  /** Saves over a revision that the caller has seen; the thing keeps the id of the row. */
  save(
    change: { id: string; revision: number; name: string } & Record<Word, Thing>,
  ): LibrarySaveResult<Word, Thing>;
  /** Adds or replaces, whatever was there. */
  put(name: string, thing: Thing): void;
  remove(id: string): boolean;
  /** Saves what `change` makes of each thing, where that is another object; answers how many changed. */
  rewrite(change: (thing: Thing) => Thing): number;
}

interface Kind<Word extends string, IdKey extends string, Thing> {
  table: typeof crews | typeof agents;
  word: Word;
  idKey: IdKey;
  schema: z.ZodType<Thing>;
}

export function newLibraryStore<
  Word extends "crew" | "agent",
  IdKey extends string,
  Thing extends Record<IdKey, string>,
>(db: Db, kind: Kind<Word, IdKey, Thing>, now: () => number): LibraryStore<Word, Thing> {
  const { word, idKey, schema } = kind;
  // The tables differ in names only, which the types of a query builder cannot leave open.
  const table = kind.table as typeof crews;
  const read = (text: string): Thing => schema.parse(JSON.parse(text));
  const toStored = (row: typeof crews.$inferSelect): Stored<Word, Thing> => {
    const { id, name, revision, updatedAt } = row;
    const about = { id, name, revision, updated_at: updatedAt };
    // A computed key is lost on the type checker.
    return { ...about, [word]: read(row.content) } as Stored<Word, Thing>;
  };
  const find = (id: string) => {
    const row = db.select().from(table).where(eq(table.id, id)).get();
    return row && toStored(row);
  };
  const rowOf = (name: string, thing: Thing) => {
    const at = now();
    return { id: thing[idKey], name, content: canonicalJson(thing), createdAt: at, updatedAt: at };
  };
  const nextRevision = sql`${table.revision} + 1`;
  const bin = newShelfBin(db, word, now);

  return {
    list: () =>
      db
        .select()
        .from(table)
        .orderBy(asc(sql`lower(${table.name})`), asc(table.id))
        .all()
        .map(toStored),
    find,
    create: (name, thing) => {
      const row = rowOf(name, thing);
      const isNew = db.insert(table).values(row).onConflictDoNothing().run().changes > 0;
      if (isNew) bin.forget(row.id, row.content);
      return isNew;
    },
    save: (change) => {
      const { id, revision, name } = change;
      const thing: Thing = change[word];
      // One statement checks and writes: two tabs can never both pass the check.
      const row = db
        .update(table)
        .set({
          name,
          content: canonicalJson({ ...thing, [idKey]: id }),
          revision: nextRevision,
          updatedAt: now(),
        })
        .where(sql`${table.id} = ${id} and ${table.revision} = ${revision}`)
        .returning({ revision: table.revision })
        .get();
      return row ? { saved: true, revision: row.revision } : { saved: false, current: find(id) };
    },
    put: (name, thing) => {
      const row = rowOf(name, thing);
      db.insert(table)
        .values(row)
        .onConflictDoUpdate({
          target: table.id,
          set: { name, content: row.content, revision: nextRevision, updatedAt: row.updatedAt },
        })
        .run();
    },
    remove: (id) =>
      db.transaction(
        (tx) => {
          const row = tx.delete(table).where(eq(table.id, id)).returning().get();
          if (row) bin.put(row.id, row.name, row.content);
          return row !== undefined;
        },
        { behavior: "immediate" },
      ),
    rewrite: (change) =>
      db.transaction(
        (tx) => {
          let changed = 0;
          for (const { id, content } of tx.select().from(table).all()) {
            const before = read(content);
            const after = change(before);
            if (after === before) continue;
            tx.update(table)
              .set({ content: canonicalJson(after), revision: nextRevision, updatedAt: now() })
              .where(eq(table.id, id))
              .run();
            changed++;
          }
          return changed;
        },
        { behavior: "immediate" },
      ),
  };
}
