import { and, desc, eq, isNotNull, isNull, lt, type SQL, sql } from "drizzle-orm";
import { z } from "zod";
import { type Db, writeTransaction } from "@/db/open";
import { workflows } from "@/db/schema";
import { defined } from "@/server/domain/base/defined";
import { newId } from "@/server/domain/base/ids";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { blockedKeys } from "@/server/domain/library/capabilities";
import { withRoleRenamed } from "@/server/domain/library/role-use";
import { type ForeignTexts, newForeignTexts } from "./library/foreign-texts";
import { forgetTestsOf } from "./library/scenario-tests";
import { forgetWorkOf, renameWorkOf } from "./runs/crew-work";
import { readStoredGraph } from "./stored-graph";
import { forgetTriggersOf } from "./triggers/triggers";
import { forgetVariablesOf } from "./variables";
import { newRestorePoints, type RestoreReason } from "./versions/restore-points";
import { forgetVersionsOf } from "./versions/workflow-versions";

export interface StoredWorkflow {
  id: string;
  name: string;
  /** Counts saves; a save names the one it was made on. */
  revision: number;
  graph: WorkflowGraph;
  /** Keys of capabilities that its file asked for and that are not allowed. */
  withheld: readonly string[];
  updated_at: number;
}

export type SaveResult =
  | { saved: true; revision: number; updated_at: number }
  /** Someone else saved in between, or the workflow is gone (`current` undefined). */
  | { saved: false; current: StoredWorkflow | undefined };

const Keys = z.array(z.string());

type Row = typeof workflows.$inferSelect;

const alive = (id: string) => and(eq(workflows.id, id), isNull(workflows.deletedAt));

const nextRevision = sql`${workflows.revision} + 1`;

/** Saved workflows. Deleted ones stay in the bin until they are purged. */
export class WorkflowStore {
  private readonly parsed = new Map<string, { revision: number; graph: WorkflowGraph }>();
  /** Which texts of workflows, roles and crews came with files. */
  readonly foreign: ForeignTexts;
  /** What `save` and `putBack` overwrote. */
  readonly points: ReturnType<typeof newRestorePoints>;

  constructor(
    private readonly db: Db,
    private readonly now: () => number = Date.now,
  ) {
    this.foreign = newForeignTexts(db);
    this.points = newRestorePoints(db);
  }

  find(id: string): StoredWorkflow | undefined {
    const row = this.db.select().from(workflows).where(alive(id)).get();
    return row && this.toWorkflow(row);
  }

  create(workflow: { name: string; graph: WorkflowGraph; withheld?: readonly string[] }): string {
    const { name, graph, withheld = [] } = workflow;

    const id = newId("wf");
    const at = this.now();
    this.db
      .insert(workflows)
      .values({
        id,
        name,
        graph: JSON.stringify(graph),
        withheld: JSON.stringify(withheld),
        createdAt: at,
        updatedAt: at,
      })
      .run();
    return id;
  }

  /** Newest first. */
  list(): StoredWorkflow[] {
    return this.db
      .select()
      .from(workflows)
      .where(isNull(workflows.deletedAt))
      .orderBy(desc(workflows.updatedAt), desc(workflows.id))
      .all()
      .map((row) => this.toWorkflow(row));
  }

  /** `reason`: why it is overwritten, if not by an edit: then the graph before it becomes a restore point in any case. */
  save(change: {
    id: string;
    revision: number;
    name?: string | undefined;
    graph: WorkflowGraph;
    reason?: RestoreReason | undefined;
  }): SaveResult {
    const { id, revision, name, graph, reason = "edit" } = change;
    const saved = this.overwrite(
      id,
      { ...defined({ name }), graph: JSON.stringify(graph) },
      { reason, revision },
    );
    return saved ? { saved: true, ...saved } : { saved: false, current: this.find(id) };
  }

  /**
   * Makes an earlier graph the current one, as stored text, and withholds what was withheld from it. Returns the new
   * revision; undefined if the workflow doesn't exist.
   */
  putBack(id: string, earlier: { graph: string; withheld: readonly string[] }): number | undefined {
    return writeTransaction(this.db, () => {
      const now = this.find(id);
      if (!now) return undefined;
      // Permissions may have been withdrawn since: only those that are still allowed remain.
      const saved = this.overwrite(id, { graph: earlier.graph }, { reason: "restore" });
      this.withhold(id, [...now.withheld, ...blockedKeys(earlier.withheld)]);
      return saved?.revision;
    });
  }

  /** Keeps all that is stored meanwhile, here and in other stores, or nothing. */
  atOnce<T>(work: () => T): T {
    return writeTransaction(this.db, work);
  }

