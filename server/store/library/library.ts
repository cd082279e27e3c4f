import { asc, eq, sql } from "drizzle-orm";
import type { z } from "zod";
import { type Db, writeTransaction } from "@/db/open";
import type { agents, crews } from "@/db/schema";
import { canonicalJson } from "@/server/domain/base/json";
import { Shelf } from "./shelf";

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
  const shelf = new Shelf(
    db,
    {
      kind: word,
      table,
      orderBy: [asc(sql`lower(${table.name})`), asc(table.id)],
      toBin: ({ id, name, content }) => ({ key: id, name, content: () => content }),
    },
    now,
  );
  const is = (id: string) => eq(table.id, id);
  const read = (text: string): Thing => schema.parse(JSON.parse(text));
  const toStored = (row: typeof crews.$inferSelect): Stored<Word, Thing> => {
    const { id, name, revision, updatedAt } = row;
    const about = { id, name, revision, updated_at: updatedAt };
    // A computed key is lost on the type checker.
    return { ...about, [word]: read(row.content) } as Stored<Word, Thing>;
  };
  const find = (id: string) => {
    const row = shelf.find(is(id));
    return row && toStored(row);
  };
  const rowOf = (name: string, thing: Thing) => ({ id: thing[idKey], name, content: canonicalJson(thing) });

  return {
    list: () => shelf.list().map(toStored),
    find,
    create: (name, thing) => shelf.insert(rowOf(name, thing)),
    save: (change) => {
      const { id, name } = change;
      const thing: Thing = change[word];
      const content = canonicalJson({ ...thing, [idKey]: id });
      const revision = shelf.save(is(id), { name, content }, change.revision);
      return revision === undefined ? { saved: false, current: find(id) } : { saved: true, revision };
    },
    put: (name, thing) => shelf.put(is(thing[idKey]), rowOf(name, thing)),
    remove: (id) => shelf.remove(is(id)),
    rewrite: (change) =>
      writeTransaction(db, () => {
        let changed = 0;
        for (const { id, content } of shelf.list()) {
          const before = read(content);
          const after = change(before);
          if (after === before) continue;
          shelf.save(is(id), { content: canonicalJson(after) });
          changed++;
        }
        return changed;
      }),
  };
}
