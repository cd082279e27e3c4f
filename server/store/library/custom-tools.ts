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
  /** Set while the tool is in the bin. */
  deleted_at: number | null;
}

export type CustomToolSaveResult =
  | { saved: true; version: number }
  /** `base_version` is not the newest any more, or a new tool's name is taken. */
  | { saved: false; reason: "stale" | "name_taken" };

const toTool = (row: typeof customTools.$inferSelect): StoredCustomTool => ({
  definition: CustomToolDefinition.parse(JSON.parse(row.definition)),
  version: row.version,
  created_at: row.createdAt,
  deleted_at: row.deletedAt,
});

const isNewest = sql`${customTools.version} = (select max(v.version) from custom_tools v where v.name = ${customTools.name})`;

/** Tools written in the app. Every save is a version; deleted tools stay in the bin until they are purged. */
export class CustomToolStore {
  constructor(
    private readonly db: Db,
    private readonly now: () => number = Date.now,
  ) {}

  find(name: string): StoredCustomTool | undefined {
    const tool = this.newest(name);
    return tool && tool.deleted_at === null ? tool : undefined;
  }

  /** The newest versions, by name, without the bin. */
  list(): StoredCustomTool[] {
    return this.select(and(isNewest, isNull(customTools.deletedAt)), asc(customTools.name))
      .all()
      .map(toTool);
  }

  /** The newest versions of those in the bin. */
  bin(): StoredCustomTool[] {
    return this.select(and(isNewest, isNotNull(customTools.deletedAt)), desc(customTools.deletedAt))
      .all()
      .map(toTool);
  }

  /** All versions, newest first. */
  versions(name: string): StoredCustomTool[] {
    return this.select(eq(customTools.name, name), desc(customTools.version)).all().map(toTool);
  }

  /** `base_version`: the version that was changed, null for a new tool. The same definition again makes no version. */
  save(definition: CustomToolDefinition, base: number | null): CustomToolSaveResult {
    return writeTransaction(this.db, () => this.saveVersion(definition, base));
  }

  remove(name: string): boolean {
    return this.setDeleted(name, this.now());
  }

  /** Takes it out of the bin. */
  restore(name: string): boolean {
    return this.setDeleted(name, null);
  }

  /** Makes an older version the newest again; answers its new number. */
  restoreVersion(name: string, version: number): number | undefined {
    return writeTransaction(this.db, () => {
      const current = this.find(name);
      const isIt = and(eq(customTools.name, name), eq(customTools.version, version));
      const row = this.select(isIt, desc(customTools.version)).get();
      return current && row ? this.add(toTool(row).definition, current.version + 1) : undefined;
    });
  }

  /** Empties the bin of what was removed before a moment; answers how many tools went. */
  purge(before: number): number {
    return writeTransaction(this.db, () => {
      const gone = this.db
        .select({ name: customTools.name })
        .from(customTools)
        .where(and(isNewest, lt(customTools.deletedAt, before)))
        .all();
      for (const { name } of gone) this.db.delete(customTools).where(eq(customTools.name, name)).run();
      return gone.length;
    });
  }

  private select(where: SQL | undefined, order: SQL) {
    return this.db.select().from(customTools).where(where).orderBy(order);
  }

  private newest(name: string) {
    const row = this.select(eq(customTools.name, name), desc(customTools.version)).get();
    return row && toTool(row);
  }

  private add(definition: CustomToolDefinition, version: number) {
    this.db
      .insert(customTools)
      .values({
        name: definition.name,
        version,
        definition: canonicalJson(definition),
        createdAt: this.now(),
      })
      .run();
    return version;
  }

  /** `base_version`: the version that was changed, null for a new tool. The same definition again makes no version. */
  private saveVersion(definition: CustomToolDefinition, base: number | null): CustomToolSaveResult {
    const current = this.newest(definition.name);
    const isAlive = current !== undefined && current.deleted_at === null;
    if (base === null && isAlive) return { saved: false, reason: "name_taken" };
    if (base !== null && (!isAlive || current.version !== base)) return { saved: false, reason: "stale" };
    if (isAlive && canonicalJson(current.definition) === canonicalJson(definition))
      return { saved: true, version: current.version };
    // A new tool with the name of one in the bin continues its versions, so that they can be restored.
    if (current?.deleted_at != null) this.setDeleted(definition.name, null);
    return { saved: true, version: this.add(definition, (current?.version ?? 0) + 1) };
  }

  private setDeleted(name: string, deletedAt: number | null) {
    return (
      this.db
        .update(customTools)
        .set({ deletedAt })
        .where(
          and(
            eq(customTools.name, name),
            isNewest,
            deletedAt === null ? isNotNull(customTools.deletedAt) : isNull(customTools.deletedAt),
          ),
        )
        .run().changes > 0
    );
  }
}