  /** Overwrites a graph, of that revision if one is given. */
  private overwrite(
    id: string,
    values: { name?: string; graph: string },
    { reason, revision }: { reason: RestoreReason; revision?: number },
  ): { revision: number; updated_at: number } | undefined {
    const updated_at = this.now();
    return writeTransaction(this.db, () => {
      const isIt = and(alive(id), revision === undefined ? undefined : eq(workflows.revision, revision));
      const before = this.db.select().from(workflows).where(isIt).get();
      if (!before) return undefined;
      if (before.graph !== values.graph) this.points.keep(before, reason, updated_at);
      const saved = this.db
        .update(workflows)
        .set({ ...values, revision: nextRevision, updatedAt: updated_at })
        .where(isIt)
        .returning({ revision: workflows.revision })
        .get();
      return saved && { ...saved, updated_at };
    });
  }

  rename(id: string, name: string): boolean {
    return (
      this.db
        .update(workflows)
        .set({ name, revision: nextRevision, updatedAt: this.now() })
        .where(alive(id))
        .run().changes > 0
    );
  }

  /** Sets the capabilities it may not use; false if the workflow doesn't exist. */
  withhold(id: string, keys: readonly string[]): boolean {
    return (
      this.db
        .update(workflows)
        .set({ withheld: JSON.stringify([...new Set(keys)].sort()) })
        .where(alive(id))
        .run().changes > 0
    );
  }

  duplicate(id: string): string | undefined {
    const original = this.find(id);
    if (!original) return undefined;
    const names = new Set(
      this.db
        .select({ name: workflows.name })
        .from(workflows)
        .where(isNull(workflows.deletedAt))
        .all()
        .map(({ name }) => name),
    );
    const { graph, withheld } = original;
    return this.create({ name: copyName(original.name, names), graph, withheld });
  }

  remove(id: string): boolean {
    return this.db.update(workflows).set({ deletedAt: this.now() }).where(alive(id)).run().changes > 0;
  }

  restore(id: string): boolean {
    return (
      this.db
        .update(workflows)
        .set({ deletedAt: null })
        .where(and(eq(workflows.id, id), isNotNull(workflows.deletedAt)))
        .run().changes > 0
    );
  }

  /** Empties the bin of what was removed before a moment; answers how many went. */
  purge(before: number): number {
    return deleteBinned(this.db, lt(workflows.deletedAt, before));
  }

  /** Writes a role's new name into every workflow, the bin too; answers how many changed. */
  renameRole(from: string, to: string): number {
    return writeTransaction(this.db, () => {
      let changed = 0;
      for (const row of this.db.select().from(workflows).all()) {
        const { graph } = this.toWorkflow(row);
        const renamed = withRoleRenamed(graph, from, to);
        if (renamed === graph) continue;
        this.db
          .update(workflows)
          .set({ graph: JSON.stringify(renamed), revision: nextRevision, updatedAt: this.now() })
          .where(eq(workflows.id, row.id))
          .run();
        changed++;
      }
      renameWorkOf(this.db, from, to);
      return changed;
    });
  }

  private toWorkflow(row: Row): StoredWorkflow {
    let known = this.parsed.get(row.id);
    if (known?.revision !== row.revision) {
      known = { revision: row.revision, graph: readStoredGraph(row.graph) };
      this.parsed.set(row.id, known);
    }
    return {
      id: row.id,
      name: row.name,
      revision: row.revision,
      graph: known.graph,
      withheld: Keys.parse(JSON.parse(row.withheld)),
      updated_at: row.updatedAt,
    };
  }
}

/** "Approval" -> "Approval copy" -> "Approval copy 2". */
export function copyName(name: string, taken: ReadonlySet<string>): string {
  const base = `${name.replace(/ copy( \d+)?$/, "")} copy`;
  if (!taken.has(base)) return base;
  for (let n = 2; ; n++) if (!taken.has(`${base} ${n}`)) return `${base} ${n}`;
}

/** Permanently deletes workflows in the bin, with everything that belongs to them; returns how many. */
export const deleteBinned = (db: Db, which: SQL): number =>
  db.transaction((tx) => {
    const ids = tx
      .delete(workflows)
      .where(and(which, isNotNull(workflows.deletedAt)))
      .returning({ id: workflows.id })
      .all()
      .map(({ id }) => id);
    forgetWorkOf(tx, ids);
    forgetTestsOf(tx, ids);
    forgetTriggersOf(tx, ids);
    forgetVersionsOf(tx, ids);
    forgetVariablesOf(tx, ids);
    return ids.length;
  });
