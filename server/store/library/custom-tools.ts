import { and, asc, desc, eq, isNotNull, isNull, lt, type SQL, sql } from "drizzle-orm";
import { type Db, writeTransaction } from "@/db/open";
import { customTools } from "@/db/schema";
import { canonicalJson } from "@/server/domain/base/json";
import { CustomToolDefinition } from "@/server/domain/tool/custom-tool";

export interface StoredCustomTool {
  definition: CustomToolDefinition;
  /** Counts the changes; the newest is in use. */
  version: number;
  created_at: number;
  /** Set while the tool lies in the bin. */
  deleted_at: number | null;
}

export type CustomToolSaveResult =
  | { saved: true; version: number }
  /** `base_version` is not the newest any more, or a new tool's name is taken. */
  | { saved: false; reason: "stale" | "name_taken" };

/** Tools written in the app. Every save is a version; what is removed lies in a bin until it is purged. */
export interface CustomToolStore {
  /** The newest versions, by name, without the bin. */
  list(): StoredCustomTool[];
  /** The newest versions of those in the bin. */
  bin(): StoredCustomTool[];
  find(name: string): StoredCustomTool | undefined;
  /** All versions, newest first. */
  versions(name: string): StoredCustomTool[];
  /** `base_version`: the version that was changed, null for a new tool. The same definition again makes no version. */
  save(definition: CustomToolDefinition, base_version: number | null): CustomToolSaveResult;
  remove(name: string): boolean;
  /** Takes it out of the bin. */
  restore(name: string): boolean;
  /** Makes an older version the newest again; answers its new number. */
  restoreVersion(name: string, version: number): number | undefined;
  /** Empties the bin of what was removed before a moment; answers how many tools went. */
  purge(before: number): number;
}

export function newCustomToolStore(db: Db, now: () => number = Date.now): CustomToolStore {
  const toTool = (row: typeof customTools.$inferSelect): StoredCustomTool => ({
    definition: CustomToolDefinition.parse(JSON.parse(row.definition)),
    version: row.version,
    created_at: row.createdAt,
    deleted_at: row.deletedAt,
  });
  const isNewest = sql`${customTools.version} = (select max(v.version) from custom_tools v where v.name = ${customTools.name})`;
  const select = (where: SQL | undefined, order: SQL) =>
    db.select().from(customTools).where(where).orderBy(order);
  const newest = (name: string) => {
    const row = select(eq(customTools.name, name), desc(customTools.version)).get();
    return row && toTool(row);
  };
  const find = (name: string) => {
    const tool = newest(name);
    return tool && tool.deleted_at === null ? tool : undefined;
  };
  const add = (definition: CustomToolDefinition, version: number) => {
    db.insert(customTools)
      .values({
        name: definition.name,
        version,
        definition: canonicalJson(definition),
        createdAt: now(),
      })
      .run();
    return version;
  };
  const save = (definition: CustomToolDefinition, base: number | null): CustomToolSaveResult => {
    const current = newest(definition.name);
    const isAlive = current !== undefined && current.deleted_at === null;
    if (base === null && isAlive) return { saved: false, reason: "name_taken" };
    if (base !== null && (!isAlive || current.version !== base)) return { saved: false, reason: "stale" };
    if (isAlive && canonicalJson(current.definition) === canonicalJson(definition))
      return { saved: true, version: current.version };
    // A new tool by the name of one in the bin goes on from its versions, so that they stay restorable.
    if (current?.deleted_at != null) setDeleted(definition.name, null);
    return { saved: true, version: add(definition, (current?.version ?? 0) + 1) };
  };
  const setDeleted = (name: string, deletedAt: number | null) =>
    db
      .update(customTools)
      .set({ deletedAt })
      .where(
        and(
          eq(customTools.name, name),
          isNewest,
          deletedAt === null ? isNotNull(customTools.deletedAt) : isNull(customTools.deletedAt),
        ),
      )
      .run().changes > 0;

  return {
    list: () =>
      select(and(isNewest, isNull(customTools.deletedAt)), asc(customTools.name))
        .all()
        .map(toTool),
    bin: () =>
      select(and(isNewest, isNotNull(customTools.deletedAt)), desc(customTools.deletedAt))
        .all()
        .map(toTool),
    find,
    versions: (name) => select(eq(customTools.name, name), desc(customTools.version)).all().map(toTool),
    save: (definition, base) => writeTransaction(db, () => save(definition, base)),
    remove: (name) => setDeleted(name, now()),
    restore: (name) => setDeleted(name, null),
    restoreVersion: (name, version) =>
      writeTransaction(db, () => {
        const current = find(name);
        const isIt = and(eq(customTools.name, name), eq(customTools.version, version));
        const row = select(isIt, desc(customTools.version)).get();
        return current && row ? add(toTool(row).definition, current.version + 1) : undefined;
      }),
    purge: (before) =>
      writeTransaction(db, () => {
        const gone = db
          .select({ name: customTools.name })
          .from(customTools)
          .where(and(isNewest, lt(customTools.deletedAt, before)))
          .all();
        for (const { name } of gone) db.delete(customTools).where(eq(customTools.name, name)).run();
        return gone.length;
      }),
  };
}
