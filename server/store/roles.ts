import { and, asc, eq, sql } from "drizzle-orm";
import type { Db } from "@/db/open";
import { roles, settings } from "@/db/schema";
import { RoleDefinition } from "@/server/domain/role";
import { canonicalJson } from "@/server/domain/values";
import { newWorkflowStore } from "./workflows";

export interface StoredRole {
  role: RoleDefinition;
  revision: number;
  /** It came with Troupe. */
  builtin: boolean;
  updated_at: number;
}

export type RoleSaveResult =
  /** `workflows_changed`: how many named the role by its old name, and now name it by its new one. */
  | { saved: true; revision: number; workflows_changed: number }
  | { saved: false; reason: "stale"; current: StoredRole }
  | { saved: false; reason: "gone" }
  | { saved: false; reason: "name_taken" };

/** The roles that workflows may name. */
export interface RoleStore {
  /** By name. */
  list(): StoredRole[];
  /** The definitions alone, for checking and running. */
  all(): RoleDefinition[];
  find(name: string): StoredRole | undefined;
  /** False if the name is taken. */
  create(role: RoleDefinition): boolean;
  /** Saves over a revision that the caller has seen; the role may carry a new name. */
  save(name: string, revision: number, role: RoleDefinition): RoleSaveResult;
  /** Adds or replaces, whatever was there. */
  put(role: RoleDefinition): void;
  remove(name: string): boolean;
  /** Adds roles that came with Troupe: new ones, and newer versions of those that nobody has touched. */
  seed(builtin: readonly RoleDefinition[]): void;
}

/** The names that were ever seeded, so that a role which someone deleted does not come back at the next start. */
const SEEDED = "roles.seeded";

export function newRoleStore(db: Db, now: () => number = Date.now): RoleStore {
  const workflows = newWorkflowStore(db, now);
  const toStored = (row: typeof roles.$inferSelect): StoredRole => ({
    role: RoleDefinition.parse(JSON.parse(row.role)),
    revision: row.revision,
    builtin: row.builtin,
    updated_at: row.updatedAt,
  });
  const list = () =>
    db
      .select()
      .from(roles)
      .orderBy(asc(sql`lower(${roles.name})`))
      .all()
      .map(toStored);
  const find = (name: string) => {
    const row = db.select().from(roles).where(eq(roles.name, name)).get();
    return row && toStored(row);
  };
  const rowOf = (role: RoleDefinition) => {
    const at = now();
    return { name: role.name, role: canonicalJson(role), createdAt: at, updatedAt: at };
  };

  return {
    list,
    all: () => list().map(({ role }) => role),
    find,
    create: (role) => db.insert(roles).values(rowOf(role)).onConflictDoNothing().run().changes > 0,
    save: (name, revision, role) =>
      db.transaction(
        (tx): RoleSaveResult => {
          const moved = role.name !== name;
          if (moved && tx.select({ name: roles.name }).from(roles).where(eq(roles.name, role.name)).get())
            return { saved: false, reason: "name_taken" };
          const row = tx
            .update(roles)
            .set({
              name: role.name,
              role: canonicalJson(role),
              revision: sql`${roles.revision} + 1`,
              updatedAt: now(),
            })
            .where(and(eq(roles.name, name), eq(roles.revision, revision)))
            .returning({ revision: roles.revision })
            .get();
          if (row) {
            const changed = moved ? workflows.renameRole(name, role.name) : 0;
            return { saved: true, revision: row.revision, workflows_changed: changed };
          }
          const current = find(name);
          return current ? { saved: false, reason: "stale", current } : { saved: false, reason: "gone" };
        },
        { behavior: "immediate" },
      ),
    put: (role) => {
      const row = rowOf(role);
      db.insert(roles)
        .values(row)
        .onConflictDoUpdate({
          target: roles.name,
          set: { role: row.role, revision: sql`${roles.revision} + 1`, updatedAt: row.updatedAt },
        })
        .run();
    },
    remove: (name) => db.delete(roles).where(eq(roles.name, name)).run().changes > 0,
    seed: (builtin) =>
      db.transaction(
        (tx) => {
          const before = tx.select().from(settings).where(eq(settings.key, SEEDED)).get();
          const seeded = new Set(before ? (JSON.parse(before.value) as string[]) : []);
          for (const role of builtin) {
            const row = { ...rowOf(role), builtin: true };
            if (!seeded.has(role.name)) tx.insert(roles).values(row).onConflictDoNothing().run();
            else
              tx.update(roles)
                .set({ role: row.role })
                // Revision 1: nobody has saved it.
                .where(and(eq(roles.name, role.name), eq(roles.builtin, true), eq(roles.revision, 1)))
                .run();
            seeded.add(role.name);
          }
          const value = JSON.stringify([...seeded].sort());
          tx.insert(settings)
            .values({ key: SEEDED, value })
            .onConflictDoUpdate({ target: settings.key, set: { value } })
            .run();
        },
        { behavior: "immediate" },
      ),
  };
}
