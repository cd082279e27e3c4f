import { and, asc, eq, sql } from "drizzle-orm";
import { type Db, writeTransaction } from "@/db/open";
import { roles } from "@/db/schema";
import { RoleDefinition } from "@/server/domain/agent/role";
import { canonicalJson } from "@/server/domain/base/json";
import { agentWithRoleRenamed, crewWithRoleRenamed } from "@/server/domain/library/role-use";
import { ownJson } from "../own-json";
import { newSettingStore } from "../settings";
import { newWorkflowStore } from "../workflows";
import { newAgentStore } from "./agents";
import { newCrewStore } from "./crews";
import { newShelf } from "./shelf";

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
  const shelf = newShelf(
    db,
    {
      kind: "role",
      table: roles,
      orderBy: [asc(sql`lower(${roles.name})`)],
      toBin: ({ name, content }) => ({ key: name, name, content: () => content }),
    },
    now,
  );
  const is = (name: string) => eq(roles.name, name);
  const toStored = (row: typeof roles.$inferSelect): StoredRole => ({
    role: RoleDefinition.parse(JSON.parse(row.content)),
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
    const own = shelf
      .list()
      .filter(({ name }) => !hidden.has(name))
      .map(toStored);
    if (files.length === 0) return own;
    const word = ({ role }: StoredRole) => role.name.toLowerCase();
    return [...own, ...files.map(fromFolder)].sort((a, b) => (word(a) < word(b) ? -1 : 1));
  };
  const find = (name: string) => {
    const file = inFolder(name);
    if (file) return fromFolder(file);
    const row = shelf.find(is(name));
    return row && toStored(row);
  };
  const rowOf = (role: RoleDefinition) => ({ name: role.name, content: canonicalJson(role) });

  return {
    list,
    all: () => list().map(({ role }) => role),
    find,
    create: (role) => !inFolder(role.name) && shelf.insert(rowOf(role)),
    save: (name, since, role) =>
      writeTransaction(db, () => {
        const file = inFolder(name)?.file;
        if (file !== undefined) return { saved: false, reason: "read_only", file };
        const { name: to } = role;
        const isRenamed = to !== name;
        if (isRenamed && find(to)) return { saved: false, reason: "name_taken" };
        const revision = shelf.save(is(name), rowOf(role), since);
        if (revision === undefined) {
          const current = find(name);
          return current ? { saved: false, reason: "stale", current } : { saved: false, reason: "gone" };
        }
        const renamed_in = {
          workflows: isRenamed ? workflows.renameRole(name, to) : 0,
          crews: isRenamed ? crews.rewrite((crew) => crewWithRoleRenamed(crew, name, to)) : 0,
          agents: isRenamed ? agents.rewrite((agent) => agentWithRoleRenamed(agent, name, to)) : 0,
        };
        return { saved: true, revision, renamed_in };
      }),
    put: (role) => {
      if (!inFolder(role.name)) shelf.put(is(role.name), rowOf(role));
    },
    remove: (name) => !inFolder(name) && shelf.remove(is(name)),
    seed: (builtin) =>
      writeTransaction(db, () => {
        const settings = newSettingStore(db);
        const seeded = new Set(ownJson<string[]>(settings.find(SEEDED) ?? "[]"));
        for (const role of builtin) {
          if (!seeded.has(role.name)) shelf.insert({ ...rowOf(role), builtin: true });
          else
            db.update(roles)
              .set({ content: canonicalJson(role) })
              // Revision 1: nobody has saved it.
              .where(and(eq(roles.name, role.name), eq(roles.builtin, true), eq(roles.revision, 1)))
              .run();
          seeded.add(role.name);
        }
        settings.set(SEEDED, JSON.stringify([...seeded].sort()));
      }),
  };
}
