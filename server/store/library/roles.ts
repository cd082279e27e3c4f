import { and, asc, eq, sql } from "drizzle-orm";
import type { Db } from "@/db/open";
import { roles, settings } from "@/db/schema";
import { RoleDefinition } from "@/server/domain/agent/role";
import { canonicalJson } from "@/server/domain/base/json";
import { agentWithRoleRenamed, crewWithRoleRenamed } from "@/server/domain/library/role-use";
import { ownJson } from "../own-json";
import { newWorkflowStore } from "../workflows";
import { newAgentStore } from "./agents";
import { newCrewStore } from "./crews";
import { newShelfBin } from "./shelf-bin";

export interface StoredRole {
  role: RoleDefinition;
  revision: number;
  /** It came with Troupe. */
  builtin: boolean;
  updated_at: number;
  /** Where it comes from if not from here: it is read from a file, and only changed there. */
  origin?: { kind: "folder"; file: string };
}

/** Roles that stand in files beside the database. A role of the same name in the database is hidden by them. */
export interface RoleSource {
  roles(): readonly { role: RoleDefinition; file: string }[];
}

export type RoleSaveResult =
  /** `renamed_in`: how many named the role by its old name, and now name it by its new one. */
  | { saved: true; revision: number; renamed_in: Record<"workflows" | "crews" | "agents", number> }
  | { saved: false; reason: "stale"; current: StoredRole }
  | { saved: false; reason: "gone" }
  | { saved: false; reason: "name_taken" }
  | { saved: false; reason: "read_only"; file: string };

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
  /** Adds or replaces, whatever was there; a role from a file stays as it is. */
  put(role: RoleDefinition): void;
  /** False if there is none, or if it comes from a file. */
  remove(name: string): boolean;
  /** Adds roles that came with Troupe: new ones, and newer versions of those that nobody has touched. */
  seed(builtin: readonly RoleDefinition[]): void;
}

/** The names that were ever seeded, so that a role which someone deleted does not come back at the next start. */
const SEEDED = "roles.seeded";

export function newRoleStore(
  db: Db,
  now: () => number = Date.now,
  folder: RoleSource = { roles: () => [] },
): RoleStore {
  const workflows = newWorkflowStore(db, now);
  const crews = newCrewStore(db, now);
  const agents = newAgentStore(db, now);
  const bin = newShelfBin(db, "role", now);
  const toStored = (row: typeof roles.$inferSelect): StoredRole => ({
    role: RoleDefinition.parse(JSON.parse(row.role)),
    revision: row.revision,
    builtin: row.builtin,
    updated_at: row.updatedAt,
  });
  const inFolder = (name: string) => folder.roles().find(({ role }) => role.name === name);
  const fromFolder = ({ role, file }: { role: RoleDefinition; file: string }): StoredRole => ({
    role,
    revision: 1,
    builtin: false,
    updated_at: 0,
    origin: { kind: "folder", file },
  });
  const list = () => {
    const files = folder.roles();
    const hidden = new Set(files.map(({ role }) => role.name));
    const own = db
      .select()
      .from(roles)
      .orderBy(asc(sql`lower(${roles.name})`))
      .all()
      .filter(({ name }) => !hidden.has(name))
      .map(toStored);
    if (files.length === 0) return own;
    const word = ({ role }: StoredRole) => role.name.toLowerCase();
    return [...own, ...files.map(fromFolder)].sort((a, b) => (word(a) < word(b) ? -1 : 1));
  };
  const find = (name: string) => {
    const file = inFolder(name);
    if (file) return fromFolder(file);
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
    create: (role) => {
      if (inFolder(role.name)) return false;
      const row = rowOf(role);
      const isNew = db.insert(roles).values(row).onConflictDoNothing().run().changes > 0;
      if (isNew) bin.forget(row.name, row.role);
      return isNew;
    },
    save: (name, revision, role) =>
      db.transaction(
        (tx): RoleSaveResult => {
          const file = inFolder(name)?.file;
          if (file !== undefined) return { saved: false, reason: "read_only", file };
          const moved = role.name !== name;
          if (moved && inFolder(role.name)) return { saved: false, reason: "name_taken" };
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
            const { name: to } = role;
            const renamed_in = {
              workflows: moved ? workflows.renameRole(name, to) : 0,
              crews: moved ? crews.rewrite((crew) => crewWithRoleRenamed(crew, name, to)) : 0,
              agents: moved ? agents.rewrite((agent) => agentWithRoleRenamed(agent, name, to)) : 0,
            };
            return { saved: true, revision: row.revision, renamed_in };
          }
          const current = find(name);
          return current ? { saved: false, reason: "stale", current } : { saved: false, reason: "gone" };
        },
        { behavior: "immediate" },
      ),
    put: (role) => {
      if (inFolder(role.name)) return;
      const row = rowOf(role);
      db.insert(roles)
        .values(row)
        .onConflictDoUpdate({
          target: roles.name,
          set: { role: row.role, revision: sql`${roles.revision} + 1`, updatedAt: row.updatedAt },
        })
        .run();
    },
    remove: (name) =>
      !inFolder(name) &&
      db.transaction(
        (tx) => {
          const row = tx.delete(roles).where(eq(roles.name, name)).returning().get();
          if (row) bin.put(row.name, row.name, row.role);
          return row !== undefined;
        },
        { behavior: "immediate" },
      ),
    seed: (builtin) =>
      db.transaction(
        (tx) => {
          const before = tx.select().from(settings).where(eq(settings.key, SEEDED)).get();
          const seeded = new Set(before ? ownJson<string[]>(before.value) : []);
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
